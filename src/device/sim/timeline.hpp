// A discrete-event model of a GPU: operations with dependencies that compete for engines. Knows nothing of memory,
// streams or CUDA; times are seconds of a virtual clock.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace xferbench::sim {

/// What an operation occupies while it runs, one operation at a time each. `none` is free for any number.
enum class EngineId { none, h2d, d2h, compute, internal };

struct Operation {
  EngineId engine = EngineId::none;
  bool shares_link = false;  ///< a copy over the link: slowed while the opposite direction moves payload too
  double submitted = 0;      ///< the host enqueued it then; it cannot start earlier
  double overhead = 0;       ///< time on the engine before the payload
  double payload = 0;        ///< time of the payload alone at full rate
  std::vector<std::shared_ptr<const Operation>> after;  ///< must have finished before it starts
  std::function<void()> on_start;                       ///< reads the sources
  std::function<void()> on_finish;                      ///< commits the results

  // Maintained by Timeline.
  enum class State { waiting, running, finished };
  State state = State::waiting;
  double started = 0;
  double finished = 0;

  [[nodiscard]] bool done() const { return state == State::finished; }
};
using OperationPtr = std::shared_ptr<Operation>;

class Timeline {
 public:
  /// `duplex_ratio`: the rate of each direction of the link while both move payload, over its rate alone.
  explicit Timeline(double duplex_ratio) : duplex_ratio_(duplex_ratio) {}

  [[nodiscard]] double now() const { return now_; }

  /// Operations of one engine that are ready at once start in the order in which they were submitted.
  void add(OperationPtr operation);

  /// Moves the clock to the next start or end of a phase, and no further: whoever waited for it may then submit work
  /// that competes with what is still running. False if nothing can happen any more.
  bool step();
  /// When that will be, if nothing is submitted before; infinity if never.
  double next_change();
  /// Whether everything has finished.
  [[nodiscard]] bool idle() const { return active_.empty(); }
  void run_all();
  /// Forgets everything that has not finished.
  void abandon() { active_.clear(); }

 private:
  void start_ready();
  [[nodiscard]] bool ready(const Operation& operation) const;
  [[nodiscard]] bool engine_free(EngineId engine) const;
  [[nodiscard]] double rate(const Operation& operation) const;
  /// When the phase that a running operation is in will end, if nothing changes before.
  [[nodiscard]] double phase_end(const Operation& operation) const;
  void finish(Operation& operation);

  double duplex_ratio_;
  double now_ = 0;
  std::vector<OperationPtr> active_;  // waiting or running, in order of submission
};

}  // namespace xferbench::sim
