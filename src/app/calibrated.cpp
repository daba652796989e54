#include "app/calibrated.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "report/calibrate/calibrate_report.hpp"
#include "results/json.hpp"

namespace xferbench::app {

namespace {

namespace fs = std::filesystem;

/// By its first lines, which are no more than a look: whatever it turns out to be, reading it says what is wrong.
bool looks_like_results(const std::string& path) {
  std::array<char, 256> head{};
  std::ifstream(path).read(head.data(), head.size() - 1);
  return std::string_view(head.data()).find("\"xferbench/1\"") != std::string_view::npos;
}

/// After its file; h200.json cannot be h200, which is another profile.
std::string name_after(const std::string& path) {
  const std::string name = fs::path(path).stem().string();
  return is_built_in_profile(name) ? name + "-results" : name;
}

ProfileText made_of(Report report, const std::string& path) {
  const std::array runs{NamedReport{printable(path), std::move(report)}};
  // A profile of a simulated run is no more than what simulated it: that is what its tables will say.
  Calibration made = calibration_of(runs, kUsualBase, true);
  if (!made.missing.empty()) {
    throw InputError(fmt::format("{}: these results do not tell {}; xferbench --suite calibrate measures all of it",
                                 printable(path), fmt::join(made.missing, "; nor ")));
  }
  if (const std::vector<std::string> dropped = drop_impossible(made); !dropped.empty()) {
    throw InputError(
        fmt::format("{}: {}; xferbench calibrate makes a profile without what cannot be", printable(path), dropped[0]));
  }
  return {to_profile_json(made, name_after(path), kUsualBase), printable(path)};
}

}  // namespace

Calibration calibration_of(std::span<const NamedReport> runs, const std::string& base, bool simulated_too) {
  return calibrate(runs, [&base](std::string_view field) { return number_of_profile(base, field); }, simulated_too);
}

std::vector<std::string> drop_impossible(Calibration& made) {
  std::vector<std::string> dropped;
  std::erase_if(made.figures, [&](const Figure& f) {
    const std::string problem = problem_of_number(f.field, f.value);
    if (!problem.empty()) dropped.push_back(fmt::format("{} comes out as {}, by {}", f.field, problem, f.source));
    return !problem.empty();
  });
  constexpr double kMost = 1e18;  // what a profile file may have as the end of an interval
  const auto fits = [](double end) { return std::isfinite(end) && std::abs(end) <= kMost; };
  for (Figure& f : made.figures) {
    if (f.interval && !(fits(f.interval->low) && fits(f.interval->high))) f.interval.reset();
  }
  return dropped;
}

std::optional<ProfileText> profile_of_results(const std::string& simulate) {
  if (!is_profile_file(simulate) || !looks_like_results(simulate)) return std::nullopt;
  return made_of(read_report(simulate), simulate);
}

}  // namespace xferbench::app
