// Calibration figures from data in many pieces (scenario scatter).
#include "kernels/pieces.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "measure/statistics.hpp"
#include "scenarios/calibration/figures.hpp"

namespace xferbench {

namespace {

std::uint64_t size_of_piece(const Result& r) { return r.config.count("piece"); }
double bytes_of_pieces(const Result& r) {
  const Case& c = r.config;
  return c.has("size") ? bytes_of(r) : static_cast<double>(c.count_or("pieces", 0) * c.count("piece"));
}
double pieces_of(const Result& r) { return bytes_of_pieces(r) / static_cast<double>(size_of_piece(r)); }

/// Returns the results in which `way` moved equal, unmerged pieces of pinned memory, `least` to kMost of them.
std::vector<Found> moved_by(std::span<const NamedReport> runs, std::string_view way, std::string_view direction,
                            double least) {
  constexpr double kMost = 4e6;
  std::vector<Found> found = cases_of(runs, "scatter", [&](const Case& c) {
    return c.is("way", way) && c.is("dir", direction) && c.is("host", "pinned") && !c.is("merge", "yes") &&
           c.count_or("piece", 0) > 0 && !c.has("piece-to");
  });
  std::erase_if(found, [&](const Found& f) {
    const auto lacks = [&](std::string_view name) { return !(f.result->median(name) > 0); };
    const double pieces = pieces_of(*f.result);
    return !(pieces >= least && pieces <= kMost) || lacks("scatter") || lacks("submit") || lacks("whole-copy") ||
           lacks("on-gpu");
  });
  return found;
}

/// Returns a reader that applies `figure` to the median of measurement `name` and to the ends of its interval.
FigureReader reading(std::string_view name, std::function<double(const Result&, double)> figure) {
  return [name, figure = std::move(figure)](const Result& r) -> std::optional<FigureValue> {
    const Measurement& m = *r.measurement(name);
    const auto by = [&](double seconds) { return figure(r, seconds); };
    return FigureValue{by(m.median), std::string(name), changed(m.ci95, by)};
  };
}

// --- Calls and batches ----------------------------------------------------------------------------------------------

constexpr double kMany = 256;  // with at least this many pieces, the fixed costs of a pass are negligible

/// Adds the costs of a call and of a copy, from passes of single copies. Costs known from other scenarios are kept.
void add_calls_of_pieces(std::span<const NamedReport> runs, Figures& figures) {
  constexpr double kQueue = 1024;  // with more pieces, calls wait for room in the stream's queue
  std::vector<Found> unhindered;
  for (const std::string direction : {"h2d", "d2h"}) {
    std::vector<Found> calls = moved_by(runs, "calls", direction, kMany);
    std::ranges::copy_if(calls, std::back_inserter(unhindered),
                         [](const Found& f) { return pieces_of(*f.result) <= kQueue; });
    // If the last call returns at the end of the pass, the calls were the bottleneck, not the copy engine.
    std::erase_if(calls,
                  [](const Found& f) { return f.result->median("submit") > 0.97 * f.result->median("scatter"); });
    const double rate = figures.known(direction + "_rate");
    figures.add(calls, direction + "_overhead", reading("scatter", [=](const Result& r, double seconds) {
                  return std::max(0.0, (seconds - bytes_of_pieces(r) / rate) / pieces_of(r));
                }));
  }
  figures.add(unhindered, "copy_call",
              reading("submit", [](const Result& r, double seconds) { return seconds / pieces_of(r); }));
}

/// Whether the driver copied the pieces itself during the call. The call then takes more than twice as long per piece
/// as for pieces that it enqueues to a copy engine.
bool is_inlined(const Result& r, const Figures& figures) {
  const double each = (r.median("submit") - r.median("whole-copy")) / pieces_of(r);
  return each > 2 * figures.known("batch_copy_call");
}

/// Adds the largest piece size that the driver copies itself, unless the base profile's value fits the measurements.
void add_inline_bytes(std::span<const Found> inlined, std::span<const Found> others, Figures& figures) {
  constexpr auto kSize = [](const Found& f) { return size_of_piece(*f.result); };
  if (inlined.empty() || others.empty()) return;
  const Found& largest = std::ranges::max(inlined, {}, kSize);
  const auto known = static_cast<std::uint64_t>(figures.known("batch_inline_bytes"));
  if (known >= kSize(largest) && known < kSize(std::ranges::min(others, {}, kSize))) return;
  figures.add("batch_inline_bytes", static_cast<double>(kSize(largest)), std::nullopt, largest.source("submit"));
}

/// Adds the costs per piece and per byte of pieces that the driver copies itself, from the smallest and largest pieces.
void add_inlined(const std::vector<Found>& inlined, Figures& figures) {
  if (inlined.empty()) return;
  constexpr auto kSize = [](const Found& f) { return size_of_piece(*f.result); };
  const auto of_size = [&](std::uint64_t size) {
    std::vector<Found> those = inlined;
    std::erase_if(those, [&](const Found& f) { return kSize(f) != size; });
    return those;
  };
  const std::uint64_t least = kSize(std::ranges::min(inlined, {}, kSize));
  const std::uint64_t most = kSize(std::ranges::max(inlined, {}, kSize));
  const double call = figures.known("batch_copy_call");
  const auto each = [=](const Result& r, double seconds) { return seconds / pieces_of(r) - call; };
  std::vector<double> shortest;
  for (const Found& f : of_size(least)) shortest.push_back(each(*f.result, f.result->median("submit")));
  const double base = least < most ? statistics::median(shortest) : figures.known("batch_inline_call");
  const auto bytes = static_cast<double>(least < most ? most - least : most);
  figures.add(of_size(most), "batch_inline_rate",
              reading("submit", [=](const Result& r, double seconds) { return bytes / (each(r, seconds) - base); }));
  if (least == most) return;
  const double rate = figures.known("batch_inline_rate");
  figures.add(of_size(least), "batch_inline_call", reading("submit", [=](const Result& r, double seconds) {
                return std::max(0.0, each(r, seconds) - static_cast<double>(size_of_piece(r)) / rate);
              }));
}

/// Adds the costs of copies that the driver enqueues, from batches whose copies begin only after the call has returned.
void add_enqueued(std::vector<Found> batches, Figures& figures) {
  std::erase_if(batches, [](const Found& f) {
    const Result& r = *f.result;
    return pieces_of(r) < 1000 || r.median("scatter") - r.median("submit") < 0.9 * r.median("whole-copy");
  });
  const double call = figures.known("copy_call");
  figures.add(batches, "batch_copy_call", reading("submit", [=](const Result& r, double seconds) {
                return std::max(0.0, (seconds - call) / pieces_of(r));
              }));
  figures.add(batches, "batch_copy", reading("on-gpu", [&](const Result& r, double seconds) {
                const std::string direction = r.config.word("dir");
                const double others = figures.known("gate_to_copy") + figures.known(direction + "_overhead") +
                                      bytes_of_pieces(r) / figures.known(direction + "_rate");
                return std::max(0.0, (seconds - figures.known("event_cost") - others) / pieces_of(r));
              }));
}

void add_batches(std::span<const NamedReport> runs, Figures& figures) {
  std::vector<Found> in = moved_by(runs, "batch", "h2d", kMany);
  std::vector<Found> all = moved_by(runs, "batch", "d2h", kMany);
  all.insert(all.end(), in.begin(), in.end());
  add_enqueued(std::move(all), figures);
  std::vector<Found> by_driver = in;
  std::erase_if(by_driver, [&](const Found& f) { return !is_inlined(*f.result, figures); });
  std::erase_if(in, [&](const Found& f) { return is_inlined(*f.result, figures); });
  add_inline_bytes(by_driver, in, figures);
  add_inlined(by_driver, figures);
}

// --- Kernels --------------------------------------------------------------------------------------------------------

PieceTurns turns_of(const Result& r) {
  const auto engine = r.config.is("way", "bulk") ? kernels::PieceEngine::bulk : kernels::PieceEngine::threads;
  return kernels::PieceCopy::turns_of(engine, static_cast<std::size_t>(pieces_of(r)), size_of_piece(r),
                                      static_cast<unsigned>(r.config.count("blocks")));
}

double reads_of(const Result& r) { return turns_of(r).list_reads / turns_of(r).turns; }

/// Returns the seconds from the start of a pass until a kernel moves the first piece.
double before_kernel(const Result& r, const Figures& figures) {
  const double list = pieces_of(r) * sizeof(kernels::ListedPiece) / figures.known("h2d_rate");
  double before = r.config.is("list", "copied") ? list + figures.known("h2d_overhead") : 0;
  for (const char* cost : {"copy_to_kernel", "kernel_overhead", "kernel_link_overhead"}) before += figures.known(cost);
  return before;
}

/// Returns the seconds of a turn (see PieceTurns) in a pass that takes `seconds`.
double turn_of(const Result& r, double seconds, const Figures& figures) {
  return (seconds - before_kernel(r, figures)) / turns_of(r).turns;
}

/// Returns the results of kernels with so few blocks that the blocks, not the link, are the bottleneck.
std::vector<Found> slow_kernels(std::span<const NamedReport> runs, std::string_view way, const std::string& direction,
                                const Figures& figures) {
  constexpr double kFarAbove = 1.3;  // multiple of the shortest time that the link allows
  std::vector<Found> kernels = moved_by(runs, way, direction, 1);
  const double rate = figures.known("kernel_" + direction + "_rate");
  std::erase_if(kernels, [=](const Found& f) {
    const Result& r = *f.result;
    return r.config.count_or("blocks", 0) == 0 || r.median("on-gpu") < kFarAbove * bytes_of_pieces(r) / rate;
  });
  return kernels;
}

/// Adds the time of a turn without its reads of the list, from the results of `kernels`.
void add_turn(std::span<const Found> kernels, const char* field, Figures& figures) {
  const double list_read = figures.known("list_read");
  figures.add(kernels, field, reading("on-gpu", [&](const Result& r, double seconds) {
                return turn_of(r, seconds, figures) - reads_of(r) * list_read;
              }));
}

/// Adds the time of a read of the list, from the difference between turns with many and turns with few reads.
void add_list_read(std::vector<Found> bulk, Figures& figures) {
  if (bulk.empty()) return;
  constexpr double kApart = 0.5;  // minimum difference in reads per turn; below it, noise would hide the difference
  const Result& few = *std::ranges::min(bulk, {}, [](const Found& f) { return reads_of(*f.result); }).result;
  const double least = reads_of(few);
  const double shortest = turn_of(few, few.median("on-gpu"), figures);
  std::erase_if(bulk, [=](const Found& f) { return reads_of(*f.result) < least + kApart; });
  figures.add(bulk, "list_read", reading("on-gpu", [&](const Result& r, double seconds) {
                return (turn_of(r, seconds, figures) - shortest) / (reads_of(r) - least);
              }));
}

/// Adds how much two kernels slow each other if they move pieces in opposite directions. In the model, both run until
/// the faster one has finished; then the other continues alone.
void add_duplex(std::span<const NamedReport> runs, Figures& figures) {
  std::vector<Found> both = moved_by(runs, "kernel", "bidirectional", 1);
  const std::vector<Found> bulk = moved_by(runs, "bulk", "bidirectional", 1);
  both.insert(both.end(), bulk.begin(), bulk.end());
  std::erase_if(both, [](const Found& f) { return f.result->config.has("blocks"); });
  const double in = figures.known("kernel_h2d_rate");
  const double out = figures.known("kernel_d2h_rate");
  figures.add(both, "kernels_duplex_rate", reading("on-gpu", [&](const Result& r, double seconds) {
                const double bytes = bytes_of_pieces(r);
                const double beside = seconds - before_kernel(r, figures) - bytes / std::min(in, out);
                return std::clamp(1 / (1 + beside * std::max(in, out) / bytes), 0.001, 1.0);
              }));
}

void add_piece_kernels(std::span<const NamedReport> runs, Figures& figures) {
  std::vector<Found> bulk = slow_kernels(runs, "bulk", "h2d", figures);
  const std::vector<Found> bulk_out = slow_kernels(runs, "bulk", "d2h", figures);
  bulk.insert(bulk.end(), bulk_out.begin(), bulk_out.end());
  add_list_read(bulk, figures);
  add_turn(bulk, "bulk_turn", figures);
  add_turn(slow_kernels(runs, "kernel", "h2d", figures), "piece_read_turn", figures);
  add_turn(slow_kernels(runs, "kernel", "d2h", figures), "piece_write_turn", figures);
  add_duplex(runs, figures);
}

}  // namespace

void add_pieces(std::span<const NamedReport> runs, Figures& figures) {
  add_calls_of_pieces(runs, figures);
  add_batches(runs, figures);
  add_piece_kernels(runs, figures);
}

}  // namespace xferbench
