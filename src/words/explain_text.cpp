#include "words/explain_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/lists.hpp"
#include "core/units.hpp"
#include "explain/explain.hpp"
#include "explain/timeline.hpp"
#include "words/timelines.hpp"

namespace xferbench::explain_text {

namespace {

using explain::Explanation;
using explain::Finding;
using explain::FindingKind;
using explain::ProcessExplanation;
using explain::Traffic;
using recording::CopyKind;
using recording::Memory;

/// Returns a number with three significant digits, without an exponent.
std::string three_digits(double value) {
  if (!(value > 0)) return "0";
  constexpr double kRoundsUp = 1.0005;  // 9.996 is rounded to 10.0, which has one decimal less
  const int decimals =
      std::clamp(2 - static_cast<int>(std::floor(std::log10(std::min(value * kRoundsUp, 1e18)))), 0, 6);
  return fmt::format("{:.{}f}", value, decimals);
}

struct InUnit {
  std::string number;
  std::string_view unit;
};

InUnit in_unit(double seconds) {
  if (seconds < 0.9995e-6) return {three_digits(seconds * 1e9), "ns"};
  if (seconds < 0.9995e-3) return {three_digits(seconds * 1e6), "us"};
  if (seconds < 0.9995) return {three_digits(seconds * 1e3), "ms"};
  return {three_digits(seconds), "s"};
}

std::string ratio_text(double before, double after) {
  const double ratio = after > 0 ? before / after : 1;
  return fmt::format("{:.{}f}", ratio, ratio < 1.195 ? 2 : 1);
}

std::string range_text(double before, double least, double most) {
  return fmt::format("{} to {} times as fast", ratio_text(before, most), ratio_text(before, least));
}

}  // namespace

std::string time_text(double seconds) {
  const InUnit time = in_unit(seconds);
  return fmt::format("{} {}", time.number, time.unit);
}

std::string change_text(double before, double after) {
  const InUnit from = in_unit(before);
  const InUnit to = in_unit(after);
  const std::string unit = from.unit == to.unit ? "" : fmt::format(" {}", from.unit);
  return fmt::format("{}{} -> {} {}", from.number, unit, to.number, to.unit);
}

std::string change_text(double before, double least, double most) {
  const InUnit from = in_unit(least);
  const InUnit to = in_unit(most);
  const std::string unit = from.unit == to.unit ? "" : fmt::format(" {}", from.unit);
  return fmt::format("{} -> {}{} to {} {}", time_text(before), from.number, unit, to.number, to.unit);
}

std::string share_text(double share) { return format_percent(share, share > 0 && share < 0.0095 ? 1 : 0); }

std::string speedup_text(double before, double after, bool at_most) {
  return fmt::format("{} {} times as fast", at_most ? "at most" : "about", ratio_text(before, after));
}

std::string speedup_text(double before, const Finding& finding) {
  if (!finding.seconds_after_least) return speedup_text(before, *finding.seconds_after, finding.at_most);
  const std::string reason =
      finding.work_around > 0
          ? fmt::format("the more of the {} of own work around these copies goes with them, the faster",
                        time_text(finding.work_around))
          : "the CPU copies faster in some processes than in others";
  return fmt::format("{} ({})", range_text(before, *finding.seconds_after_least, *finding.seconds_after), reason);
}

// --- Shares ---------------------------------------------------------------------------------------------------------

std::vector<int> tenths_of_percent(const std::vector<double>& parts) {
  const double whole = std::accumulate(parts.begin(), parts.end(), 0.);
  std::vector<int> tenths(parts.size(), 0);
  if (!(whole > 0)) return tenths;
  std::vector<std::size_t> by_rest(parts.size());
  std::iota(by_rest.begin(), by_rest.end(), 0);
  const auto exact = [&](std::size_t i) { return std::max(0., parts[i] / whole * 1000); };
  int left = 1000;
  for (const std::size_t i : by_rest) left -= tenths[i] = static_cast<int>(exact(i));
  // Rounding down loses some tenths. Distribute them: the parts that rounding reduced most get them first.
  std::ranges::stable_sort(by_rest, std::ranges::greater(), [&](std::size_t i) { return exact(i) - tenths[i]; });
  for (const std::size_t i : by_rest) {
    if (left-- > 0) ++tenths[i];
  }
  return tenths;
}

namespace {

/// A share of the wall time that is not zero.
struct Share {
  const ShareKind& kind;
  double seconds = 0;
  int tenths = 0;       ///< share of the time without profiler overhead, in tenths of a percent
  bool on_top = false;  ///< whether this is the profiler overhead, which the other shares do not include
  [[nodiscard]] std::string text() const { return fmt::format("{}{:.1f} %", on_top ? "+" : "", tenths / 10.); }
};

std::vector<Share> shares_of(const explain::Shares& shares) {
  auto seconds = list_of(kShareKinds, [&](const ShareKind& kind) { return shares.*kind.seconds; });
  const double profiling = std::exchange(seconds.back(), 0);
  const double whole = std::accumulate(seconds.begin(), seconds.end(), 0.);
  std::vector<int> tenths = tenths_of_percent(seconds);
  if (whole > 0) tenths.back() = static_cast<int>(std::lround(profiling / whole * 1000));
  seconds.back() = profiling;
  std::vector<Share> all;
  for (std::size_t i = 0; i < kShareKinds.size(); ++i) {
    if (tenths[i] != 0) all.push_back({kShareKinds[i], seconds[i], tenths[i], i + 1 == kShareKinds.size()});
  }
  return all;
}

// --- The answer -----------------------------------------------------------------------------------------------------

std::string copies_of(const Finding& finding) {
  const std::string copies = counted(finding.count, "copy", "copies");
  if (finding.bytes == 0 || finding.count == 0) return copies;
  if (finding.each_size > 0) return fmt::format("{} of {}", copies, format_size(finding.each_size));
  return fmt::format("{} ({} in total)", copies, format_size(finding.bytes));
}

/// Returns how to fix the finding, as the beginning of a sentence.
std::string fix_sentence(const Finding& finding) {
  switch (finding.kind) {
    case FindingKind::pageable: return "pinning the host memory of " + copies_of(finding);
    case FindingKind::small_copies: return "merging " + copies_of(finding);
    case FindingKind::slow_copies: return "speeding up " + copies_of(finding) + " to this machine's rate";
    case FindingKind::no_overlap: return "overlapping copies with kernels";
    case FindingKind::needless_wait: return "removing " + counted(finding.count, "wait", "waits");
    case FindingKind::result_wait: return fmt::format("not waiting {} times for a result", finding.count);
    case FindingKind::blocking_copy: return fmt::format("making {} asynchronous", copies_of(finding));
    case FindingKind::launch_bound: return "launching kernels as CUDA graphs";
    case FindingKind::setup: return "creating resources in advance";
    case FindingKind::default_stream: return "avoiding the legacy default stream";
    case FindingKind::managed: return finding.way.empty() ? "prefetching managed memory" : finding.way;
    case FindingKind::fresh_memory: return "reusing the host memory of " + copies_of(finding);
    case FindingKind::mapped_copy: return "reading the mapped file of " + copies_of(finding) + " into pinned memory";
    case FindingKind::read_in_turn: return "reading ahead for " + copies_of(finding);
    case FindingKind::read_twice: return "not reading " + format_size(finding.bytes) + " again";
    case FindingKind::host_copy: return "making the data of " + copies_of(finding) + " in pinned memory";
    case FindingKind::slow_workers: return "preparing the data of " + copies_of(finding) + " faster";
  }
  return {};
}

/// Returns `seconds` as a share of the process's time without profiler overhead.
double share_of(const ProcessExplanation& process, double seconds) {
  const double whole = process.shares.total() - process.shares.profiling;
  return whole > 0 ? seconds / whole : 0;
}

/// Returns what takes most of the time, for a process in which nothing can be fixed.
std::string mostly(const ProcessExplanation& process) {
  explain::Shares unprofiled = process.shares;
  unprofiled.profiling = 0;
  const auto most =
      std::ranges::max_element(kShareKinds, {}, [&](const ShareKind& kind) { return unprofiled.*kind.seconds; });
  return fmt::format("most of the time is {} ({})", most->what,
                     share_text(share_of(process, unprofiled.*most->seconds)));
}

}  // namespace

Table table_of_shares(const explain::Shares& shares, std::size_t bars) {
  Table table{.header = {"where the time went", "share", "time"}, .left_columns = 1};
  if (bars > 0) {
    table.header.emplace_back("");
    table.last_left = true;
    table.least_important = {3};
  }
  for (const Share& share : shares_of(shares)) {
    Table::Row& row = table.rows.emplace_back();
    row.cells = {std::string(share.kind.what), share.text(), time_text(share.seconds)};
    const auto length = static_cast<std::size_t>(std::lround(share.tenths * static_cast<double>(bars) / 1000));
    if (bars > 0) row.cells.emplace_back(std::string(std::min(length, bars), '#'));
  }
  return table;
}

Bars bars_of_shares(const explain::Shares& shares) {
  Bars bars{.title = "Where the time went"};
  double begin = 0;
  for (const Share& share : shares_of(shares)) {
    bars.bars.push_back({std::string(share.kind.what), begin, begin + share.seconds,
                         fmt::format("{}, {}", share.text(), time_text(share.seconds)), share.kind.colour});
    begin += share.seconds;
  }
  return bars;
}

std::string answer(const ProcessExplanation& process) {
  const bool has_gains = process.gains_unavailable.empty();
  const double reference = process.window_summary.reference();
  const double shared = process.shares.total() - process.shares.profiling;
  std::string text = fmt::format("Transfers take {} of {}", share_text(share_of(process, process.shares.copies)),
                                 time_text(has_gains ? reference : shared));
  if (std::ranges::find(process.findings, FindingKind::managed, &Finding::kind) != process.findings.end()) {
    text += ", and kernels or the host wait for pages of managed memory";
  }
  if (!has_gains) return text + "; possible gains are unknown";
  if (process.findings.empty()) {
    return text + fmt::format("; no fix found that gains more than {}", share_text(process.least_share));
  }
  const Finding& first = process.findings.front();
  text += "; " + fix_sentence(first);
  return text + (first.seconds_after ? ": " + speedup_text(reference, first) : " may help");
}

std::string answer(const Explanation& explanation) {
  if (explanation.processes.empty() && !explanation.no_trace.empty()) {
    return "Nothing was recorded: there is nothing to explain.";
  }
  if (explanation.processes.empty()) return "The program used no GPU: there is nothing to explain.";
  return answer(explanation.processes.front()) + ".";
}

std::string advice(const Explanation& explanation) {
  if (!explanation.no_trace.empty()) return explanation.no_trace + ".";
  return "If it should use one, check that nvidia-smi shows a GPU, that CUDA_VISIBLE_DEVICES does not hide it, and "
         "that the program (such as PyTorch) was built with CUDA. Work in a server that already runs is not recorded: "
         "explain that server instead.";
}

// --- Heading, limits and runs ----------------------------------------------------------------------------------------

std::string head(const ProcessExplanation& process) {
  std::string text = process.command.empty() ? "" : process.command + ", ";
  text += fmt::format("process {}", process.pid);
  if (!process.gpus.empty()) text += fmt::format(", on {}", fmt::join(process.gpus, ", "));
  const explain::WindowSummary& window_summary = process.window_summary;
  if (window_summary.range.empty()) return text;
  return text + fmt::format("; range {}{}", window_summary.range,
                            window_summary.times == 1 ? "" : fmt::format(", {} times", window_summary.times));
}

std::string limits_text(const Explanation& explanation) {
  if (explanation.limits_of.empty()) {
    return "This machine's limits are unknown: reachable rates, and gains that need them, are left out";
  }
  std::string text = "limits of " + explanation.limits_of;
  const explain::LimitTimes& times = explanation.limit_times;
  std::vector<std::string> parts;
  const auto add = [&parts](std::string_view what, std::optional<double> seconds) {
    if (seconds) parts.push_back(fmt::format("{} {}", what, time_text(*seconds)));
  };
  add("kernel launch call", times.launch_call);
  add("launch to kernel start", times.kernel_start);
  add("hand-over between engines", times.handover);
  add("wake-up after a wait", times.wake);
  if (times.pin_per_byte) add("pinning 1 GiB", *times.pin_per_byte * GiB);
  if (times.touch_per_byte) add("touching 1 GiB", *times.touch_per_byte * GiB);
  return parts.empty() ? text : fmt::format("{}: {}", text, fmt::join(parts, ", "));
}

std::string runs_text(const Explanation& explanation) {
  const auto listed = [](const std::vector<double>& runs) {
    return fmt::format("{}", fmt::join(list_of(runs, time_text), ", "));
  };
  if (explanation.baseline_runs.empty()) return {};
  std::string text = "whole program, baseline: " + listed(explanation.baseline_runs);
  if (!explanation.profiled_runs.empty()) text += "; profiled: " + listed(explanation.profiled_runs);
  return text;
}

std::vector<std::string> profiling(const ProcessExplanation& process) {
  const explain::WindowSummary& window_summary = process.window_summary;
  std::vector<std::string> sentences;
  if (const auto ratio = window_summary.profiling()) {
    sentences.push_back(fmt::format("baseline {}, profiled {}: {:.3f} times as long",
                                    time_text(*window_summary.baseline), time_text(window_summary.seconds), *ratio));
  } else {
    sentences.push_back(fmt::format("profiled {}; profiler overhead unknown, as there is no baseline time",
                                    time_text(window_summary.seconds)));
  }
  if (window_summary.replayed && window_summary.seconds > 0) {
    sentences.push_back(fmt::format("replay without changes {}: {}", time_text(*window_summary.replayed),
                                    format_change(*window_summary.replayed / window_summary.seconds - 1)));
  }
  return sentences;
}

// --- Traffic --------------------------------------------------------------------------------------------------------

namespace {

std::string_view direction_text(CopyKind kind) {
  switch (kind) {
    case CopyKind::h2d: return "to the GPU";
    case CopyKind::d2h: return "from the GPU";
    case CopyKind::d2d: return "inside the GPU";
    case CopyKind::p2p: return "between GPUs";
    case CopyKind::h2h: return "on the host";
    case CopyKind::other: break;
  }
  return "other";
}

std::string memory_text(Memory memory) {
  return memory == Memory::device || memory == Memory::unknown ? "" : std::string(to_text(memory));
}

std::string sizes_text(const Traffic& t) {
  if (t.smallest == t.largest) return format_size(t.smallest);
  return fmt::format("{} to {}", format_size(t.smallest), format_size(t.largest));
}

std::string rate_text(std::uint64_t bytes, std::optional<double> seconds) {
  if (!seconds || !(*seconds > 0)) return "-";
  return three_digits(gigabytes_per_second(bytes, *seconds));
}

/// Returns for example "to GPU, pinned": short, because it labels points of a chart.
std::string way_text(CopyKind kind, Memory host) {
  std::string text(direction_text(kind));
  if (const std::size_t at = text.find("the GPU"); at != std::string::npos) text.erase(at, 4);
  const std::string memory = memory_text(host);
  return memory.empty() ? text : text + ", " + memory;
}

}  // namespace

Table table_of_traffic(const ProcessExplanation& process, std::size_t most) {
  Table table{
      .header = {"copies", "memory", "count", "size", "total", "each", "GB/s", "reachable", "pinned", "% of time"},
      .left_columns = 2,
      .gap = 2,
      .least_important = {5, 4, 8, 3, 7}};
  const auto pageable = [](const Traffic& t) { return t.host == Memory::pageable && t.pinned; };
  const bool has_pinned = std::ranges::any_of(process.traffic, pageable);
  for (const Traffic& t : process.traffic) {
    if (table.rows.size() == most) break;
    const double share = process.window_summary.seconds > 0 ? t.busy / process.window_summary.seconds : 0;
    Table::Row& row = table.rows.emplace_back();
    row.cells = {std::string(direction_text(t.kind)),
                 memory_text(t.host),
                 fmt::format("{}", t.count),
                 sizes_text(t),
                 format_size(t.bytes),
                 time_text(t.count > 0 ? t.seconds / static_cast<double>(t.count) : 0),
                 rate_text(t.bytes, t.seconds),
                 rate_text(t.bytes, t.reachable),
                 pageable(t) ? rate_text(t.bytes, t.pinned) : "",
                 format_percent(share)};
  }
  if (has_pinned) return table;
  constexpr std::size_t kPinned = 8;
  table.erase_column(kPinned);
  return table;
}

Chart chart_of_copies(const Explanation& explanation, const ProcessExplanation& process) {
  Chart chart{.title = "Copies: rate over size",
              .x = {.label = "copy size", .log = true, .sizes = true},
              .y = {.label = "GB/s", .log = true}};
  for (const explain::LimitCurve& curve : explanation.limits) {
    if (std::ranges::find(process.cloud, curve.kind, &explain::CopyPoint::kind) == process.cloud.end()) continue;
    const std::string way = way_text(curve.kind, curve.host);
    Chart::Series series{.name = "limit " + way, .role = Chart::Series::Role::limit, .like = way};
    for (const explain::LimitPoint& point : curve.points) {
      if (!(point.seconds > 0)) continue;
      series.points.push_back({static_cast<double>(point.bytes), gigabytes_per_second(point.bytes, point.seconds)});
    }
    // A limit with a single point would be drawn as the limit for all sizes.
    if (series.points.size() > 1) chart.series.push_back(std::move(series));
  }
  std::map<std::string, Chart::Series> ways;
  for (const explain::CopyPoint& copy : process.cloud) {
    if (!(copy.seconds > 0)) continue;
    Chart::Series& series = ways[way_text(copy.kind, copy.host)];
    series.kind = colour_of(to_text(explain::track_of(copy.kind)));
    series.points.push_back({.x = static_cast<double>(copy.bytes),
                             .y = gigabytes_per_second(copy.bytes, copy.seconds),
                             .more = counted(copy.count, "copy", "copies") + " of " + time_text(copy.seconds)});
  }
  for (auto& [way, series] : ways) {
    series.name = way;
    series.role = Chart::Series::Role::points;
    chart.series.push_back(std::move(series));
  }
  return chart;
}

// --- Findings -------------------------------------------------------------------------------------------------------

std::string gain_text(const ProcessExplanation& process, std::size_t at) {
  const Finding& finding = process.findings[at];
  if (!finding.seconds_after) return {};
  const double reference = process.window_summary.reference();
  std::string text = finding.seconds_after_least
                         ? change_text(reference, *finding.seconds_after_least, *finding.seconds_after)
                         : change_text(reference, *finding.seconds_after);
  const double at_best = finding.seconds_after_least.value_or(*finding.seconds_after);
  if (reference - at_best >= process.least_share * reference || at == 0 || !finding.seconds_after_all) {
    return text + ", " + speedup_text(reference, finding);
  }
  const double before = process.findings[at - 1].seconds_after_all.value_or(reference);
  return text + fmt::format(" alone, but {} after the fixes above: {}", change_text(before, *finding.seconds_after_all),
                            speedup_text(before, *finding.seconds_after_all, finding.at_most));
}

std::string alternatives_text(const ProcessExplanation& process, const Finding& finding) {
  std::vector<std::string> parts;
  for (const explain::Alternative& other : finding.alternatives) {
    const double reference = process.window_summary.reference();
    parts.push_back(other.text + ": " + speedup_text(reference, other.seconds_after, finding.at_most));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

Bars bars_of_gains(const ProcessExplanation& process) {
  constexpr std::size_t kLeast = 3;       // minimum bars; fewer numbers need no chart
  constexpr std::size_t kGainColour = 6;  // index of a colour that no kind of copy or kernel has
  Bars bars{.title = "Gains by fixes"};
  const double reference = process.window_summary.reference();
  double before = reference;
  for (std::size_t i = 0; i < process.findings.size(); ++i) {
    const Finding& finding = process.findings[i];
    const double after_all = finding.seconds_after_all.value_or(before);
    const bool has_ends = finding.seconds_after_least.has_value();
    const double alone = reference - finding.seconds_after.value_or(reference);
    const bool alone_counts = has_ends || alone >= process.least_share * reference;
    const double gain = std::max(alone_counts ? alone : before - after_all, 0.);
    before = after_all;
    bars.bars.push_back({fmt::format("{}. {}", i + 1, to_text(finding.kind)), 0, gain,
                         fmt::format("{}{}, {} of the time{}",
                                     has_ends          ? "at least "
                                     : finding.at_most ? "at most "
                                                       : "",
                                     time_text(gain), share_text(reference > 0 ? gain / reference : 0),
                                     alone_counts ? "" : ", after the fixes above"),
                         kGainColour});
  }
  if (bars.bars.size() < kLeast) bars.bars.clear();
  return bars;
}

std::string place_text(const explain::Place& place) {
  std::string text = place.call;
  const auto add = [&text](std::string_view before, const std::string& name) {
    if (!name.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : " ", before, name);
  };
  add("in range", place.range);
  if (place.kernel_before == place.kernel_after) {
    add("between runs of kernel", place.kernel_before);
    return text;
  }
  add("after kernel", place.kernel_before);
  add(place.kernel_before.empty() ? "before kernel" : "and before", place.kernel_after);
  return text;
}

std::string stack_text(const explain::Place& place, std::size_t most) {
  const std::size_t shown = std::min(most, place.stack.size());
  std::string text = fmt::format(
      "{}", fmt::join(place.stack.begin(), place.stack.begin() + static_cast<std::ptrdiff_t>(shown), " < "));
  if (shown < place.stack.size()) text += fmt::format(" < {} more", place.stack.size() - shown);
  return text;
}

std::string plan_text(const ProcessExplanation& process) {
  constexpr double kWorthAStep = 0.001;
  const double reference = process.window_summary.reference();
  double before = reference;
  std::vector<std::string> steps;
  for (std::size_t i = 0; i < process.findings.size(); ++i) {
    const Finding& finding = process.findings[i];
    const double after = finding.seconds_after_all.value_or(before);
    if (after > (1 - kWorthAStep) * before) continue;
    const bool is_one_of_kind = std::ranges::count(process.findings, finding.kind, &Finding::kind) == 1;
    const std::string number = is_one_of_kind ? "" : fmt::format(" ({}.)", i + 1);
    steps.push_back(fmt::format("{}{} {}", to_text(finding.kind), number, time_text(after)));
    before = after;
  }
  if (steps.size() < 2) return {};
  const bool has_ends = std::ranges::any_of(
      process.findings, [](const Finding& finding) { return finding.seconds_after_least.has_value(); });
  const bool at_best = !has_ends && std::ranges::any_of(process.findings, &Finding::at_most);
  return fmt::format("One after the other{}: now {}; {}", at_best ? ", at best" : "", time_text(reference),
                     fmt::join(steps, ", "));
}

std::string chosen_fixes_text(const ProcessExplanation& process) {
  const auto found =
      those_of(process.fixed, [&](const std::string& kind) { return !has_item(process.fixes_missing, kind); });
  std::string text;
  if (process.seconds_fixed) {
    const double reference = process.window_summary.reference();
    const double most = *process.seconds_fixed;
    const auto& least = process.seconds_fixed_least;
    text =
        fmt::format("With {} fixed: {}, {}", fmt::join(found, ", "),
                    least ? change_text(reference, *least, most) : change_text(reference, most),
                    least ? range_text(reference, *least, most) : speedup_text(reference, most, process.fixed_at_most));
  }
  if (process.fixes_missing.empty()) return text;
  return text + fmt::format("{}no finding of kind {}", text.empty() ? "Chosen fixes: " : "; there is ",
                            fmt::join(process.fixes_missing, ", "));
}

std::string minor_findings_text(const ProcessExplanation& process) {
  if (!process.gains_unavailable.empty()) return "Gains unknown: " + process.gains_unavailable;
  std::string text;
  if (process.findings.empty()) {
    text = fmt::format("No fix found that gains more than {}: {}", share_text(process.least_share), mostly(process));
  }
  if (process.small_findings == 0) return text;
  const bool all_tells_more = process.least_share == explain::Options().least_share;
  const bool is_noise = !all_tells_more && process.least_share != explain::kLeastOfAll;
  return text + fmt::format("{}{} that {} less than {} {} left out{}", text.empty() ? "" : "; ",
                            counted(process.small_findings, "finding", "findings"),
                            process.small_findings == 1 ? "gains" : "gain", share_text(process.least_share),
                            process.small_findings == 1 ? "is" : "are",
                            is_noise         ? ", as baseline runs differ by more than that"
                            : all_tells_more ? " (--all)"
                                             : "");
}

}  // namespace xferbench::explain_text
