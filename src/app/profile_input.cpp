#include "app/profile_input.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include "app/stored_cases.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "core/units.hpp"
#include "report/calibrate/calibrate_report.hpp"
#include "results/file_io.hpp"
#include "results/json.hpp"

namespace xferbench::app {

namespace {

namespace fs = std::filesystem;

/// Number of bytes at the start of a file from which the program guesses whether it contains results. A wrong guess is
/// harmless, because reading the whole file then reports what is wrong.
constexpr std::size_t kBytesToLookAt = 256;
bool looks_like_results(std::string_view text) {
  return text.substr(0, kBytesToLookAt).find("\"xferbench/1\"") != std::string_view::npos;
}

/// Reads the start of a file until at least `most` bytes are read, or the whole file if it is shorter.
std::string beginning_of(const std::string& path, std::size_t most) {
  file_io::refuse_named_pipe(path);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(fmt::format("cannot read {}: {}", printable(path), std::strerror(errno)));
  std::string text;
  std::array<char, 65536> piece{};
  while (text.size() < most && file.read(piece.data(), piece.size()).gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
  }
  return text;
}

/// Reads a whole file. Throws if it is too large, so that endless files such as /dev/zero are refused.
std::string text_of(const std::string& path) {
  constexpr std::size_t kMost = 256 * MiB;
  std::string text = beginning_of(path, kMost);
  if (text.size() < kMost) return text;
  throw InputError(fmt::format("{} has more than {}, too much for a profile or results; name another file",
                               printable(path), format_memory(kMost)));
}

/// Returns whether the path is a pipe, a terminal or a socket, whose data can be read only once.
bool is_read_once(const std::string& path) {
  std::error_code unknown;
  const fs::file_status status = fs::status(path, unknown);
  return fs::is_fifo(status) || fs::is_character_file(status) || fs::is_socket(status);
}

bool is_results_file(const std::string& path) {
  std::error_code unknown;
  return fs::is_regular_file(path, unknown) && looks_like_results(beginning_of(path, kBytesToLookAt));
}

/// Returns the name for a profile that is made from this file: its file name without the extension. h200.json gives
/// h200-results, because h200 is a built-in profile.
std::string name_after(const std::string& path) {
  const std::string name = fs::path(path).stem().string();
  return is_built_in_profile(name) ? name + "-results" : name;
}

ProfileText made_of(Report report, const std::string& path) {
  const std::array runs{NamedReport{printable(path), std::move(report)}};
  // Accept simulated results, too: a run with the new profile is marked as simulated in any case.
  Calibration made = calibration_of(runs, kDefaultBaseProfile, true);
  if (!made.missing.empty()) {
    throw InputError(fmt::format("{}: these results lack {}; xferbench --suite calibrate measures everything",
                                 printable(path), fmt::join(made.missing, "; ")));
  }
  if (const std::vector<std::string> dropped = drop_invalid_figures(made); !dropped.empty()) {
    throw InputError(
        fmt::format("{}: {}; xferbench calibrate makes a profile without such numbers", printable(path), dropped[0]));
  }
  return {to_profile_json(made, name_after(path), kDefaultBaseProfile), printable(path)};
}

}  // namespace

Calibration calibration_of(std::span<const NamedReport> runs, const std::string& base, bool simulated_too) {
  const auto has_measured = [](const NamedReport& run) {
    return std::ranges::find(run.report.results, Status::ok, &Result::status) != run.report.results.end();
  };
  if (std::ranges::none_of(runs, has_measured)) {
    throw InputError("none of these cases was measured; xferbench --suite calibrate measures what a profile needs");
  }
  for (const NamedReport& run : runs) require_legal_params(run.report, run.name);
  return calibrate(
      runs, [&base](std::string_view field) { return number_of_profile(base, field); }, simulated_too);
}

std::vector<std::string> drop_invalid_figures(Calibration& made) {
  std::vector<std::string> dropped;
  std::erase_if(made.figures, [&](const Figure& f) {
    const std::string problem = problem_of_number(f.field, f.value);
    if (!problem.empty()) dropped.push_back(fmt::format("{} is calculated as {}, from {}", f.field, problem, f.source));
    return !problem.empty();
  });
  constexpr double kMost = 1e18;  // largest value that a profile file may have as the end of an interval
  const auto fits = [](double end) { return std::isfinite(end) && std::abs(end) <= kMost; };
  for (Figure& f : made.figures) {
    if (f.interval && !(fits(f.interval->low) && fits(f.interval->high))) f.interval.reset();
  }
  return dropped;
}

std::optional<ProfileText> load_profile(const std::string& simulate) {
  if (!is_profile_file(simulate)) return std::nullopt;
  if (is_read_once(simulate)) {
    std::string text = text_of(simulate);
    if (looks_like_results(text)) return made_of(parse_report(text, printable(simulate)), simulate);
    return ProfileText{std::move(text), printable(simulate)};
  }
  if (!is_results_file(simulate)) return std::nullopt;
  return made_of(read_report(simulate), simulate);
}

ProfileText profile_text(const std::string& simulate) {
  if (auto text = load_profile(simulate)) return *std::move(text);
  return {text_of(simulate), printable(simulate)};
}

ModelledRank modelled_rank_of(const std::string& simulate) {
  return is_profile_file(simulate) && is_results_file(simulate) ? ModelledRank() : modelled_rank(simulate);
}

}  // namespace xferbench::app
