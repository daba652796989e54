// A discrete-event model: operations with dependencies that compete for engines and links. Knows nothing of memory,
// streams, devices or CUDA; times are seconds of a virtual clock.
//
// An operation occupies an engine, first for its overhead and then for its payload, which moves over any number of
// links at once, as fast as the slowest lets it. There are two kinds of links:
// - those of one GPU. All that move payload in the same direction have equal parts of their rates, and each direction
//   is slowed by a factor of its own (Duplex) while the other one moves payload;
// - those that GPUs share: bridges, sockets. They carry what is asked of them up to a capacity and slow all in
//   proportion where more is asked. The capacity of a direction falls with what the other one is asked for, from
//   Capacity::in to Capacity::duplex_in where that is as much as it can carry alone.
// What an operation asks of a shared link is what the links of single GPUs leave it. That a second shared link slows it
// further is not taken into account, so nothing ever carries too much, and where two are too small for the same
// operation one of them a little less than it could.
//
// From the end of an operation to the start of one on another engine that waited for it, time passes in which neither
// works (set_handover), and an engine that takes up work of another stream than before needs time for that, too
// (set_stream_switch).
//
// It shares nothing with the prediction in model/pipeline.hpp, on purpose: each is what the other is checked against
// (tests/sim/pipeline_model_test.cpp), and an error in a shared engine would be in both and seen by neither. Against an
// error of thought that is in both stands a third way of computing schedules, in tests/sim/schedule_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/non_copyable.hpp"

namespace xferbench::sim {

/// What runs operations one at a time, or several whose shares fit. Which devices they belong to does not matter.
enum class EngineId : std::size_t {
  none,  ///< free for any number
};

/// A link that carries payload in two directions: a GPU's own, or one that several share.
enum class LinkId : std::size_t {};

/// What an operation at full rate moves over a link, in bytes per second each way; 0: nothing. What both ways at once
/// cost it by itself is part of its payload.
struct Use {
  LinkId link{};
  double in = 0;
  double out = 0;
  double duplex = 1;  ///< its rate while others move payload in the opposite direction, over what the link leaves it
  friend bool operator==(const Use&, const Use&) = default;
};

struct Operation {
  EngineId engine = EngineId::none;
  /// Of one without an engine: whose work it stands for, to those that follow it. None: that of which it follows.
  EngineId stands_for = EngineId::none;
  const void* stream = nullptr;  ///< only tells streams apart
  double share = 1;              ///< of an engine that can be shared; in (0, 1]
  std::vector<Use> uses;         ///< links that the payload moves over
  double submitted = 0;          ///< the host enqueued it then; it cannot start earlier
  double preparation = 0;        ///< time on the engine before all else, at full rate whatever goes on
  double overhead = 0;           ///< time on the engine before the payload; while it runs, what is left of it at now()
  double payload = 0;            ///< time of the payload alone at full rate; while it runs, what is left of it
  std::vector<std::shared_ptr<const Operation>> after;  ///< must have finished before it starts
  std::function<void()> on_start;                       ///< reads the sources
  std::function<void()> on_finish;                      ///< commits the results

  // Maintained by EventSimulator.
  enum class State { waiting, running, finished };
  State state = State::waiting;
  double started = 0;
  double finished = 0;
  double rate = 1;           ///< of the phase that it is in, over the full one
  std::uint64_t serial = 0;  ///< tells apart what was submitted at the same time
  std::size_t unmet = 0;     ///< dependencies that have not finished
  double handed_over = 0;    ///< when the last of those that have finished is seen by its engine
  /// Of one without an engine: on which engines that ended which it followed, and when, as those behind it see it.
  std::vector<std::pair<EngineId, double>> origins;
  mutable std::vector<Operation*> successors;  ///< what waits for it; also where it can only be read, as in `after`

  [[nodiscard]] bool done() const { return state == State::finished; }
};
using OperationPtr = std::shared_ptr<Operation>;

/// What each direction of a GPU's link suffers while the other one moves payload, over the same alone. They need not
/// suffer alike.
struct Duplex {
  double in_rate = 1;
  double out_rate = 1;
  double in_overhead = 1;
  double out_overhead = 1;
};

/// What a shared link carries of all operations together, in bytes per second each way: while the other direction is
/// idle, and while it is asked for all that it carries alone.
struct Capacity {
  double in = 0;
  double out = 0;
  double duplex_in = 0;
  double duplex_out = 0;
};

/// Takes O(log n) for each of n operations, and time in proportion to what runs at once for each step.
class EventSimulator : NonCopyable {
 public:
  enum class Sharing { one_at_a_time, by_share };

  /// Gives what the duration of the next operation that occupies an engine is multiplied by.
  using Stretch = std::function<double()>;

  explicit EventSimulator(Stretch stretch = nullptr) : stretch_(std::move(stretch)) {}
  ~EventSimulator() { abandon(); }

  [[nodiscard]] EngineId add_engine(Sharing sharing);
  [[nodiscard]] LinkId add_link(const Duplex& duplex);
  [[nodiscard]] LinkId add_shared_link(const Capacity& capacity);
  /// Seconds from the end of an operation on one engine to the start of one on the other that waited for it.
  void set_handover(EngineId from, EngineId to, double seconds);
  /// Seconds of an engine that takes up work of another stream than before.
  void set_stream_switch(EngineId engine, double seconds);

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
    double stream_switch = 0;
    const void* stream = nullptr;  // of the operation before, ...
    double idle_since = 0;         // ... and when that finished
  };
  struct Link {
    Duplex duplex{};
    std::optional<Capacity> capacity{};  // of a shared one
    // What it carries now; see weigh().
    unsigned movers_in = 0;  // operations that move payload each way
    unsigned movers_out = 0;
    unsigned users_in = 0;  // the same with those that do not yet
    unsigned users_out = 0;
    double asked_in = 0;  // bytes per second that they would move each way if it were not for shared links
    double asked_out = 0;
  };

  /// Its time has come; it waits for dependencies, to be handed over, or for its engine.
  void arrive(Operation& operation);
  void follow(Operation& operation, const Operation& before) const;
  [[nodiscard]] double handover(EngineId from, EngineId to) const;
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
  /// Sets the rates of all that run, from what each link carries now.
  void weigh();
  /// What links of single GPUs leave an operation of its rate, and what shared ones leave its payload of that.
  [[nodiscard]] double rate_of_own_links(const Operation& operation);
  [[nodiscard]] double rate_of_shared_links(const Operation& operation);
  [[nodiscard]] Link& link_of(const Use& use) { return links_[static_cast<std::size_t>(use.link)]; }
  /// When the phase that a running operation is in will end, if nothing changes before.
  [[nodiscard]] double phase_end(Operation& operation) const;
  void finish(Operation& operation);

  Stretch stretch_;                                   // null: everything takes what it says
  std::vector<Engine> engines_{{Sharing::by_share}};  // by EngineId; the first is `none`
  std::vector<Link> links_;                           // by LinkId
  double now_ = 0;
  std::uint64_t added_ = 0;
  std::unordered_map<const Operation*, OperationPtr> active_;  // waiting or running: keeps them alive
  Queue future_;                                               // submitted after now
  std::set<std::pair<double, Operation*>> on_the_way_;         // by when they will have been handed over
  std::map<std::pair<EngineId, EngineId>, double> handovers_;
  std::vector<Operation*> running_;  // in order of submission
};

}  // namespace xferbench::sim
