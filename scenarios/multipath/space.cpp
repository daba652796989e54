// The search space of `tune` for scenario multipath.
#include "scenarios/multipath/case.hpp"

#include "scenarios/multipath/costs.hpp"
#include "scenarios/multipath/payload.hpp"

namespace xferbench {

namespace {

class MultipathSpace final : public Tunable {
 public:
  MultipathSpace(std::span<const Case> cases, const RunContext& bench) : bench_(bench) {
    MultipathCase widest = multipath_case(cases.front());
    for (const Case& c : cases) {
      for (const int helper : multipath_case(c).via) add_new(helpers_, helper);
    }
    for (const Case& c : cases) learn(multipath_case(c));
    widest.via = helpers_;
    payload_ = std::make_unique<MultipathPayload>(bench.machine, widest, bench.seed);
    if (bench.needs_data()) payload_->prepare();
    const bool all_gated = std::ranges::all_of(cases, [this](const Case& c) { return is_gated(multipath_case(c)); });
    clock_ = all_gated ? Clock::event_gated : Clock::event;
    Relay direct(*payload_);
    Region region = direct.region("direct");
    region.clock = clock_;
    bench_.policy.budget /= 2;
    Region beside = region_for(bench.objective, region);
    beside.name = region.name;
    stages_.push_back(bench_.sample({beside}).front().elapsed);  // the copy over the target's own link, the only one
  }

  [[nodiscard]] double predict(const Case& c) const override {
    const MultipathCase m = multipath_case(c);
    const Cut chosen = cut_of(m);
    return model::relay_makespan(paths_.at(m.via), chosen.shape, chosen.split);
  }

  /// A case with fewer helpers is simpler; with equally many helpers, the case with less helper memory is simpler.
  [[nodiscard]] double complexity(const Case& c) const override {
    const MultipathCase m = multipath_case(c);
    constexpr double kHelper = 1e6;
    return kHelper * static_cast<double>(m.via.size()) + static_cast<double>(helper_memory(cut_of(m))) / MiB;
  }

  [[nodiscard]] std::string family(const Case& c) const override { return gpus_text(multipath_case(c).via); }

  /// All candidates share one payload, so they run one at a time.
  [[nodiscard]] Candidate prepare(const Case& c) override {
    const MultipathCase m = multipath_case(c);
    const Cut chosen = cut_of(m);
    const auto relay = std::make_shared<Relay>(*payload_, chosen.shape, among_all(chosen.split, m.via));
    const auto region = [relay, clock = clock_] {
      Region r = relay->region("multipath");
      r.clock = clock;
      return r;
    };
    return {.region = region, .verify = [this, relay, region] {
              run_at_full_speed(bench_.machine, region(), [&] { relay->poison(); });
              payload_->check();
            }};
  }

  void describe(const Case& c, double seconds, double /*fastest*/, Result& result) const override {
    const MultipathCase m = multipath_case(c);
    add_rates(m, cut_of(m), seconds, stages_.front().median, result);
  }

 private:
  void learn(const MultipathCase& c) {
    if (paths_.contains(c.via)) return;
    paths_.emplace(c.via, measure_paths(bench_, c));
  }

  /// Whether a gate can hold back all operations of a case. All candidates must use the same clock to be comparable.
  [[nodiscard]] bool is_gated(const MultipathCase& c) const {
    const Cut chosen = cut_of(c);
    const std::size_t chunks = most_of(
        chosen.split.through, [&](std::uint64_t part) { return model::relay_chunks(chosen.shape, part).size(); });
    return RegionTimer::fits_gate(Relay::operations(chunks), 1 + 2 * c.via.size());
  }

  [[nodiscard]] Cut cut_of(const MultipathCase& c) const {
    return cut(c, [&]() -> const model::RelayPaths& { return paths_.at(c.via); });
  }

  /// Extends a split over the helpers `via` of one case to the helpers of all cases, which share one payload.
  [[nodiscard]] model::RelaySplit among_all(const model::RelaySplit& split, const std::vector<int>& via) const {
    model::RelaySplit all{split.direct, std::vector<std::uint64_t>(helpers_.size())};
    for (std::size_t i = 0; i < via.size(); ++i) {
      all.through[static_cast<std::size_t>(std::ranges::find(helpers_, via[i]) - helpers_.begin())] = split.through[i];
    }
    return all;
  }

  RunContext bench_;
  std::vector<int> helpers_;  // helper GPUs of all cases
  std::unique_ptr<MultipathPayload> payload_;
  Clock clock_ = Clock::event_gated;
  std::map<std::vector<int>, model::RelayPaths> paths_;  // measured input of the model; key: the helpers
};

}  // namespace

std::unique_ptr<Tunable> multipath_space(std::span<const Case> cases, const RunContext& bench) {
  return std::make_unique<MultipathSpace>(cases, bench);
}

}  // namespace xferbench
