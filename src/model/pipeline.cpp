#include "model/pipeline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "model/bounds.hpp"

namespace xferbench::model {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
enum Stage : std::size_t { in, work, out };
constexpr std::array<Stage, 3> kStages{in, work, out};

double total(const std::vector<double>& chunks) { return std::accumulate(chunks.begin(), chunks.end(), 0.0); }

/// When the host has submitted each operation, and in which order.
class Submission {
 public:
  Submission(const StageCosts& costs, const Arrangement& a) {
    const std::size_t chunks = a.chunks.size();
    const std::size_t wave = std::max<std::size_t>(a.wave, 1);
    const std::array<double, 3> calls{costs.submit_h2d, costs.submit_kernel, costs.submit_d2h};
    for (auto& of_stage : calls_) of_stage.resize(chunks);
    Call now;
    for (std::size_t first = 0; first < chunks; first += wave) {
      for (const Stage stage : kStages) {
        for (std::size_t i = first; i < std::min(first + wave, chunks); ++i) {
          now.time += calls[stage];
          ++now.rank;
          calls_[stage][i] = now;
        }
      }
    }
  }
  [[nodiscard]] double time(Stage stage, std::size_t chunk) const { return calls_[stage][chunk].time; }
  [[nodiscard]] std::size_t rank(Stage stage, std::size_t chunk) const { return calls_[stage][chunk].rank; }

 private:
  struct Call {
    double time = 0;
    std::size_t rank = 0;
  };
  std::array<std::vector<Call>, 3> calls_;
};

/// Three engines that work through the chunks in order.
class Schedule {
 public:
  Schedule(const StageCosts& costs, const Arrangement& arrangement)
      : costs_(costs), arrangement_(arrangement), submission_(costs, arrangement) {
    for (auto& of_stage : ends_) of_stage.reserve(arrangement.chunks.size());
  }

  double run() {
    while (ends_[out].size() < arrangement_.chunks.size()) {
      start_ready();
      advance();
    }
    return now_;
  }

 private:
  /// What an engine is doing.
  struct Engine {
    bool running = false;
    double overhead = 0;  ///< what is left of it
    double payload = 0;   ///< what is left of it
  };

  [[nodiscard]] const Cost& cost(Stage stage) const {
    return stage == in ? costs_.h2d : stage == work ? costs_.kernel : costs_.d2h;
  }

  /// When the result of a chunk in another stage is there for a chunk that is `distance` later; 0 waits for nothing.
  [[nodiscard]] double end(Stage stage, std::size_t chunk, std::size_t distance) const {
    if (distance == 0 || chunk < distance) return 0;
    return handed_over(stage, chunk - distance);
  }
  [[nodiscard]] double handed_over(Stage stage, std::size_t chunk) const {
    return chunk < ends_[stage].size() ? ends_[stage][chunk] + costs_.handoff : kNever;
  }

  /// When the next operation of a stage may start, as far as that is known: kNever while it waits for one that has not
  /// ended, or if there is none.
  [[nodiscard]] double ready(Stage stage) const {
    const std::size_t i = ends_[stage].size();
    if (i >= arrangement_.chunks.size() || engines_[stage].running) return kNever;
    const double own = std::max(submission_.time(stage, i), i == 0 ? 0 : ends_[stage][i - 1]);
    switch (stage) {
      case in:
        return std::max({own, end(out, i, arrangement_.h2d_after_d2h), end(work, i, arrangement_.h2d_after_kernel)});
      case work: return std::max({own, handed_over(in, i), end(out, i, arrangement_.kernel_after_d2h)});
      case out: break;
    }
    return std::max(own, handed_over(work, i));
  }

  void start(Stage stage) {
    const double bytes = arrangement_.chunks[ends_[stage].size()];
    engines_[stage] = {true, cost(stage).per_operation, bytes * cost(stage).per_byte};
  }

  [[nodiscard]] bool takes_turns() const { return costs_.copy_engines < 2; }

  void start_ready() {
    if (ready(work) <= now_) start(work);
    if (!takes_turns()) {
      for (const Stage copy : {in, out}) {
        if (ready(copy) <= now_) start(copy);
      }
      return;
    }
    if (engines_[in].running || engines_[out].running) return;
    const bool can_in = ready(in) <= now_;
    const bool can_out = ready(out) <= now_;
    if (!can_in && !can_out) return;
    const auto rank = [this](Stage stage) { return submission_.rank(stage, ends_[stage].size()); };
    start(can_in && (!can_out || rank(in) < rank(out)) ? in : out);
  }

  [[nodiscard]] bool moving(Stage stage) const { return engines_[stage].running && engines_[stage].overhead <= 0; }
  [[nodiscard]] bool contended(Stage stage) const { return stage != work && moving(stage == in ? out : in); }
  /// When the phase ends that an engine is in, if nothing changes before.
  [[nodiscard]] double phase_end(Stage stage) const {
    const Engine& e = engines_[stage];
    if (!e.running) return kNever;
    const Cost& c = cost(stage);
    if (e.overhead > 0) return now_ + e.overhead * (contended(stage) ? c.duplex_overhead : 1);
    return now_ + e.payload / (contended(stage) ? c.duplex_rate : 1);
  }

  /// To the next end of a phase, or the next time at which something may start.
  void advance() {
    std::array<double, 3> ends{};
    double next = kNever;
    for (const Stage stage : kStages) {
      ends[stage] = phase_end(stage);
      next = std::min(next, ends[stage]);
      const double start = ready(stage);
      if (start > now_) next = std::min(next, start);  // else it waits for the other direction
    }
    for (const Stage stage : kStages) {
      Engine& e = engines_[stage];
      if (!e.running) continue;
      double& phase = e.overhead > 0 ? e.overhead : e.payload;
      // What ends now ends exactly, however times are rounded.
      phase = ends[stage] <= next ? 0 : phase * (1 - (next - now_) / (ends[stage] - now_));
    }
    now_ = next;
    for (const Stage stage : kStages) finish_if_done(stage);
  }

