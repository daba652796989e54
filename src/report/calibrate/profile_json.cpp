#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "core/printable.hpp"
#include "report/calibrate/calibrate_report.hpp"

namespace xferbench {

namespace {

using Json = nlohmann::ordered_json;

std::string word(std::string_view text) { return shortened(printable(text), kLongestProfileWord); }

/// Returns the number as JSON. Whole numbers have no decimal point: a profile has 132 multiprocessors, not 132.0.
Json number(double value) {
  constexpr double kExact = 1e15;
  if (value == std::floor(value) && std::abs(value) < kExact) return static_cast<std::int64_t>(value);
  return value;
}

}  // namespace

std::string to_profile_json(const Calibration& calibration, std::string_view name, std::string_view base) {
  Json set = Json::object();
  Json sources = Json::object();
  for (const Figure& figure : calibration.figures) {
    set[figure.field] = number(figure.value);
    Json& source = sources[figure.field];
    if (figure.interval) {
      source["low"] = figure.interval->low;
      source["high"] = figure.interval->high;
    }
    source["source"] = shortened(printable(figure.source), kLongestSource);
  }
  const std::string on = calibration.simulated ? "calibrated on a simulated " : "calibrated on ";
  Json profile{{"schema", "xferbench-profile/1"},
               {"base", base},
               {"name", word(name)},
               {"description", word(on + calibration.gpu)}};
  if (!calibration.gpu.empty()) profile["gpu"] = word(calibration.gpu);
  profile["set"] = set;
  profile["sources"] = sources;
  return profile.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace xferbench
