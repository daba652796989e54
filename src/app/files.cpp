#include "app/files.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <vector>

#include "core/error.hpp"

namespace xferbench::app {

namespace fs = std::filesystem;

namespace {

/// Where a name of what is read leads to.
fs::path source(const std::string& input) { return input == "-" ? "/dev/stdin" : input; }

/// Links and detours are followed. What is not there is no file at all.
bool is_same(const fs::path& a, const fs::path& b) {
  std::error_code unknown;
  return fs::equivalent(a, b, unknown) && !unknown;
}

}  // namespace

void refuse_to_overwrite(std::span<const std::string> inputs, std::span<const cli::NamedFile> outputs) {
  std::error_code unknown;
  for (const auto& [flag, path] : outputs) {
    // Pipes and terminals hold nothing that could be lost.
    if (path == "-" || !fs::is_regular_file(path, unknown)) continue;
    for (const std::string& input : inputs) {
      if (!is_same(source(input), path)) continue;
      throw UsageError(fmt::format("--{} {}: this would write over {}, which is read; write to another file", flag,
                                   path,
                                   input == "-"    ? "standard input's file"
                                   : path == input ? "a file"
                                                   : input));
    }
  }
}

void refuse_same_twice(std::span<const std::string> files) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!is_same(source(files[i]), source(files[j]))) continue;
      throw UsageError(fmt::format(
          "{} is there twice on one side{}, and each file must be a process of its own; name each file once", files[i],
          files[i] == files[j] ? "" : fmt::format(" (as {}, too)", files[j])));
    }
  }
}

JudgementFiles::JudgementFiles(const cli::OutputFiles& files, std::span<const std::string> inputs) {
  refuse_to_overwrite(inputs, files.named());
  if (files.json) json_.emplace(*files.json);
  if (files.markdown) markdown_.emplace(*files.markdown);
  if (files.timeline) timeline_.emplace(*files.timeline);
  std::vector<cli::NamedFile> targets;
  if (json_) targets.push_back({"json", json_->target()});
  if (markdown_) targets.push_back({"markdown", markdown_->target()});
  if (timeline_) targets.push_back({"timeline", timeline_->target()});
  cli::refuse_shared_files(targets);  // once more: as "-" and /dev/stdout are the same
}

bool JudgementFiles::shows_table() const {
  const auto is_free = [](const auto& file) { return !file || !file->is_standard_output(); };
  return is_free(json_) && is_free(markdown_) && is_free(timeline_);
}

void JudgementFiles::write(const Text& json, const Text& markdown, const Text& table, const TextWriter& timeline) {
  if (json_) json_->finish(json());
  if (markdown_) markdown_->finish(markdown());
  if (timeline_) timeline_->finish(timeline);
  if (shows_table()) write_standard_output(table());
}

}  // namespace xferbench::app
