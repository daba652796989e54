#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/units.hpp"
#include "report/soak/soak_report.hpp"
#include "report/soak/words.hpp"
#include "soak/tally.hpp"

namespace xferbench {

namespace {

/// "1.234 TB": decimal, as rates are.
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
    case SoakEnd::interrupted: return fmt::format("interrupted after {}: what is said holds so far", time);
    case SoakEnd::lost: return fmt::format("the GPU failed after {}: {}", time, last.reason);
    case SoakEnd::stuck: return fmt::format("ended some time after {}: {}", time, last.reason);
    case SoakEnd::goes_on: break;
  }
  return fmt::format("after {}, and it goes on", time);
}

std::string totals_table(const SoakTotals& totals) {
  std::string text = fmt::format("  {:>3}  {:<7} {:>11} {:>11} {:>9} {:>9} {:>9}  {}\n", "GPU", "load", "moved",
                                 "verified", "mean", "first", "lowest", "GB/s; first: of the first minutes");
  for (const SoakLoadTotals& t : totals.loads) {
    const auto in_gigabytes = [](const std::optional<double>& value) {
      return value ? format_significant(*value / kGiga) : "-";
    };
    const auto mean = t.busy > 0 ? std::optional(static_cast<double>(t.moved) / t.busy) : std::nullopt;
    text += fmt::format("  {:>3}  {:<7} {:>11} {:>11} {:>9} {:>9} {:>9}\n", t.gpu, to_text(t.load), amount(t.moved),
                        amount(t.verified), in_gigabytes(mean), in_gigabytes(t.baseline), in_gigabytes(t.lowest));
  }
  return text;
}

std::string wrong_in_words(const SoakTotals& totals) {
  if (totals.wrong_buffers == 0) return "  no wrong byte\n";
  std::string text =
      fmt::format("  {} wrong byte{} in {} buffer{}\n", totals.wrong_bytes, totals.wrong_bytes == 1 ? "" : "s",
                  totals.wrong_buffers, totals.wrong_buffers == 1 ? "" : "s");
  for (const SoakWrong& w : totals.wrong) {
    text += fmt::format(
        "    {} {}: GPU {}, {}: {} byte{} ({} bit{}) wrong in the memory of {} at {:#x}, {} bytes into its buffer{}; "
        "pattern {}, expected {}, found {}\n",
        clock_text(w.elapsed), w.at, w.gpu, to_text(w.load), w.bytes, w.bytes == 1 ? "" : "s", w.bits,
        w.bits == 1 ? "" : "s", w.memory == "host" ? "the host" : w.memory, w.address, w.offset,
        w.bytes > 4 ? fmt::format(" and up to {}", w.last) : "", w.pattern, w.expected, w.found);
  }
  if (totals.wrong.size() < totals.wrong_buffers) {
    text += fmt::format("    and in {} more\n", totals.wrong_buffers - totals.wrong.size());
  }
  return text;
}

std::string drops_in_words(const SoakHeader& header, const SoakTotals& totals) {
  const std::string floor = format_percent_short(header.settings.floor, 6);
  const auto is_judged = [](const SoakLoadTotals& t) { return t.lowest.has_value(); };
  if (std::ranges::none_of(totals.loads, is_judged)) {
    return "  drops were not looked for: nothing ran after the first minutes, which rates are held against\n";
  }
  const char* some = std::ranges::all_of(totals.loads, is_judged) ? "" : ", of those that ran after these";
  if (totals.drop_count == 0) return fmt::format("  no rate fell below {} of its first minutes{}\n", floor, some);
  std::string text = fmt::format("  {} time{} a rate fell below {} of its first minutes, for {:.1f} s in all\n",
                                 totals.drop_count, totals.drop_count == 1 ? "" : "s", floor, totals.drop_seconds);
  for (const SoakDrop& d : totals.drops) {
    text += fmt::format("    {} to {} ({}): GPU {}, {}: down to {}; {}\n", clock_text(d.from), clock_text(d.to), d.at,
                        d.gpu, to_text(d.load), rate(d.lowest),
                        d.beside.empty() ? "nothing else that is watched changed then"
                                         : fmt::format("then, too: {}", fmt::join(d.beside, "; ")));
  }
  if (totals.drops.size() < totals.drop_count) {
    text += fmt::format("    and {} more\n", totals.drop_count - totals.drops.size());
  }
  return text;
}

std::string counters_in_words(const SoakTotals& totals) {
  std::string text;
  for (const SoakCounters& c : totals.counters) {
    std::vector<std::string> moved;
    const auto add = [&moved](const std::optional<std::uint64_t>& count, const char* what) {
      if (count.value_or(0) > 0) moved.push_back(fmt::format("{} {}", *count, what));
    };
    add(c.pcie_replays, "packets sent again over the link");
    add(c.ecc_corrected, "memory errors corrected");
    add(c.ecc_uncorrected, "memory errors not corrected");
    if (c.xid_count > 0) moved.push_back(fmt::format("Xid {}", fmt::join(c.xids, ", ")));
    const bool known = c.pcie_replays || c.ecc_corrected || c.ecc_uncorrected;
    const std::string none = known ? "no counter moved" : "no counters, as the driver tells none";
    text += fmt::format("  GPU {}: {}{}{}\n", c.gpu, moved.empty() ? none : fmt::format("{}", fmt::join(moved, ", ")),
                        c.hottest ? fmt::format("; at most {:.0f} degrees C", *c.hottest) : "",
                        c.throttle.empty() ? "" : fmt::format("; held down by {}", fmt::join(c.throttle, ", ")));
  }
  return text;
}

}  // namespace

std::string soak_verdict(const SoakHeader& header, const SoakInterval& last, const Style& style) {
  const SoakTotals& totals = last.so_far;
  const bool well = soak::is_well(totals);
  std::string text = "\n" + (well ? style.painted(Tone::good, "all is well") : style.bad("not all is well"));
  text += fmt::format(": {}{}\n", end_in_words(last), header.environment.simulated() ? "; SIMULATED" : "");
  text += totals_table(totals) + wrong_in_words(totals) + drops_in_words(header, totals) + counters_in_words(totals);
  for (const std::string& lost : totals.lost) text += fmt::format("  a GPU failed at {}\n", lost);
  if (!totals.resumed_at.empty()) text += fmt::format("  resumed {}\n", fmt::join(totals.resumed_at, ", "));
  return text;
}

}  // namespace xferbench
