#include "model/pipeline.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>

#include "model/bounds.hpp"
#include "model/operation.hpp"

namespace xferbench::model {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
enum Stage : std::size_t { in, work, out };
constexpr std::array<Stage, 3> kStages{in, work, out};

double total(const std::vector<double>& chunks) { return std::accumulate(chunks.begin(), chunks.end(), 0.0); }

/// Computes when, and in which order, the host submits each operation.
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
  struct Call {
    double time = 0;
    std::size_t rank = 0;
  };
  [[nodiscard]] const Call& call(Stage stage, std::size_t chunk) const { return calls_[stage][chunk]; }

 private:
  std::array<std::vector<Call>, 3> calls_;
};

/// Simulates three engines that process the chunks in order.
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
  struct CopyEngine {
    std::optional<std::size_t> stream;  // stream of the previous copy; empty before the first
    double idle_since = 0;              // time at which the previous copy ended
  };

  [[nodiscard]] const Cost& cost(Stage stage) const {
    return stage == in ? costs_.h2d : stage == work ? costs_.kernel : costs_.d2h;
  }

  /// Returns the time at which the result of stage `from` for the chunk `distance` places earlier is available to stage
  /// `to`; 0 if there is no such dependency.
  [[nodiscard]] double end(Stage from, Stage to, std::size_t chunk, std::size_t distance) const {
    return distance == 0 || chunk < distance ? 0 : handed_over(from, to, chunk - distance);
  }
  [[nodiscard]] double handed_over(Stage from, Stage to, std::size_t chunk) const {
    return chunk < ends_[from].size() ? ends_[from][chunk] + handoff(from, to) : kNever;
  }
  [[nodiscard]] double handoff(Stage from, Stage to) const {
    const Handoff& h = costs_.handoff;
    if (from == work) return h.kernel_to_copy;
    if (to == work) return h.copy_to_kernel;
    return costs_.copy_engines < 2 ? 0 : h.copy_to_copy;  // a single copy engine needs no handoff between its copies
  }

  /// Returns the earliest start of a stage's next operation; kNever if a dependency has not ended or no chunk is left.
  [[nodiscard]] double ready(Stage stage) const {
    const std::size_t i = ends_[stage].size();
    if (i >= arrangement_.chunks.size() || engines_[stage].running()) return kNever;
    const double own = std::max(submission_.call(stage, i).time, i == 0 ? 0 : ends_[stage][i - 1]);
    const Arrangement& a = arrangement_;
    switch (stage) {
      case in:
        return std::max({own, costs_.start, end(out, in, i, a.h2d_after_d2h), end(work, in, i, a.h2d_after_kernel)});
      case work: return std::max({own, handed_over(in, work, i), end(out, work, i, a.kernel_after_d2h)});
      case out: break;
    }
    return std::max(own, handed_over(work, out, i));
  }

  void start_if_ready(Stage stage) {
    if (ready(stage) > now_) return;
    const std::size_t chunk = ends_[stage].size();
    engines_[stage] = {cost(stage), arrangement_.chunks[chunk], stage == work ? 0 : take_up(stage, chunk)};
  }

  /// Returns the seconds that the copy engine needs to switch streams before this copy can start; 0 without a switch.
  double take_up(Stage stage, std::size_t chunk) {
    CopyEngine& engine = copy_engine(stage);
    const std::size_t stream = arrangement_.streams > 0 ? chunk % arrangement_.streams : stage;
    const bool another = engine.stream && *engine.stream != stream;
    engine.stream = stream;
    return another ? std::max(0.0, engine.idle_since + costs_.stream_switch - now_) : 0;
  }

  void start_ready() {
    start_if_ready(work);
    std::array<Stage, 2> copies{in, out};
    if (costs_.copy_engines < 2) {  // the directions take turns, in order of submission
      if (engines_[in].running() || engines_[out].running()) return;
      const auto rank = [this](Stage stage) { return submission_.call(stage, ends_[stage].size()).rank; };
      const bool out_first = ready(in) > now_ || (ready(out) <= now_ && rank(out) < rank(in));
      copies.fill(out_first ? out : in);
    }
    for (const Stage copy : copies) start_if_ready(copy);
  }

  [[nodiscard]] Concurrent concurrent(Stage stage) const {
    return stage == work ? Concurrent{} : engines_[stage == in ? out : in].concurrent();
  }

  /// Advances the simulated time to the next end of a phase or to the next possible start of an operation.
  void advance() {
    const std::array<Concurrent, 3> others{concurrent(in), concurrent(work), concurrent(out)};
    double step = kNever;
    for (const Stage stage : kStages) {
      step = std::min(step, engines_[stage].remaining(others[stage]));
      const double start = ready(stage);
      if (start > now_) step = std::min(step, start - now_);  // otherwise the copy waits for the shared engine
    }
    now_ += step;
    for (const Stage stage : kStages) {
      if (!engines_[stage].elapse(step, others[stage])) continue;
      ends_[stage].push_back(now_);
      if (stage != work) copy_engine(stage).idle_since = now_;
    }
  }

  [[nodiscard]] CopyEngine& copy_engine(Stage stage) { return copy_engines_[costs_.copy_engines < 2 ? in : stage]; }

  const StageCosts& costs_;
  const Arrangement& arrangement_;
  Submission submission_;
  double now_ = 0;
  std::array<Operation, 3> engines_;
  std::array<CopyEngine, 3> copy_engines_;   // by stage; a single copy engine uses the first
  std::array<std::vector<double>, 3> ends_;  // end times of finished chunks, by stage
};

