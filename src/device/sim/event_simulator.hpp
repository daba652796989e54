// A discrete-event model: operations with dependencies that compete for engines and links. Knows nothing of memory,
// streams, devices or CUDA; times are seconds of a virtual clock.
//
// It shares nothing with the prediction in model/pipeline.hpp, on purpose: each is what the other is checked against
// (tests/sim/pipeline_model_test.cpp), and an error in a shared engine would be in both and seen by neither. Against an
// error of thought that is in both stands a third way of computing schedules, in tests/sim/schedule_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace xferbench::sim {

/// What runs operations one at a time, or several whose shares fit. Which devices they belong to does not matter.
enum class EngineId : std::size_t {
  none,  ///< free for any number
};

/// A link that carries payload in two directions: a GPU's own, or one that several share.
enum class LinkId : std::size_t {};

/// The directions of a link that an operation's payload moves in.
enum class Way { none, h2d, d2h, both };

struct Operation {
  EngineId engine = EngineId::none;
  double share = 1;  ///< of an engine that can be shared; in (0, 1]
  LinkId link{};     ///< that the payload moves over, if it does
  /// Slowed as the link's Duplex says while the opposite direction moves payload too, and to a part of the rate while
  /// others move payload in the same direction. What `both` costs by itself is part of its payload.
  Way way = Way::none;
  double submitted = 0;  ///< the host enqueued it then; it cannot start earlier
  double overhead = 0;   ///< time on the engine before the payload; while it runs, what is left of it at now()
  double payload = 0;    ///< time of the payload alone at full rate; while it runs, what is left of it
  std::vector<std::shared_ptr<const Operation>> after;  ///< must have finished before it starts
  std::function<void()> on_start;                       ///< reads the sources
  std::function<void()> on_finish;                      ///< commits the results

  // Maintained by EventSimulator.
  enum class State { waiting, running, finished };
  State state = State::waiting;
  double started = 0;
  double finished = 0;
  std::uint64_t serial = 0;                    ///< tells apart what was submitted at the same time
  std::size_t unmet = 0;                       ///< dependencies that have not finished
  mutable std::vector<Operation*> successors;  ///< what waits for it; also where it can only be read, as in `after`

  [[nodiscard]] bool done() const { return state == State::finished; }
};
using OperationPtr = std::shared_ptr<Operation>;

/// What each direction of a link suffers while the other one moves payload, over the same alone. They need not suffer
/// alike.
struct Duplex {
  double h2d_rate = 1;
  double d2h_rate = 1;
  double h2d_overhead = 1;
  double d2h_overhead = 1;
};

/// Takes O(log n) for each of n operations, and time in proportion to what runs at once for each step.
class EventSimulator {
 public:
  enum class Sharing { one_at_a_time, by_share };

  EventSimulator() = default;
  EventSimulator(const EventSimulator&) = delete;
  EventSimulator& operator=(const EventSimulator&) = delete;
  ~EventSimulator() { abandon(); }

  [[nodiscard]] EngineId add_engine(Sharing sharing);
  [[nodiscard]] LinkId add_link(const Duplex& duplex);

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
  void abandon();

 private:
  /// In order of submission. Threads of the host are simulated in turns, so an operation may be added a little late.
  struct Earlier {
    bool operator()(const Operation* a, const Operation* b) const {
      return std::pair(a->submitted, a->serial) < std::pair(b->submitted, b->serial);
    }
  };
  using Queue = std::set<Operation*, Earlier>;

  struct Engine {
    Sharing sharing;
    Queue ready{};         // whose time and dependencies have come
    double occupied = 0;   // sum of shares that run
    std::size_t busy = 0;  // operations that run
  };
  struct Link {
    Duplex duplex;
    /// How many operations move payload in each direction now; see weigh().
    unsigned h2d = 0;
    unsigned d2h = 0;
  };

  /// Its time has come; it waits for dependencies or for its engine.
  void arrive(Operation& operation);
  void let_arrive();
  void start_ready();
  /// What needs no engine and no time, as a wait for an event that has happened, is done at once: what stands behind it
  /// competes for its engine from now on, and not only after others have taken it.
  void pass_through();
  /// The first of those that are ready and find room on their engine; nullptr if there is none.
  [[nodiscard]] Operation* next_to_start() const;
  [[nodiscard]] bool has_room(const Operation& operation) const;
  [[nodiscard]] Engine& engine_of(const Operation& operation);
  void start(Operation& operation);
  /// Counts what each link carries now, for rate() and phase_end().
  void weigh();
  [[nodiscard]] double rate(const Operation& operation) const;
  /// When the phase that a running operation is in will end, if nothing changes before.
  [[nodiscard]] double phase_end(const Operation& operation) const;
  void finish(Operation& operation);

  std::vector<Engine> engines_{{Sharing::by_share}};  // by EngineId; the first is `none`
  std::vector<Link> links_;                           // by LinkId
  double now_ = 0;
  std::uint64_t added_ = 0;
  std::unordered_map<const Operation*, OperationPtr> active_;  // waiting or running: keeps them alive
  Queue future_;                                               // submitted after now
  std::vector<Operation*> running_;                            // in order of submission
};

}  // namespace xferbench::sim
