#include "scenarios/calibration/figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/lists.hpp"
#include "measure/statistics.hpp"

namespace xferbench {

std::string Found::source(std::string_view what) const {
  return fmt::format("{}: {} {}", run->name, result->config.key(), what);
}

std::vector<Found> cases_of(std::span<const NamedReport> runs, std::string_view scenario,
                            const std::function<bool(const Case&)>& wanted) {
  std::vector<Found> found;
  for (const NamedReport& run : runs) {
    for (const Result& r : run.report.results) {
      const bool measured = r.status == Status::ok && r.config.scenario() == scenario && r.gpus.size() < 2;
      if (measured && wanted(r.config)) found.push_back({&run, &r});
    }
  }
  return found;
}

std::string files_of(std::span<const Found> found) {
  std::vector<std::string_view> names;
  for (const Found& f : found) add_new(names, f.run->name);
  return fmt::format("{}", fmt::join(names, ", "));
}

double bytes_of(const Result& r) { return static_cast<double>(r.config.count("size")); }

double rate_of(const Result& r, double seconds) { return bytes_of(r) / seconds; }

std::optional<Interval> changed(const std::optional<Interval>& interval, const std::function<double(double)>& by) {
  if (!interval) return std::nullopt;
  const double a = by(interval->low);
  const double b = by(interval->high);
  return Interval{std::min(a, b), std::max(a, b)};
}

FigureReader by_median(std::string measurement, std::function<double(const Result&, double)> figure) {
  return [measurement = std::move(measurement),
          figure = std::move(figure)](const Result& r) -> std::optional<FigureValue> {
    const Measurement* m = r.measurement(measurement);
    if (m == nullptr || m->samples.empty()) return std::nullopt;
    const auto by = [&](double seconds) { return figure(r, seconds); };
    return FigureValue{by(m->median), measurement, changed(m->ci95, by)};
  };
}

void Figures::add(std::string field, double value, std::optional<Interval> interval, std::string source) {
  if (has(field) || !std::isfinite(value)) return;
  if (interval) interval = Interval{std::min(interval->low, value), std::max(interval->high, value)};
  into_.figures.push_back({std::move(field), value, interval, std::move(source)});
}

void Figures::add(std::span<const Found> from, std::string field, const FigureReader& tell) {
  std::vector<Found> used;
  std::vector<FigureValue> all;
  for (const Found& f : from) {
    auto reading = tell(*f.result);
    if (!reading) continue;
    used.push_back(f);
    all.push_back(*std::move(reading));
  }
  if (all.empty()) return;
  std::vector<double> values;
  Interval interval{all.front().value, all.front().value};
  for (const FigureValue& reading : all) {
    const Interval own = reading.interval.value_or(Interval{reading.value, reading.value});
    values.push_back(reading.value);
    interval = {std::min(interval.low, own.low), std::max(interval.high, own.high)};
  }
  std::string what = all.front().what;
  if (used.size() > 1) what += fmt::format(", median of {} in {}", used.size(), files_of(used));
  add(std::move(field), statistics::median(values),
      interval.low < interval.high ? std::optional(interval) : std::nullopt, used.front().source(what));
}

double Figures::known(std::string_view field) const {
  const Figure* figure = find(field);
  return figure == nullptr ? base_(field) : figure->value;
}

const Figure* Figures::find(std::string_view field) const { return found_in(into_.figures, field, &Figure::field); }

}  // namespace xferbench