StageCosts without_overhead(StageCosts costs) {
  for (Cost* stage : {&costs.h2d, &costs.kernel, &costs.d2h}) stage->per_operation = 0;
  costs.handoff = {};
  costs.stream_switch = costs.start = 0;
  return costs;
}

Arrangement with_slots(Arrangement a, std::size_t slots) {
  for (std::size_t* wait : {&a.h2d_after_d2h, &a.h2d_after_kernel, &a.kernel_after_d2h}) {
    if (*wait != 0) *wait = slots;
  }
  return a;
}

/// Returns the times of the payload in one piece through each stage, and the least time of both directions together.
/// The least time assumes that nothing moves during the shorter of the two overheads. Then both payloads move at their
/// concurrent rates, and the remainder of the longer overhead costs nothing.
Stages least_times(const StageCosts& costs, double bytes) {
  const auto alone = [bytes](const Cost& c) { return c.per_operation + bytes * c.per_byte; };
  const auto copied = [&](const Cost& c) { return costs.start + alone(c); };
  const double in = bytes * costs.h2d.per_byte;
  const double out = bytes * costs.d2h.per_byte;
  // Both directions move payload at their duplex rates until the first of them ends.
  const double first = std::min(in / costs.h2d.duplex_rate, out / costs.d2h.duplex_rate);
  const double rest = std::max(in - first * costs.h2d.duplex_rate, out - first * costs.d2h.duplex_rate);
  const double both = std::min(in + out, first + rest);  // one direction after the other can be faster
  return {copied(costs.h2d), alone(costs.kernel), copied(costs.d2h),
          costs.start + std::min(costs.h2d.per_operation, costs.d2h.per_operation) + both};
}

}  // namespace

double makespan(const StageCosts& costs, const Arrangement& arrangement) { return Schedule(costs, arrangement).run(); }

double lower_bound(const StageCosts& costs, double bytes) {
  return lower_bound(least_times(costs, bytes), costs.copy_engines).seconds;
}

Losses explain(const StageCosts& costs, const Arrangement& arrangement, double measured_makespan,
               double measured_limit) {
  Losses losses;
  losses.limit = measured_limit;
  const Stages stages = least_times(costs, total(arrangement.chunks));
  if (!lower_bound(stages, costs.copy_engines).is_of_kernel) {
    losses.contention = std::max(0.0, measured_limit - std::max({stages.h2d, stages.kernel, stages.d2h}));
  }
  StageCosts hidden = costs;
  hidden.submit_h2d = hidden.submit_kernel = hidden.submit_d2h = 0;
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
    // An effect may make the whole pipeline faster: fewer slots can reduce the interference of the two directions. Then
    // the saving is subtracted from the losses of the effects before it.
    for (std::size_t j = i; j-- > 0;) {
      const double back = std::clamp(explained - std::max(with_effect[i], measured_limit), 0.0, *parts[j]);
      *parts[j] -= back;
      explained -= back;
    }
  }
  losses.unexplained = measured_makespan - explained;
  return losses;
}

}  // namespace xferbench::model
