// A region of device work and how it is timed.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/on_exit.hpp"
#include "device/machine.hpp"
#include "results/result.hpp"

namespace xferbench {

/// Times the parts of one pass over a region of the host's clock; the region hands one to its `steps`.
class LapTimer {
 public:
  LapTimer(const HostRuntime& host, std::vector<std::vector<double>>& parts) : host_(host), parts_(parts) { restart(); }

  /// The part that began at the last restart() or lap() ends here.
  void lap(std::size_t part) {
    const double now = host_.now();
    add(part, now - begun_);
    restart();
  }
  /// What was done since the last lap belongs to no part.
  void restart() { begun_ = host_.now(); }
  /// A value that was measured in another way. A part may have several values in one pass.
  void add(std::size_t part, double value) { parts_.at(part).push_back(value); }

 private:
  const HostRuntime& host_;
  std::vector<std::vector<double>>& parts_;
  double begun_ = 0;
};

/// Events resolve about 0.5 us: what is shorter than this (seconds) is repeated within a sample.
inline constexpr double kShortestSample = 200e-6;

/// Work to time, described by the scenario.
///
/// By events: `submit` enqueues the work to `streams`, the first being the root, where the region's start and stop are
/// recorded; every other stream waits for the start, and the root waits for them all before the stop.
///
/// Where the streams are of several devices, the first of each device is held by the gate itself and begins its
/// device's part, so that all begin at once: a wait for an event of another device would take microseconds. Each
/// device's part is timed, too: see kGpuTime.
///
/// By the host's clock: `submit` does the work and waits for its end itself, or `steps` does so and times parts of it.
/// With neither, this process has no part in what others do meanwhile, and its passes take no time at all.
struct Region {
  std::string name{};
  Clock clock = Clock::event;  ///< event_gated becomes event where more would be queued than a gate should hold
  std::vector<StreamView> streams{};
  std::function<void()> submit{};  ///< enqueues the work once
  std::size_t operations = 1;      ///< how much one submit() enqueues to the busiest of the streams
  /// Also time when each stream finished (unbatched regions only): from the region's begin, or, where there are several
  /// devices, from that of its own device's part, by that device's clock.
  bool per_stream = false;
  bool batchable = true;              ///< may be repeated within one sample when it is too short for the clock
  double shortest = kShortestSample;  ///< seconds below which it is
  unsigned batch = 0;                 ///< repetitions within one sample however long they take; 0: as `shortest` says
  /// Its time is held against that of the first region sampled beside it that says so, too, and what each pass takes by
  /// itself (see model::StageCosts::start) has to be in both alike. Where it is repeated more or less often than that
  /// one, it is therefore sampled as often as that besides: a series of its own, named after it with kAlikeSuffix.
  bool repeated_alike = false;
  bool waits = false;  ///< submit() returns only when the work has ended, so that nobody needs to wait for it
  /// Over several devices: may be repeated although the streams do not wait for each other in between.
  bool back_to_back = false;
  /// What it does is warmed up by another region, sampled beside it or before: only lazy loading is left to do.
  bool warmed_by_another = false;
  std::function<void()> reset{};  ///< makes ready for a pass, untimed; a region that has one is never batched
  /// Throws VerificationError unless what the last pass left behind is right. Called right after a pass, untimed, and
  /// before any other region's. May use what it likes, but leaves what passes read as it was. Empty where a pass leaves
  /// nothing behind whose right content is known, whatever ran before.
  std::function<void()> check{};
  std::optional<int> gpu{};  ///< as Measurement::gpu

  struct Part {
    std::string name;
    Clock clock = Clock::host;
    std::string unit = "s";
    bool decides = false;      ///< its interval, too, must be narrow enough before sampling may stop
    std::optional<int> gpu{};  ///< as Measurement::gpu
  };
  std::vector<Part> parts{};               ///< what `steps` times
  std::function<void(LapTimer&)> steps{};  ///< instead of submit; only with the host's clock
};

inline constexpr const char* kAlikeSuffix = "-alike";  ///< see Region::repeated_alike

/// Parts that every region over several devices has, the first two once for each device, in the order of their first
/// streams.
inline constexpr const char* kGpuTime = "gpu-time";  ///< a device's part from its begin to its end, by its own clock
inline constexpr const char* kGpuEnd = "gpu-end";    ///< from the region's begin to a device's end, by the root's clock
inline constexpr const char* kSinceOpening = "host-time";  ///< from opening the gate to the host seeing the last end

/// By the host's clock, in steps that time its parts.
Region in_steps(std::string name, std::vector<Region::Part> parts, std::function<void(LapTimer&)> steps);

/// The work of several regions, each on a device of its own, at once. The regions are by events.
Region at_once(std::string name, std::vector<Region> regions);

/// What a program sees of a region by events that wants its result: by the host's clock from the first call that
/// submits the work to the return of the wait for its end, with no gate and no events around it. It waits for each
/// stream in turn, as programs do; waits for those that have ended return at once. Never batched: a program that calls
/// once for each result is meant.
Region wall_of(const Region& region);
inline constexpr const char* kWall = "wall";             ///< its name
inline constexpr const char* kWallCalls = "wall-calls";  ///< its part: the calls that submit the work

/// Whether a gate can hold back one pass over the region.
bool fits_gate(const Region& region);
/// Times that are to be compared must be by one clock: where one of them fits no gate, all go without.
void use_common_clock(std::initializer_list<Region*> regions);

/// One timed pass, in seconds per repetition.
struct Timing {
  double elapsed = 0;
  double submit = 0;                       ///< from the first call of submit() to the return of the last
  std::vector<double> stream_times;        ///< as Region::per_stream says; empty unless asked for
  std::vector<std::vector<double>> parts;  ///< values of each part in this pass
};

/// Owns the events and the gate of one region and times it.
class RegionTimer {
 public:
  /// More operations than this in one stream behind a closed gate can fill its queue (an H200's driver takes about 1000
  /// launches), and then the host waits for a gate that it has not opened.
  static constexpr std::size_t kGateLimit = 512;
  /// Operations of the busiest stream that one pass queues up, with those that start and join `streams`.
  [[nodiscard]] static std::size_t queued(std::size_t operations, std::size_t streams);
  /// Whether so much fits behind a gate.
  [[nodiscard]] static bool fits_gate(std::size_t operations, std::size_t streams) {
    return queued(operations, streams) <= kGateLimit;
  }
  /// How many passes fit behind a gate together, at least one.
  [[nodiscard]] static unsigned most_behind_gate(std::size_t operations, std::size_t streams);

