// The search space of `tune` for scenario storage.
#include "scenarios/storage/case.hpp"

#include <utility>

#include "model/bounds.hpp"
#include "scenarios/storage/transfer.hpp"

namespace xferbench {

namespace {

/// Returns the way whose reads a case uses.
StorageWay route_of(const StorageCase& c) {
  switch (c.way) {
    case StorageWay::cufile:
    case StorageWay::direct: return StorageWay::direct;
    case StorageWay::read:
    case StorageWay::threads: return StorageWay::threads;
    case StorageWay::uring: return c.cache == CacheState::cold ? StorageWay::direct : StorageWay::threads;
    default: return StorageWay::mmap_threads;
  }
}

class StorageSpace final : public Tunable {
 public:
  StorageSpace(std::span<const Case> cases, const RunContext& bench)
      : bench_(bench), work_(storage_case(cases.front())), shared_(work_, bench) {
    measure_stages(cases);
  }

  /// A rough model; the search corrects it by measured times. The measured time of one thread is divided by the number
  /// of threads, but is at least the time of the fastest reads or of the link.
  [[nodiscard]] double predict(const Case& config) const override {
    const StorageCase c = storage_case(config);
    constexpr double kPageableRate = 8e9;
    constexpr double kLockedRate = 25e9;
    const auto bytes = static_cast<double>(c.size);
    const double one = one_thread_.at(route_of(c));
    if (c.way == StorageWay::read) return one + bytes / kPageableRate;
    if (c.way == StorageWay::mmap) return std::max(fastest_, bytes / kPageableRate);
    if (c.way == StorageWay::mmap_register) return std::max(fastest_, bytes / kLockedRate) + link_;
    const double request = static_cast<double>(c.chunk_bytes()) / bytes;
    const double reads = std::max(fastest_, one / static_cast<double>(c.abreast()));
    return std::max(reads, link_) + request * (one + link_);  // first read and last copy, which overlap with nothing
  }

  [[nodiscard]] unsigned most_behind_gate(const Case&) const override { return 1; }

  [[nodiscard]] double complexity(const Case& config) const override {
    const StorageCase c = storage_case(config);
    constexpr double kLittle = 1e-3;
    return static_cast<double>(c.way) + kLittle * static_cast<double>(c.threads + c.slots + c.depth);
  }

  [[nodiscard]] double model_error() const override { return 0.3; }

  [[nodiscard]] Candidate prepare(const Case& config) override {
    const auto transfer = std::make_shared<StorageTransfer>(storage_case(config), bench_, &shared_);
    const bool plain = bench_.objective == Objective::wall;  // then the tuner times the submission itself
    return {.region = [transfer, plain] { return plain ? transfer->without_parts() : transfer->whole_way(); },
            .verify = [transfer] { transfer->verify(); }};
  }

  void describe(const Case& config, double seconds, double /*fastest*/, Result& result) const override {
    const std::size_t size = storage_case(config).size;
    const double limit = std::max(fastest_, link_);
    result.add("bandwidth", gigabytes_per_second(size, seconds), "GB/s");
    result.add("limit", gigabytes_per_second(size, limit), "GB/s");
    result.add("of_limit", model::share_of_limit(limit, seconds), "1");
  }

 private:
  void measure_stages(std::span<const Case> cases) {
    std::vector<std::unique_ptr<StorageTransfer>> readers;
    std::vector<StorageWay> routes;
    for (const Case& config : cases) {
      const StorageWay route = route_of(storage_case(config));
      if (std::ranges::find(routes, route) == routes.end()) routes.push_back(route);
    }
    std::vector<Region> regions{shared_.link_only(), shared_.fastest_file()};
    for (const StorageWay route : routes) {
      StorageCase one = work_;
      one.way = route;
      one.threads = one.slots = 1;
      one.depth = 0;
      one.request = 2 * MiB;
      one.crew = SlotCrew::one_stream;
      readers.push_back(std::make_unique<StorageTransfer>(one, bench_, &shared_));
      regions.push_back(readers.back()->file_alone());
      regions.back().name += "-" + std::string(kStorageWays[static_cast<std::size_t>(route)]);
    }
    SamplingPolicy few = bench_.policy;
    few.min_samples = few.max_samples = work_.cache == CacheState::cold ? 1 : 3;  // a cold pass takes long
    const std::vector<Series> series = bench_.sample(std::move(regions), few);
    for (const Series& s : series) stages_.push_back(s.elapsed);
    if (!all_sampled(series)) return;
    link_ = series[0].elapsed.median;
    fastest_ = series[1].elapsed.median;
    for (std::size_t i = 0; i < routes.size(); ++i) one_thread_[routes[i]] = series[2 + i].elapsed.median;
  }

  const RunContext& bench_;
  StorageCase work_;
  StorageTransfer shared_;                     // owns the file and the memory of all candidates
  double link_ = 0;                            // seconds to copy the whole file over the link
  double fastest_ = 0;                         // seconds of the fastest reads
  std::map<StorageWay, double> one_thread_{};  // seconds of the reads of one thread
};

}  // namespace

std::unique_ptr<Tunable> storage_space(std::span<const Case> cases, const RunContext& bench) {
  return std::make_unique<StorageSpace>(cases, bench);
}

}  // namespace xferbench
