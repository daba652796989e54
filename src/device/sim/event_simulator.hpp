// A discrete-event simulator: operations with dependencies compete for engines and links. It does not know memory,
// devices or CUDA. Times are seconds of a virtual clock.
//
// An operation occupies an engine for its overhead and then for its payload. The payload moves over any number of links
// at once, at the rate of the slowest. There are two kinds of links:
// - A link of one GPU. All payloads in one direction share its rate equally. Each direction is slowed by a factor of
//   its own (Duplex) while the other direction moves payload.
// - A link shared by several GPUs (bridge, socket). It carries the demand up to a capacity and slows all payloads in
//   proportion beyond it. The capacity of a direction falls with the demand in the other direction, from Capacity::in
//   to Capacity::duplex_in at full opposite demand.
// The demand of an operation on a shared link is the rate that the links of its own GPU allow. The simulator ignores
// that a second shared link may slow the operation further. So no link is ever overloaded, but if two shared links
// limit the same operation, one of them is slightly underused.
//
// Between the end of an operation and the start of a dependent one on another engine lies a handover time
// (set_handover). An engine that continues with another stream than before loses a stream switch time
// (set_stream_switch).
//
// The simulator deliberately shares no code with the prediction in model/pipeline.hpp: tests check each against the
// other (tests/sim/pipeline_model_test.cpp), and an error in shared code would go unnoticed. A third, independent
// scheduler in tests/sim/schedule_test.cpp guards against an error of reasoning in both.
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

/// Index of an engine, which executes one operation at a time, or several whose shares add up to at most 1.
enum class EngineId : std::size_t {
  none,  ///< no engine: any number of operations run at once
};

/// Index of a bidirectional link, which belongs to one GPU or is shared by several.
enum class LinkId : std::size_t {};

/// Traffic of an operation over a link, in bytes per second each way while the operation runs at full rate; 0: none. If
/// the operation uses both directions, Operation::payload already includes their mutual slowdown.
struct Use {
  LinkId link{};
  double in = 0;
  double out = 0;
  double duplex = 1;  ///< factor on the rate while the opposite direction is used, in addition to the link's Duplex
  friend bool operator==(const Use&, const Use&) = default;
};

struct Operation {
  EngineId engine = EngineId::none;
  /// For an operation without an engine: the engine whose handover times apply to its successors. If this is none, the
  /// handover times of the predecessors' engines apply (origins).
  EngineId stands_for = EngineId::none;
  const void* stream = nullptr;  ///< identifies the stream, for stream switches; never dereferenced
  double share = 1;              ///< part of an engine with Sharing::by_share that the operation occupies, in (0, 1]
  std::vector<Use> uses;         ///< links over which the payload moves
  double submitted = 0;          ///< virtual time of submission; the operation cannot start earlier
  double preparation = 0;        ///< remaining seconds of a stream switch before the overhead; links do not slow it
  double overhead = 0;           ///< remaining seconds on the engine before the payload starts
  double payload = 0;            ///< remaining seconds of the payload at full rate
  std::vector<std::shared_ptr<const Operation>> after;  ///< operations that must finish before this one starts
  std::function<void()> on_start;                       ///< called when the operation starts; reads its sources
  std::function<void()> on_finish;                      ///< called when the operation ends; writes its results

  // The following members are maintained by EventSimulator.
  enum class State { waiting, running, finished };
  State state = State::waiting;
  double started = 0;
  double finished = 0;
  double rate = 1;           ///< rate of the current phase, relative to full rate
  std::uint64_t serial = 0;  ///< number in order of add(); decides between equal submission times
  std::size_t unmet = 0;     ///< number of unfinished dependencies
  double handed_over = 0;    ///< earliest start: maximum of end plus handover time over all finished dependencies
  /// Only for an operation without an engine, such as an event: the engines on which the work before it ran, each with
  /// the time from which the handover to the next engine counts.
  std::vector<std::pair<EngineId, double>> origins;
  mutable std::vector<Operation*> successors;  ///< operations that wait for this one; mutable, because `after` is const

  [[nodiscard]] bool done() const { return state == State::finished; }
};
using OperationPtr = std::shared_ptr<Operation>;

/// Factors on rate (at most 1) and overhead (at least 1) of each direction of a GPU's link, which apply while the
/// opposite direction is in use.
struct Duplex {
  double in_rate = 1;
  double out_rate = 1;
  double in_overhead = 1;
  double out_overhead = 1;
};

/// Total capacity of a shared link each way, in bytes per second: `in` and `out` apply while the opposite direction is
/// idle, `duplex_in` and `duplex_out` while it is fully loaded.
struct Capacity {
  double in = 0;
  double out = 0;
  double duplex_in = 0;
  double duplex_out = 0;
};

/// Simulates operations on engines and links. Adding one of n operations takes O(log n); each step takes time
/// proportional to the number of running operations.
class EventSimulator : NonCopyable {
 public:
  enum class Sharing { one_at_a_time, by_share };

