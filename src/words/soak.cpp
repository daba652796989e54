#include "words/soak.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "core/lists.hpp"
#include "core/units.hpp"
#include "measure/statistics.hpp"
#include "soak/tally.hpp"
#include "words/machine.hpp"
#include "words/soak_terms.hpp"
#include "words/trust.hpp"

namespace xferbench {

namespace {

/// Returns for example "1.234 TB". Units are decimal, like those of rates.
std::string amount(std::uint64_t bytes) {
  constexpr std::array<std::pair<double, const char*>, 5> kUnits{
      {{1e15, "PB"}, {1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "KB"}}};
  const auto value = static_cast<double>(bytes);
  for (const auto& [unit, name] : kUnits) {
    if (value >= unit) return fmt::format("{} {}", format_significant(value / unit), name);
  }
  return fmt::format("{} B", bytes);
}

std::string rate(double bytes_per_second) { return format_significant(bytes_per_second / kGiga) + " GB/s"; }

std::string end_in_words(const SoakInterval& last) {
  const std::string time = clock_text(last.elapsed);
  switch (last.end) {
    case SoakEnd::complete: return fmt::format("complete after {}", time);
    case SoakEnd::interrupted: return fmt::format("interrupted after {}: the results cover this time", time);
    case SoakEnd::lost: return fmt::format("the GPU failed after {}: {}", time, last.reason);
    case SoakEnd::stuck: return fmt::format("ended some time after {}: {}", time, last.reason);
    case SoakEnd::goes_on: break;
  }
  return fmt::format("after {}, still running", time);
}

/// Returns the baseline period in words, for example "first 11 s" or "first 5 min". Files of older versions do not
/// record it: it is then derived from the settings and `rates`.
std::string beginning_of(const SoakHeader& header, const SoakTotals& totals, std::span<const RateSample> rates) {
  SoakSettings settings = header.settings;
  if (totals.seconds > 0) settings.seconds = totals.seconds;
  double seconds = most_of(totals.loads, [](const SoakLoadTotals& t) { return t.baseline_until.value_or(0); });
  if (seconds <= 0) {
    seconds = soak::Tally::first_minutes(settings);
    const auto is_over = [seconds](const RateSample& then) { return then.elapsed >= seconds; };
    if (const auto end = std::ranges::find_if(rates, is_over); end != rates.end()) seconds = end->elapsed;
  }
  constexpr double kFewSeconds = 10;
  constexpr double kInMinutes = 120;  // seconds from which on the period is given in minutes
  if (seconds >= kInMinutes) return fmt::format("first {:g} min", std::round(seconds / 6) / 10);
  return fmt::format("first {:g} s", seconds < kFewSeconds ? std::round(seconds * 10) / 10 : std::round(seconds));
}

/// Returns a table of the totals of each load. `beginning`: the baseline period in words.
Table totals_table(const SoakTotals& totals, const std::string& beginning) {
  Table table{.header = {"GPU", "load", "moved", "verified", "mean GB/s", beginning + " GB/s", "lowest GB/s"},
              .left_columns = 2,
              .gap = 2};
  const auto in_gigabytes = [](const std::optional<double>& value) {
    return value ? format_significant(*value / kGiga) : "-";
  };
  for (const SoakLoadTotals& t : totals.loads) {
    const auto mean = t.busy > 0 ? std::optional(static_cast<double>(t.moved) / t.busy) : std::nullopt;
    table.rows.push_back({{std::to_string(t.gpu), std::string(to_text(t.load)), amount(t.moved), amount(t.verified),
                           in_gigabytes(mean), in_gigabytes(t.baseline), in_gigabytes(t.lowest)}});
  }
  return table;
}

std::string wrong_text(const SoakWrong& w) {
  return fmt::format(
      "{} {}: GPU {}, {}: {} ({}) wrong in the memory of {} at {:#x}, buffer offset {}{}; pattern {}, expected {}, "
      "found {}",
      clock_text(w.elapsed), w.at, w.gpu, to_text(w.load), counted(w.bytes, "byte"), counted(w.bits, "bit"),
      w.memory == "host" ? "the host" : w.memory, w.address, w.offset, w.bytes > 4 ? fmt::format(" to {}", w.last) : "",
      w.pattern, w.expected, w.found);
}

/// Adds the number of wrong bytes, and the first wrong buffers one by one.
void add_wrong(const SoakTotals& totals, List& list) {
  if (totals.wrong_buffers == 0) {
    list.items.push_back({.text = "no wrong bytes"});
    return;
  }
  Item& item = list.items.emplace_back(
      Item{.text = counted(totals.wrong_bytes, "wrong byte") + " in " + counted(totals.wrong_buffers, "buffer")});
  for (const SoakWrong& w : totals.wrong) item.below.push_back({.text = wrong_text(w), .margin = 4});
  if (totals.wrong.size() < totals.wrong_buffers) {
    item.below.push_back(
        {.text = fmt::format("and in {} more", totals.wrong_buffers - totals.wrong.size()), .margin = 4});
  }
}

/// Returns when a rate dropped, as "0:01:07 to 0:01:10", or as "0:01:07, for 0.2 s" if both times have the same text.
std::string time_text(const SoakDrop& d) {
  const std::string from = clock_text(d.from);
  const std::string to = clock_text(d.to);
  return from == to ? fmt::format("{}, for {:.2g} s", from, d.to - d.from) : fmt::format("{} to {}", from, to);
}

std::string drop_text(const SoakDrop& d) {
  return fmt::format("{} ({}): GPU {}, {}: down to {}; {}", time_text(d), d.at, d.gpu, to_text(d.load), rate(d.lowest),
                     d.beside.empty() ? "no other monitored value changed"
                                      : fmt::format("at the same time: {}", fmt::join(d.beside, "; ")));
}

/// Returns the total seconds of the drops: their sum if all are listed, else `drop_seconds`, which in files of older
/// versions counts only the time in which the load ran.
double seconds_of_drops(const SoakTotals& totals) {
  if (totals.drops.size() < totals.drop_count) return totals.drop_seconds;
  return total_of(totals.drops, [](const SoakDrop& d) { return d.to - d.from; });
}

void add_drops(const SoakHeader& header, const SoakTotals& totals, const std::string& beginning, List& list) {
  const std::string floor = format_percent_short(header.settings.floor, 6);
  const auto is_judged = [](const SoakLoadTotals& t) { return t.lowest.has_value(); };
  if (std::ranges::none_of(totals.loads, is_judged)) {
    list.items.push_back(
        {.text = fmt::format("rate drops not checked: no load ran after the baseline period, the {}", beginning)});
    return;
  }
  const char* some = std::ranges::all_of(totals.loads, is_judged) ? "" : ", among loads that ran longer";
  if (totals.drop_count == 0) {
    list.items.push_back(
        {.text = fmt::format("no rate fell below {} of its baseline, the {}{}", floor, beginning, some)});
    return;
  }
  Item& item = list.items.emplace_back(
      Item{.text = fmt::format("{} a rate fell below {} of its baseline, the {}; {:.1f} s in total",
                               counted(totals.drop_count, "time"), floor, beginning, seconds_of_drops(totals))});
  for (const SoakDrop& d : totals.drops) item.below.push_back({.text = drop_text(d), .margin = 4});
  if (totals.drops.size() < totals.drop_count) {
    item.below.push_back({.text = fmt::format("and {} more", totals.drop_count - totals.drops.size()), .margin = 4});
  }
}

std::string counters_text(const SoakCounters& c) {
  std::vector<std::string> moved;
  const auto add = [&moved](const std::optional<std::uint64_t>& count, const char* what) {
    if (count.value_or(0) > 0) moved.push_back(fmt::format("{} {}", *count, what));
  };
  add(c.pcie_replays, "PCIe packets resent");
  add(c.ecc_corrected, "corrected ECC errors");
  add(c.ecc_uncorrected, "uncorrected ECC errors");
  if (c.xid_count > 0) moved.push_back(fmt::format("Xid {}", fmt::join(c.xids, ", ")));
  const bool known = c.pcie_replays || c.ecc_corrected || c.ecc_uncorrected;
  const std::string none = known ? "no errors counted" : "no error counters: the driver reports none";
  return fmt::format("GPU {}: {}{}{}", c.gpu, moved.empty() ? none : fmt::format("{}", fmt::join(moved, ", ")),
                     c.hottest ? fmt::format("; maximum {:.0f} degrees C", *c.hottest) : "",
                     c.throttle.empty() ? "" : fmt::format("; clocks throttled: {}", fmt::join(c.throttle, ", ")));
}

/// Returns for example "1 wrong byte, 3 drops of a rate"; empty if there were no errors.
std::string trouble_in_words(const SoakTotals& totals) {
  std::vector<std::string> all;
  if (totals.wrong_bytes > 0) all.push_back(counted(totals.wrong_bytes, "wrong byte"));
  if (totals.drop_count > 0) all.push_back(counted(totals.drop_count, "drop") + " of a rate");
  if (!totals.lost.empty()) all.push_back(counted(totals.lost.size(), "failure") + " of a GPU");
  return fmt::format("{}", fmt::join(all, ", "));
}

/// Returns the ticks of a time axis, at round times.
std::vector<std::pair<double, std::string>> ticks_until(double seconds) {
  constexpr std::array kSteps{1.,   2.,    5.,    10.,   30.,    60.,    120.,   300.,
                              600., 1800., 3600., 7200., 21600., 43200., 86400., 172800.};
  constexpr double kMost = 8;
  const auto* const fits = std::ranges::find_if(kSteps, [&](double step) { return seconds / step <= kMost; });
  const double step = fits == kSteps.end() ? std::ceil(seconds / kMost / 86400) * 86400 : *fits;
  std::vector<std::pair<double, std::string>> ticks;
  for (double at = 0; at <= seconds; at += step) ticks.emplace_back(at, clock_text(at));
  return ticks;
}

/// Merges neighbouring samples to at most kMost points, with the median of their medians and the range of all.
std::vector<Chart::Point> thinned(const std::vector<const RateSample*>& rates) {
  constexpr std::size_t kMost = 400;
  const std::size_t together = (rates.size() + kMost - 1) / kMost;
  std::vector<Chart::Point> points;
  for (std::size_t begin = 0; begin < rates.size(); begin += together) {
    const auto some = std::span(rates).subspan(begin, std::min(together, rates.size() - begin));
    std::vector<double> medians;
    Chart::Point& point = points.emplace_back();
    point = {.x = some.back()->elapsed, .low = HUGE_VAL, .high = 0};
    for (const RateSample* then : some) {
      medians.push_back(then->rate.median / kGiga);
      point.low = std::min(*point.low, then->rate.lowest / kGiga);
      point.high = std::max(*point.high, then->rate.highest / kGiga);
    }
    point.y = statistics::median(medians);
    point.more = clock_text(point.x);
  }
  return points;
}

/// Returns a chart of one load with a line for each GPU, and marks where rates dropped.
Chart chart_of(SoakLoad load, std::span<const RateSample> rates, const SoakTotals& totals) {
  Chart chart{.title = std::string(to_text(load)),
              .x = {.label = "time since start", .ticks = ticks_until(totals.elapsed), .ends = {0, totals.elapsed}},
              .y = {.label = "GB/s", .from_zero = true},
              .shape = Chart::Shape::low};
  std::map<int, std::vector<const RateSample*>> gpus;
  for (const RateSample& then : rates) {
    if (then.rate.load == load) gpus[then.gpu].push_back(&then);
  }
  for (const auto& [gpu, own] : gpus) chart.series.push_back({fmt::format("GPU {}", gpu), thinned(own)});
  std::vector<SoakDrop> drops = totals.drops;  // sorted, so that the deepest drop gets its label first
  std::ranges::stable_sort(drops, {}, &SoakDrop::lowest);
  for (const SoakDrop& drop : drops) {
    if (drop.load != load) continue;
    const std::string whose = gpus.size() > 1 ? fmt::format("GPU {} ", drop.gpu) : "";
    chart.marks.push_back({drop.from, drop.to, fmt::format("{}down to {}", whose, rate(drop.lowest)), Tone::bad});
  }
  return chart;
}

void add_charts(std::span<const RateSample> rates, const SoakTotals& totals, Document& document) {
  constexpr std::size_t kFewest = 3;  // minimum intervals for a chart; a table is enough for fewer
  if (set_of(rates, &RateSample::elapsed).size() < kFewest) return;
  document.add(
      Sentence{.text = "rates over time: median of each interval, with the range from the slowest to the fastest pass",
               .tone = Tone::dim},
      true, Shown::pages);
  const std::set<SoakLoad> loads = set_of(rates, [](const RateSample& then) { return then.rate.load; });
  for (const SoakLoad load : loads) document.add(chart_of(load, rates, totals));
}

}  // namespace

void keep_rates(std::vector<RateSample>& rates, const SoakInterval& interval) {
  for (const SoakGpu& gpu : interval.gpus) {
    for (const SoakRate& rate : gpu.rates) rates.push_back({interval.elapsed, gpu.gpu, rate});
  }
}

Document document_of(const SoakHeader& header, const SoakInterval& last, std::span<const RateSample> rates) {
  const SoakTotals& totals = last.so_far;
  const bool well = soak::is_healthy(totals);
  Document document("xferbench soak", trust_of(header.environment, true, true));
  const std::string trouble = trouble_in_words(totals);
  document.trust.complete = last.end != SoakEnd::goes_on;
  document.trust.incomplete = "INCOMPLETE: the soak is still running, or its file was truncated";
  document.add(Sentence{.text = fmt::format("{}: {}{}{}", well ? "PASS" : "FAIL", trouble, trouble.empty() ? "" : "; ",
                                            end_in_words(last)),
                        .tone = well ? Tone::good : Tone::bad,
                        .strong = true},
               true);
  document.add(Sentence{.text = machine_line(header.environment) + ", begun " + header.started_at, .tone = Tone::dim});
  const std::string beginning = beginning_of(header, totals, rates);
  document.add(totals_table(totals, beginning));
  add_charts(rates, totals, document);
  List list;
  add_wrong(totals, list);
  add_drops(header, totals, beginning, list);
  for (const SoakCounters& c : totals.counters) list.items.push_back({.text = counters_text(c)});
  for (const std::string& lost : totals.lost) list.items.push_back({.text = "a GPU failed at " + lost});
  if (!totals.resumed_at.empty()) {
    list.items.push_back({.text = fmt::format("resumed {}", fmt::join(totals.resumed_at, ", "))});
  }
  document.add(std::move(list));
  return document;
}

}  // namespace xferbench
