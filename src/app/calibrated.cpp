#include "app/calibrated.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
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

/// By its first lines, which are no more than a look: whatever it turns out to be, reading it says what is wrong.
bool looks_like_results(const std::string& path) {
  std::array<char, 256> head{};
  std::ifstream(path).read(head.data(), head.size() - 1);
  return std::string_view(head.data()).find("\"xferbench/1\"") != std::string_view::npos;
}

}  // namespace

BaseNumber numbers_of(std::string base) {
  return [base = std::move(base)](std::string_view field) { return number_of_profile(base, field); };
}

std::optional<ProfileText> profile_of_results(const std::string& simulate) {
  if (!is_profile_file(simulate) || !looks_like_results(simulate)) return std::nullopt;
  const std::array runs{NamedReport{printable(simulate), read_report(simulate)}};
  // A profile of a simulated run is no more than what simulated it: that is what its tables will say.
  const Calibration made = calibrate(runs, numbers_of(kUsualBase), true);
  if (!made.missing.empty()) {
    throw InputError(fmt::format("{}: these results do not tell {}; xferbench --suite calibrate measures all of it",
                                 printable(simulate), fmt::join(made.missing, "; nor ")));
  }
  const std::string name = std::filesystem::path(simulate).stem().string();
  return ProfileText{to_profile_json(made, name, kUsualBase), printable(simulate)};
}

}  // namespace xferbench::app