  RegionTimer(Machine& machine, Region region);

  [[nodiscard]] const Region& region() const { return region_; }
  [[nodiscard]] unsigned batch() const { return batch_; }
  /// Passes so far that failed because the gate timed out.
  [[nodiscard]] std::size_t gate_timeouts() const { return gate_timeouts_; }
  /// Seconds that the last pass took until all was ready and its work could be let go.
  [[nodiscard]] double preparation() const { return preparation_; }

  /// Runs once, ungated and waits: loads what is loaded lazily. Returns its time.
  Timing run_ungated();
  /// Chooses the number of repetitions from timed passes, for samples of so many seconds at least, where the region
  /// does not want more. One pass at least, even where the region says how many: it may be all the warm-up there is.
  void choose_batch(double shortest = 0);
  /// As others have chosen it; nothing where the region is never batched.
  void set_batch(unsigned batch);
  /// Nothing if the gate timed out: then the sample has failed, not the process.
  /// `before_start` is called once all is ready and right before the work is let go.
  std::optional<Timing> time(const std::function<void()>& before_start = [] {});

 private:
  /// The streams of one device, and when they begin and end.
  struct Lane {
    std::vector<StreamView> streams;  // the first begins and ends the device's part
    std::vector<std::size_t> places;  // of the same, among the region's streams
    Event begun;                      // these are of the device itself, ...
    Event forked;
    std::vector<Event> joined;  // ... one per stream, the first's used only where streams are timed
    Event ended;
    Stream watch;  // and these of the root's device; none where that is the same
    Event seen;
  };

  void add_lanes(Device& root);
  Timing run(bool gated, const std::function<void()>& before_start);
  Timing run_by_host_clock();
  /// Returns whether all streams were there when the gate opened.
  bool run_lanes(bool gated, const std::function<void()>& before_start, Timing& timing);
  void begin_lanes(bool gated);
  void end_lanes();
  /// Opens the gate however a scope is left: a region that throws while it is closed must not hold the GPU until the
  /// time-out.
  [[nodiscard]] auto opening(bool gated) {
    return OnExit([this, gated] {
      if (gated) gate_.open();
    });
  }
  void fork();
  void join();
  [[nodiscard]] unsigned largest_batch() const;

  HostRuntime& host_;
  Region region_;
  unsigned batch_ = 1;
  std::size_t gate_timeouts_ = 0;
  double preparation_ = 0;
  bool all_were_there_ = true;  // at the last pass that was gated
  // With the host's clock there are none of these. All are of the root's device but those that are joined.
  Event start_;
  Event stop_;
  Event forked_;
  std::vector<Event> joined_;  // one per stream but the root; one more for the root where streams are timed
  std::vector<Lane> lanes_;    // of several devices, the root's first; else empty
  Gate gate_;
};

/// What `pass` returns once it returns something: a gate can time out where the host was interrupted. Throws
/// MeasurementError, which begins with `doing`, after the fifth failure in a row.
template <class Pass>
auto until_gate_holds(const std::string& doing, const Pass& pass) {
  constexpr int kMostAttempts = 5;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    if (auto result = pass()) return *std::move(result);
  }
  throw MeasurementError(doing +
                         ": the gate that holds back the stream timed out again and again; the host is too "
                         "busy to submit the work, or another program stops it");
}

/// While what it returns lives passes are timed or traced: they need no data on a machine whose times are modelled, and
/// are not checked there.
inline auto timed_passes(Machine& machine) {
  machine.set_data_movement(false);
  return OnExit([&machine] { machine.set_data_movement(true); });
}

/// Runs a region once, untimed.
void run_once(Machine& machine, const Region& region);
/// The same, after `prepare`: for verification passes.
void run_once(Machine& machine, const Region& region, const std::function<void()>& prepare);

/// Runs a region once exactly as a timed pass does, behind the gate where it has one: for the check that results are
/// right at full speed, too. `prepare`, as poisoning, is called before the pass, and again where the gate timed out and
/// the pass is repeated: what the first one left would be taken for the second one's. Throws MeasurementError if that
/// happens again and again.
void run_at_full_speed(Machine& machine, const Region& region, const std::function<void()>& prepare);

/// How a region is run to be verified: one of these two.
using VerifiedRun = void (*)(Machine& machine, const Region& region, const std::function<void()>& prepare);

}  // namespace xferbench
