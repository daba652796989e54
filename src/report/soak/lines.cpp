// The live table of a soak. Its columns have fixed widths, because later lines are not known yet.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/lists.hpp"
#include "core/units.hpp"
#include "report/soak/soak_report.hpp"
#include "words/soak_terms.hpp"
#include "words/trust.hpp"

namespace xferbench {

namespace {

constexpr double kMega = 1e6;

std::string rounded(const std::optional<double>& value) { return value ? fmt::format("{:.0f}", *value) : "-"; }

std::string whole(const std::optional<std::uint64_t>& value) { return value ? fmt::format("{}", *value) : "-"; }

std::string in_megahertz(const std::optional<double>& hertz) {
  return hertz ? fmt::format("{:.0f}", *hertz / kMega) : "-";
}

std::string link_of(const Health& health) {
  if (!health.link_generation || !health.link_width) return "-";
  return fmt::format("{} x{}", *health.link_generation, *health.link_width);
}

std::string rate_of(const SoakGpu& gpu, SoakLoad load) {
  const auto found = std::ranges::find(gpu.rates, load, &SoakRate::load);
  return found == gpu.rates.end() ? "-" : format_significant(found->median / kGiga);
}

/// Returns the largest spread among the GPU's loads. Spread: highest minus lowest rate, divided by the median rate.
std::string spread_of(const SoakGpu& gpu) {
  const auto spread = [](const SoakRate& r) { return r.median > 0 ? (r.highest - r.lowest) / r.median : 0; };
  return gpu.rates.empty() ? "-" : format_percent(most_of(gpu.rates, spread));
}

/// Returns the throttle reasons except the harmless ones: "idle", and "application-clocks", which a user has set.
std::string reasons_of(const Health& health) {
  if (!health.throttle) return "-";
  std::vector<std::string> reasons = *health.throttle;
  std::erase_if(reasons, [](const std::string& r) { return r == "idle" || r == "application-clocks"; });
  return reasons.empty() ? "none" : fmt::format("{}", fmt::join(reasons, ","));
}

const SoakCounters& counters_of(const SoakTotals& totals, int gpu) {
  static const SoakCounters none;
  const auto found = std::ranges::find(totals.counters, gpu, &SoakCounters::gpu);
  return found == totals.counters.end() ? none : *found;
}

std::string ecc_of(const SoakCounters& c) {
  if (!c.ecc_corrected && !c.ecc_uncorrected) return "-";
  return fmt::format("{}/{}", c.ecc_corrected.value_or(0), c.ecc_uncorrected.value_or(0));
}

constexpr const char* kEnd = "{:>8} {:>4} {:>5} {:>11} {:>6} {:>7} {:>7} {:>6} {:>9}  {}\n";

std::string line_of(const SoakHeader& header, const SoakInterval& interval, const SoakGpu& gpu, const Style& style) {
  std::string line = fmt::format("{:>9} {:>3}", clock_text(interval.elapsed), gpu.gpu);
  for (const SoakLoad load : header.settings.loads) line += fmt::format(" {:>7}", rate_of(gpu, load));
  const SoakCounters& counters = counters_of(interval.so_far, gpu.gpu);
  const std::uint64_t wrong = wrong_bytes_of(interval.so_far, gpu.gpu);
  line += fmt::format(fmt::runtime(kEnd), spread_of(gpu), rounded(gpu.health.temperature), rounded(gpu.health.power),
                      in_megahertz(gpu.clocks.sm) + "/" + in_megahertz(gpu.clocks.memory), link_of(gpu.health),
                      whole(counters.pcie_replays), ecc_of(counters),
                      counters.xids.empty() ? "none" : fmt::format("{}", fmt::join(counters.xids, ",")), wrong,
                      reasons_of(gpu.health));
  return wrong > 0 ? style.bad(line.substr(0, line.size() - 1)) + "\n" : line;
}

}  // namespace

std::string soak_plan(const SoakSettings& settings) {
  const std::vector<std::string_view> loads = list_of(settings.loads, [](SoakLoad load) { return to_text(load); });
  return fmt::format(
      "for {}, one line every {}, copies of {}: {}", duration_text(settings.seconds), duration_text(settings.interval),
      format_size_readable(settings.size),
      loads.empty() ? "all loads that this machine supports" : fmt::format("{}", fmt::join(loads, ", ")));
}

std::string soak_heading(const SoakHeader& header, const Style& style) {
  const SoakSettings& s = header.settings;
  std::string text;
  for (const std::string& alarm : trust_of(header.environment, true, true).alarms()) text += style.notice(alarm) + "\n";
  text += fmt::format("{}, for {}, one line every {}, copies of {}, rates in GB/s\n\n", header.environment.gpu.name,
                      duration_text(s.seconds), duration_text(s.interval), format_size_readable(s.size));
  std::string heads = fmt::format("{:>9} {:>3}", "time", "GPU");
  for (const SoakLoad load : s.loads) heads += fmt::format(" {:>7}", to_text(load));
  heads += fmt::format(fmt::runtime(kEnd), "spread", "C", "W", "SM/mem MHz", "link", "replays", "ECC c/u", "Xid",
                       "wrong", "throttled");
  return text + style.bold(heads.substr(0, heads.size() - 1)) + "\n";
}

std::string soak_lines(const SoakHeader& header, const SoakInterval& interval, const Style& style) {
  std::string text;
  for (const SoakGpu& gpu : interval.gpus) {
    text += line_of(header, interval, gpu, style);
    for (const std::string& change : gpu.changes) text += fmt::format("{:>13} {}\n", "", style.notice(change));
  }
  return text;
}

}  // namespace xferbench
