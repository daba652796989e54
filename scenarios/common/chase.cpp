#include "scenarios/common/chase.hpp"

#include <fmt/format.h>

#include <new>
#include <numeric>
#include <set>
#include <utility>

#include "core/error.hpp"
#include "core/units.hpp"
#include "measure/pattern.hpp"
#include "results/metric_names.hpp"

namespace xferbench {

using kernels::ChaseLine;
using kernels::ChaseLog;

namespace {

/// Returns a pseudo-random number in [0, bound), for a bound of at most 2^32. The bias is at most bound / 2^32, which
/// does not matter here.
std::uint32_t below(std::uint64_t bound, std::uint64_t seed, std::uint64_t index) {
  return static_cast<std::uint32_t>((pattern::noise(seed, index) * bound) >> 32);
}

/// Bytes of memory to write in order to evict all other data from L2: larger than the L2 cache of any GPU so far.
constexpr std::size_t kEvicting = 256 * MiB;

std::size_t lines_in(std::size_t bytes) { return bytes / sizeof(ChaseLine); }

/// Evicts from L2 the lines that were written last. Otherwise some hops of the first pass would hit the cache.
void evict_from_cache(Device& device) { device.fill_and_wait(device.allocate_device(kEvicting), pattern::kPoison); }

double clock_rate_of(const ChaseLog& log) {
  return 1e9 * static_cast<double>(log.cycles) / static_cast<double>(log.nanoseconds);
}

}  // namespace

std::vector<std::uint32_t> random_cycle(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint32_t> next(count);
  std::iota(next.begin(), next.end(), 0U);
  // Sattolo's algorithm: swapping each element with an earlier one, never with itself, leaves a single cycle.
  for (std::size_t i = count; i-- > 1;) std::swap(next[i], next[below(i, seed, i)]);
  return next;
}

std::size_t walk(std::span<const std::uint32_t> next, std::size_t from, std::size_t hops) {
  for (std::size_t i = 0; i < hops; ++i) from = next[from];
  return from;
}

PointerChase::PointerChase(Device& device, std::size_t lines, std::uint64_t seed)
    : device_(device),
      next_(random_cycle(lines, seed)),
      log_memory_(device.allocate_host(sizeof(ChaseLog), HostMemory::mapped)),
      stream_(device.make_stream(StreamKind::nonblocking)) {
  log_ = new (log_memory_.data) ChaseLog();
  device_.preload(kernels::Chase(nullptr, nullptr));
}

PointerChase::PointerChase(Device& device, ChaseMemory where, std::size_t bytes, std::uint64_t seed)
    : PointerChase(device, lines_in(bytes), seed) {
  if (where == ChaseMemory::device) {
    build_in(device);
    return;
  }
  on_host_ = device_.allocate_host(next_.size() * sizeof(ChaseLine), HostMemory::mapped);
  lines_ = reinterpret_cast<const ChaseLine*>(on_host_.data);  // unified addressing: also valid on the device
  build(on_host_.data);
}

PointerChase::PointerChase(Device& device, Device& owner, std::size_t bytes, std::uint64_t seed, bool cached)
    : PointerChase(device, lines_in(bytes), seed) {
  build_in(owner);
  if (!cached) return;
  owner_walks_ = owner.make_stream(StreamKind::nonblocking);
  owner.preload(kernels::Chase(nullptr, nullptr));
}

MemoryNeeds PointerChase::needs(ChaseMemory where, std::size_t bytes) {
  const std::size_t cycle = lines_in(bytes) * sizeof(std::uint32_t);
  return {bytes + cycle, where == ChaseMemory::device ? bytes + kEvicting : 0};
}

void PointerChase::build(std::byte* memory) const {
  for (std::size_t i = 0; i < next_.size(); ++i) new (memory + i * sizeof(ChaseLine)) ChaseLine{line(next_[i])};
}

void PointerChase::build_in(Device& owner) {
  const std::size_t whole = next_.size() * sizeof(ChaseLine);
  on_device_ = owner.allocate_device(whole);
  lines_ = reinterpret_cast<const ChaseLine*>(on_device_.data);
  {
    const HostBuffer staging = owner.allocate_host(whole, HostMemory::pageable);
    build(staging.data);
    owner.copy_and_wait({on_device_.data, staging.data, whole, Direction::h2d});
  }
  evict_from_cache(owner);
}

const ChaseLog& PointerChase::pass(kernels::ChaseTimes times, kernels::ChaseBlock block) {
  const std::size_t end = walk(next_, at_, kernels::kChaseHops);
  log_->last = nullptr;
  if (owner_walks_) {
    owner_walks_.launch(kernels::Chase(line(at_), log_));
    owner_walks_.synchronize();
    log_->last = nullptr;
  }
  stream_.launch(kernels::Chase(line(at_), log_, times, block));
  stream_.synchronize();
  if (log_->last != line(end)) {
    throw VerificationError(fmt::format("pointer chase: {} hops from line {} should end at line {}, but do not",
                                        kernels::kChaseHops, at_, end));
  }
  at_ = end;
  return *log_;
}

Region PointerChase::region() {
  return stepped_region("pass", {{.name = kLatency, .clock = Clock::device, .decides = true}}, [this](LapTimer& laps) {
    const ChaseLog& log = pass();
    clock_rate_ = clock_rate_of(log);
    for (const std::uint32_t cycles : log.hops) laps.add(0, cycles / clock_rate_);
  });
}

Region PointerChase::region_of_all_multiprocessors() {
  const auto part = [](const char* name, bool decides) {
    return Region::Part{.name = name, .clock = Clock::device, .decides = decides};
  };
  const std::vector parts{part(kLatency, true), part(kNearest, false), part(kFarthest, false)};
  const unsigned blocks = std::max(1U, device_.capabilities().environment.gpu.multiprocessors);
  return stepped_region("passes", parts, [this, blocks](LapTimer& laps) {
    std::set<std::uint32_t> walkers;
    std::vector<double> hops;  // mean seconds per hop, one value per block
    for (unsigned i = 0; i < blocks; ++i) {
      const ChaseLog& log = pass(kernels::ChaseTimes::all_hops, {.index = i, .of = blocks});
      clock_rate_ = clock_rate_of(log);
      walkers.insert(log.multiprocessor);
      hops.push_back(1e-9 * static_cast<double>(log.nanoseconds) / static_cast<double>(kernels::kChaseHops));
    }
    multiprocessors_ = walkers.size();
    const auto [nearest, farthest] = std::ranges::minmax(hops);
    laps.add(0, std::accumulate(hops.begin(), hops.end(), 0.0) / static_cast<double>(blocks));
    laps.add(1, nearest);
    laps.add(2, farthest);
  });
}

}  // namespace xferbench
