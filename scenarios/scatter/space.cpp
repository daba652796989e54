// The search space of `tune` for scenario scatter.
#include "scenarios/scatter/case.hpp"

#include <cmath>
#include <numeric>

#include "core/units.hpp"
#include "model/bounds.hpp"
#include "scenarios/scatter/movement.hpp"

namespace xferbench {

namespace {

/// Number of pieces in the pass that measures the cost of one piece.
constexpr std::size_t kFew = 64;

/// Returns the case with few pieces of the same size, moved by `way`.
ScatterCase few_pieces(ScatterCase c, ScatterWay way) {
  const std::vector<std::size_t> sizes = c.sizes();
  c.size = std::reduce(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(std::min(kFew, sizes.size())));
  c.way = way;
  c.streams = 1;
  c.merge = false;
  return c;
}

class ScatterSpace final : public Tunable {
 public:
  ScatterSpace(std::span<const Case> cases, const RunContext& bench)
      : bench_(bench), work_(scatter_case(cases.front())), shared_(plain(), bench) {
    if (bench.needs_data()) shared_.prepare();
    measure_stages();
  }

  /// A rough model; the search corrects it by measured times. The kernels' shares of the link, and the blocks that
  /// bulk copies need, are those of an H100 (docs/lab/scatter.md).
  [[nodiscard]] double predict(const Case& c) const override {
    const ScatterCase s = scatter_case(c);
    constexpr double kKernelShare = 0.92;
    constexpr double kChunk = 2.5e-6;
    constexpr double kTail = 10e-6;
    constexpr double kSpreadRate = 20e9;  // bytes per second of one block
    constexpr double kThreadRate = 6e9;
    const auto blocks = static_cast<double>(s.blocks.value_or(33));
    const auto bytes = static_cast<double>(s.size);
    const auto pieces = static_cast<double>(shared_.copies());
    switch (s.way) {
      case ScatterWay::calls:
      case ScatterWay::graph: return whole_ + pieces * call_;
      case ScatterWay::batch:
      case ScatterWay::batch_3d: return whole_ + pieces * batched_;
      case ScatterWay::strided: return whole_;
      case ScatterWay::kernel: return whole_ / kKernelShare * std::max(1.0, 4 / blocks) + kTail;
      case ScatterWay::bulk: return whole_ / kKernelShare * std::max(1.0, blocks_of_bulk() / blocks) + kTail;
      case ScatterWay::staged:
        return whole_ + static_cast<double>(s.chunks) * kChunk + kTail +
               bytes / std::exp2(static_cast<double>(s.chunks - 1)) / (kSpreadRate * blocks);
      case ScatterWay::packed:
        return 1.3 * std::max(whole_, bytes / (kThreadRate * static_cast<double>(s.threads))) + 5 * kTail;
    }
    return whole_;
  }

  [[nodiscard]] unsigned most_behind_gate(const Case&) const override { return 1; }

  /// Ways without a kernel count as simpler than those with one, and fewer blocks, chunks and threads as simpler.
  [[nodiscard]] double complexity(const Case& c) const override {
    const ScatterCase s = scatter_case(c);
    constexpr double kLittle = 1e-3;
    const double order = static_cast<double>(s.way);
    return order + kLittle * static_cast<double>(s.blocks.value_or(0) + s.chunks + s.threads + s.streams);
  }

  [[nodiscard]] Candidate prepare(const Case& c) override {
    const auto movement = std::make_shared<ScatterMovement>(scatter_case(c), bench_, &shared_);
    multiprocessors_[c.key()] = movement->multiprocessors();
    // With Objective::wall, the tuner makes a region of its own from one that is timed by events.
    const bool by_events = bench_.objective == Objective::wall;
    return {.region = [movement, by_events] { return by_events ? movement->on_gpu() : movement->pieces(); },
            .verify = [movement] { movement->verify(movement->pieces()); },
            .apart = scatter_case(c).way == ScatterWay::packed};
  }

  void describe(const Case& c, double seconds, double /*fastest*/, Result& result) const override {
    result.add("bandwidth", gigabytes_per_second(work_.bytes(), seconds), "GB/s");
    result.add("limit", gigabytes_per_second(work_.bytes(), whole_), "GB/s");
    result.add("of_limit", model::share_of_limit(whole_, seconds), "1");
    result.add("occupied_multiprocessors", multiprocessors_.at(c.key()), "multiprocessors");
  }

 private:
  /// Returns the case with one call per piece, which is legal for every layout.
  [[nodiscard]] ScatterCase plain() const {
    ScatterCase c = work_;
    c.way = ScatterWay::calls;
    return c;
  }

  /// Number of blocks with which bulk copies fill the link: a block issues a slice of at most 8 KiB in some 0.6 us.
  [[nodiscard]] double blocks_of_bulk() const {
    constexpr std::size_t kSlice = kernels::PieceCopy::kBulkSlice;
    constexpr double kBlocksOfWholeSlices = 5;
    return kBlocksOfWholeSlices * static_cast<double>(kSlice) / static_cast<double>(std::min(work_.piece, kSlice));
  }

  void measure_stages() {
    ScatterMovement calls(few_pieces(work_, ScatterWay::calls), bench_);
    Region by_calls = calls.pieces();
    by_calls.name = "call";
    by_calls.check = {};
    std::vector<Region> regions{shared_.whole(), by_calls};
    const bool batches = bench_.device.capabilities().batch_copies && work_.memory == HostMemory::pinned;
    std::optional<ScatterMovement> batch;
    if (batches) {
      batch.emplace(few_pieces(work_, ScatterWay::batch), bench_);
      regions.push_back(batch->pieces());
      regions.back().name = "batched";
      regions.back().check = {};
    }
    const std::vector<Series> series = bench_.sample(std::move(regions));
    for (const Series& s : series) stages_.push_back(s.elapsed);
    if (!all_sampled(series)) return;
    whole_ = series[0].elapsed.median;
    const auto pieces = static_cast<double>(calls.copies());
    call_ = series[1].elapsed.median / pieces;
    batched_ = batches ? series[2].elapsed.median / pieces : call_;
  }

  const RunContext& bench_;
  ScatterCase work_;
  ScatterMovement shared_;                           // owns the buffers of all candidates
  std::map<std::string, unsigned> multiprocessors_;  // by case key; only of candidates that were prepared
  double whole_ = 0;                                 // seconds of a contiguous copy of all bytes
  double call_ = 0;                                  // seconds per piece with ScatterWay::calls
  double batched_ = 0;                               // seconds per piece with ScatterWay::batch
};

}  // namespace

std::unique_ptr<Tunable> scatter_space(std::span<const Case> cases, const RunContext& bench) {
  return std::make_unique<ScatterSpace>(cases, bench);
}

}  // namespace xferbench