  void finish_if_done(Stage stage) {
    Engine& e = engines_[stage];
    if (!e.running || e.overhead > 0 || e.payload > 0) return;
    e.running = false;
    ends_[stage].push_back(now_);
  }

  const StageCosts& costs_;
  const Arrangement& arrangement_;
  Submission submission_;
  double now_ = 0;
  std::array<Engine, 3> engines_;
  std::array<std::vector<double>, 3> ends_;  // of the chunks that are through each stage
};

StageCosts without_submission(StageCosts costs) {
  costs.submit_h2d = costs.submit_kernel = costs.submit_d2h = 0;
  return costs;
}

StageCosts without_overhead(StageCosts costs) {
  for (Cost* stage : {&costs.h2d, &costs.kernel, &costs.d2h}) stage->per_operation = 0;
  costs.handoff = 0;
  return costs;
}

Arrangement with_slots(Arrangement a, std::size_t slots) {
  for (std::size_t* wait : {&a.h2d_after_d2h, &a.h2d_after_kernel, &a.kernel_after_d2h}) {
    if (*wait != 0) *wait = slots;
  }
  return a;
}

/// Payload in one piece through each stage.
Stages alone(const StageCosts& costs, double bytes) {
  const auto time = [bytes](const Cost& c) { return c.per_operation + bytes * c.per_byte; };
  Stages s{time(costs.h2d), time(costs.kernel), time(costs.d2h), 0};
  // Until the first of them ends, each runs at its duplex rate.
  const double first = std::min(s.h2d / costs.h2d.duplex_rate, s.d2h / costs.d2h.duplex_rate);
  const double rest = std::max(s.h2d - first * costs.h2d.duplex_rate, s.d2h - first * costs.d2h.duplex_rate);
  s.both = first + rest;
  return s;
}

std::vector<double> equal_parts(double bytes, std::size_t chunks) {
  return std::vector<double>(chunks, bytes / static_cast<double>(chunks));
}

}  // namespace

Arrangement in_place(double bytes, std::size_t chunks, std::size_t slots) {
  return {.chunks = equal_parts(bytes, chunks), .h2d_after_d2h = slots};
}

Arrangement double_buffered(double bytes, std::size_t chunks, std::size_t slots) {
  return {.chunks = equal_parts(bytes, chunks), .h2d_after_kernel = slots, .kernel_after_d2h = slots};
}

double makespan(const StageCosts& costs, const Arrangement& arrangement) { return Schedule(costs, arrangement).run(); }

double lower_bound(const StageCosts& costs, double bytes) {
  return lower_bound(alone(costs, bytes), costs.copy_engines);
}

Losses explain(const StageCosts& costs, const Arrangement& arrangement, double measured_makespan,
               double measured_limit) {
  Losses losses;
  losses.limit = measured_limit;
  const Stages stages = alone(costs, total(arrangement.chunks));
  if (limiting_stage(stages, costs.copy_engines) == Limit::link) {
    losses.contention = std::max(0.0, measured_limit - std::max({stages.h2d, stages.kernel, stages.d2h}));
  }
  const StageCosts hidden = without_submission(costs);
  const Arrangement unlimited = with_slots(arrangement, 0);
  const std::array<double, 4> with_effect{makespan(without_overhead(hidden), unlimited), makespan(hidden, unlimited),
                                          makespan(hidden, arrangement), makespan(costs, arrangement)};
  const std::array<double*, 4> parts{&losses.fill_drain, &losses.overhead, &losses.slots, &losses.submission};
  double explained = measured_limit;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    constexpr double kRounding = 1e-12;  // seconds
    const double added = with_effect[i] - explained;
    *parts[i] = added > kRounding ? added : 0;
    explained += *parts[i];
    // Where an effect makes the whole faster (fewer slots, and the directions are less in each other's way), that comes
    // off what was charged before.
    for (std::size_t j = i; j-- > 0;) {
      const double back = std::clamp(explained - std::max(with_effect[i], measured_limit), 0.0, *parts[j]);
      *parts[j] -= back;
      explained -= back;
    }
  }
  losses.unexplained = measured_makespan - explained;
  return losses;
}

double equal_chunks_makespan(std::size_t chunks, double h2d, double kernel, double d2h, std::size_t slots) {
  if (chunks == 0) return 0;
  const double through = h2d + kernel + d2h;
  const double longest = std::max({h2d, kernel, d2h});
  const auto behind = [](std::size_t n) { return static_cast<double>(n); };
  // With enough slots the longest stage never waits; with fewer, each round of slots takes a chunk's whole way.
  if (slots == 0 || static_cast<double>(slots) * longest >= through) return through + behind(chunks - 1) * longest;
  return behind((chunks - 1) / slots + 1) * through + behind((chunks - 1) % slots) * longest;
}

BestChunks best_equal_chunks(const StageCosts& costs, double bytes) {
  std::array<Cost, 3> stages{costs.h2d, costs.kernel, costs.d2h};
  std::ranges::sort(stages, std::ranges::greater{}, &Cost::per_byte);
  const Cost& longest = stages[0];
  const double others = bytes * (stages[1].per_byte + stages[2].per_byte);
  const double others_once = stages[1].per_operation + stages[2].per_operation;
  const double own = bytes * longest.per_byte;
  if (longest.per_operation <= 0) return {kNever, own + others_once};
  const double chunks = std::max(1.0, std::sqrt(others / longest.per_operation));
  return {chunks, own + others_once + chunks * longest.per_operation + others / chunks};
}

}  // namespace xferbench::model