  /// Function that returns a random factor for the duration of the next operation on an engine.
  using DurationFactor = std::function<double()>;

  explicit EventSimulator(DurationFactor duration_factor = nullptr) : duration_factor_(std::move(duration_factor)) {}
  ~EventSimulator() { abandon(); }

  [[nodiscard]] EngineId add_engine(Sharing sharing);
  [[nodiscard]] LinkId add_link(const Duplex& duplex);
  [[nodiscard]] LinkId add_shared_link(const Capacity& capacity);
  /// Sets the seconds between the end of an operation on `from` and the start of a dependent operation on `to`.
  void set_handover(EngineId from, EngineId to, double seconds);
  /// Sets the seconds that an engine loses when its next operation is of another stream than its previous one.
  void set_stream_switch(EngineId engine, double seconds);

  [[nodiscard]] double now() const { return now_; }

  /// Operations that are ready on one engine at the same time start in order of submission.
  void add(OperationPtr operation);

  /// Advances the clock only to the next start or end of a phase. A host thread that wakes at that time can thus submit
  /// work that competes with running work. Returns false if nothing is left to happen.
  bool step();
  /// Returns the time of the next step if nothing is submitted before; infinity if there is no further step.
  double next_change();
  /// Whether all operations have finished.
  [[nodiscard]] bool idle() const { return active_.empty(); }
  void run_all();
  /// Discards all unfinished operations.
  void abandon();

 private:
  /// Order of submission times. It can differ from the order of add(), because host threads are simulated in turns.
  struct Earlier {
    bool operator()(const Operation* a, const Operation* b) const {
      return std::pair(a->submitted, a->serial) < std::pair(b->submitted, b->serial);
    }
  };
  using Queue = std::set<Operation*, Earlier>;

  struct Engine {
    Sharing sharing;
    Queue ready{};         // operations that can start: submitted, and all their dependencies have finished
    double occupied = 0;   // sum of the shares of the running operations
    std::size_t busy = 0;  // number of running operations
    double stream_switch = 0;
    const void* stream = nullptr;  // stream of the previous operation
    double idle_since = 0;         // time at which an operation last finished
  };
  struct Link {
    Duplex duplex{};
    std::optional<Capacity> capacity{};  // only for shared links
    // The following members are the current load, which weigh() computes.
    unsigned movers_in = 0;  // number of operations that move payload, each way
    unsigned movers_out = 0;
    unsigned users_in = 0;  // number of operations that use the link, each way, including those still in their overhead
    unsigned users_out = 0;
    double asked_in = 0;  // demand in bytes per second, each way, before shared links slow it
    double asked_out = 0;
  };

  /// Called at the submission time and when the last dependency finishes. The later call queues the operation on its
  /// engine, at once or when its handover ends.
  void arrive(Operation& operation);
  void follow(Operation& operation, const Operation& before) const;
  [[nodiscard]] double handover(EngineId from, EngineId to) const;
  void admit_arrivals();
  void start_ready();
  /// Completes operations that need no engine and no time, such as a wait for a past event, before an engine starts its
  /// next operation. So the successors of the completed operations compete for that engine, too.
  void pass_through();
  /// Returns the earliest submitted ready operation whose engine has room; nullptr if there is none.
  [[nodiscard]] Operation* next_to_start() const;
  [[nodiscard]] bool has_room(const Operation& operation) const;
  [[nodiscard]] Engine& engine_of(const Operation& operation);
  void start(Operation& operation);
  /// Sets the rates of all running operations from the current link loads.
  void weigh();
  /// rate_of_own_links() returns the rate that the links of single GPUs allow, as a fraction of full rate;
  /// rate_of_shared_links() returns the factor by which shared links reduce that rate.
  [[nodiscard]] double rate_of_own_links(const Operation& operation);
  [[nodiscard]] double rate_of_shared_links(const Operation& operation);
  [[nodiscard]] Link& link_of(const Use& use) { return links_[static_cast<std::size_t>(use.link)]; }
  /// Returns the time at which the current phase of a running operation ends if its rate does not change.
  [[nodiscard]] double phase_end(Operation& operation) const;
  void finish(Operation& operation);

  DurationFactor duration_factor_;                    // null: durations do not vary
  std::vector<Engine> engines_{{Sharing::by_share}};  // indexed by EngineId; the first is `none`
  std::vector<Link> links_;                           // indexed by LinkId
  double now_ = 0;
  std::uint64_t added_ = 0;
  std::unordered_map<const Operation*, OperationPtr> active_;  // owns all waiting and running operations
  Queue future_;                                               // operations whose submission time is in the future
  std::set<std::pair<double, Operation*>> on_the_way_;  // operations in a handover, each with the time at which it ends
  std::map<std::pair<EngineId, EngineId>, double> handovers_;
  std::vector<Operation*> running_;  // in order of submission
};

}  // namespace xferbench::sim
