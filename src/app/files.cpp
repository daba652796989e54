#include "app/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <future>
#include <iterator>
#include <system_error>

#include "app/session.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "core/standard_error.hpp"
#include "report/formats/formats.hpp"
#include "results/json.hpp"
#include "results/soak_file.hpp"

namespace xferbench::app {

namespace fs = std::filesystem;

namespace {

fs::path source(const std::string& input) { return input == "-" ? "/dev/stdin" : input; }

/// Returns whether both paths lead to the same file, following links; false if a file is missing.
bool is_same(const fs::path& a, const fs::path& b) {
  std::error_code unknown;
  return fs::equivalent(a, b, unknown) && !unknown;
}

}  // namespace

void refuse_to_overwrite(std::span<const std::string> inputs, std::span<const cli::NamedFile> outputs) {
  std::error_code unknown;
  for (const auto& [flag, path] : outputs) {
    // Standard output, pipes and terminals hold no data that could be overwritten.
    if (path == "-" || !fs::is_regular_file(path, unknown)) continue;
    for (const std::string& input : inputs) {
      if (!is_same(source(input), path)) continue;
      throw UsageError(fmt::format("--{} {}: this would overwrite {}, which is an input; write to another file", flag,
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
      throw UsageError(
          fmt::format("{} is given twice on one side{}, but each file must be a different process; name each file once",
                      files[i], files[i] == files[j] ? "" : fmt::format(" (as {}, too)", files[j])));
    }
  }
}

std::vector<NamedReport> read_reports(const std::vector<std::string>& files) {
  std::vector<NamedReport> reports(files.size());
  const auto read = [&](std::size_t i) {
    reports[i].name = files[i] == "-" ? "standard input" : printable(files[i]);
    reports[i].report = read_report(files[i]);
  };
  for (std::size_t i = 0; i < files.size(); i += 2) {
    std::future<void> other;
    if (i + 1 < files.size()) other = std::async(read, i + 1);  // if no thread can be started, read() runs within get()
    read(i);
    if (other.valid()) other.get();
  }
  return reports;
}

Sides read_sides(const std::vector<std::string>& base, const std::vector<std::string>& new_side) {
  refuse_same_twice(base);
  refuse_same_twice(new_side);
  std::vector<std::string> files = base;
  files.insert(files.end(), new_side.begin(), new_side.end());
  std::vector<NamedReport> all = read_reports(files);
  const auto behind_base = all.begin() + static_cast<std::ptrdiff_t>(base.size());
  std::vector<NamedReport> of_next(std::make_move_iterator(behind_base), std::make_move_iterator(all.end()));
  all.erase(behind_base, all.end());
  return {by_process(std::move(all)), by_process(std::move(of_next))};
}

std::vector<RateSample> rates_in(const std::string& file) {
  std::vector<RateSample> rates;
  for_each_interval(file, [&rates](const SoakInterval& interval) { keep_rates(rates, interval); });
  return rates;
}

void warn(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) tell("warning: " + warning);
}

std::vector<std::string> left_out_of(const std::map<ReportFormat, std::string>& formats, const Report& report) {
  std::vector<std::string> warnings;
  for (const auto& [format, path] : formats) {
    const std::size_t left_out = to_format(format, report, descriptors()).left_out;
    if (left_out == 0) continue;
    warnings.push_back(
        fmt::format("--{}: {} of {} cases have no number in it: they failed, were skipped or not verified, or the "
                    "format has no place for them",
                    cli::flag_of_format(format), left_out, report.results.size()));
  }
  return warnings;
}

JudgementFiles::JudgementFiles(const cli::OutputFiles& files, std::span<const std::string> inputs)
    : formats_(files.formats) {
  refuse_to_overwrite(inputs, files.named());
  std::vector<cli::NamedFile> targets;
  for (const auto& [flag, path] : files.named()) {
    outputs_.push_back({flag, ResultsFile(path)});
    targets.push_back({flag, outputs_.back().file.target()});
  }
  cli::refuse_shared_files(targets);  // checks again with resolved paths, because "-" and /dev/stdout are the same file
}

bool JudgementFiles::shows_table() const {
  return std::ranges::none_of(outputs_, [](const Output& output) { return output.file.is_standard_output(); });
}

void JudgementFiles::write(const Texts& texts) {
  std::exception_ptr lost;
  const auto finish = [&](std::string_view flag, const TextWriter& write) {
    const auto output = std::ranges::find(outputs_, flag, &Output::flag);
    if (output == outputs_.end()) return;
    try {
      output->file.finish(write);
    } catch (const OutputError&) {  // ignored here: the other files and the table must still be written
      if (!lost) lost = std::current_exception();
    }
  };
  const auto at_once = [](const Text& text) { return [&text](const Sink& sink) { sink(text()); }; };
  finish("json", at_once(texts.json));
  finish("markdown", [&](const Sink& sink) { sink(to_markdown(texts.document(), texts.limits)); });
  finish("html", [&](const Sink& sink) { sink(to_html(texts.document())); });
  finish("junit", at_once(texts.junit));
  finish("openmetrics", at_once(texts.openmetrics));
  finish("timeline", texts.timeline);
  finish("csv", texts.csv);
  for (const auto& [format, path] : formats_) {
    finish(cli::flag_of_format(format),
           [&, format = format](const Sink& sink) { sink(to_format(format, *texts.report, descriptors()).text); });
  }
  if (shows_table()) write_standard_output(to_terminal((texts.shown ? texts.shown : texts.document)(), texts.style));
  if (lost) std::rethrow_exception(lost);
}

}  // namespace xferbench::app
