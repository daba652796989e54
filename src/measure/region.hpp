// Describes a region (work on streams or on the host whose time is measured) and times it.
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

/// Times the parts of one pass with the host's clock. Region::steps calls lap() after each part.
class LapTimer {
 public:
  LapTimer(const HostRuntime& host, std::vector<std::vector<double>>& parts) : host_(host), parts_(parts) { restart(); }

  /// Ends part number `part`, which began at the last restart() or lap(), and stores its time.
  void lap(std::size_t part) {
    const double now = host_.now();
    add(part, now - begun_);
    restart();
  }
  /// Begins the next part now, so that no part includes the time since the last lap().
  void restart() { begun_ = host_.now(); }
  /// Adds a value that lap() does not measure, in the part's unit. A part may get several values per pass.
  void add(std::size_t part, double value) { parts_.at(part).push_back(value); }

 private:
  const HostRuntime& host_;
  std::vector<std::vector<double>>& parts_;
  double begun_ = 0;
};

/// Minimum seconds per sample. CUDA events resolve about 0.5 us, so shorter work is repeated within a sample.
inline constexpr double kShortestSample = 200e-6;

/// Work to time, as a scenario describes it. One execution of the work is a pass.
///
/// With an event clock, `submit` enqueues the work to `streams`. The start and stop events are recorded in the first
/// stream, the root stream. All other streams wait for the start, and the root waits for all before the stop.
///
/// With streams of several devices, the gate holds the first stream of each device directly, because waiting for an
/// event of another device would add microseconds. So all devices start at the same time. The work of each device is
/// also timed separately: see kGpuTime.
///
/// With the host's clock, `submit` does the work and waits for its end, or `steps` does so and also times parts of the
/// work. A region with neither function represents a process that is idle while other processes work; its passes take
/// no time.
struct Region {
  std::string name{};
  Clock clock = Clock::event;  ///< event_gated becomes event if a pass enqueues more operations than a gate can hold
  std::vector<StreamView> streams{};
  std::function<void()> submit{};  ///< enqueues the work once
  std::size_t operations = 1;      ///< number of operations that one submit() enqueues to the busiest stream
  /// Whether to time the end of each stream as well, relative to the region's start (only if the batch is 1). With
  /// several devices, the time is relative to the start of the stream's own device, by that device's clock.
  bool per_stream = false;
  bool batchable = true;  ///< whether a pass that is too short for the clock may be repeated within one sample
  double shortest = kShortestSample;  ///< seconds; shorter passes are repeated within a sample
  unsigned batch = 0;  ///< fixed number of passes per sample; 0: chosen so that a sample takes at least `shortest`
  /// Whether this region's time is compared with the time of the first region that has this flag. Both times must then
  /// include the same share of the fixed start cost (model::StageCosts::start). If the batches differ, this region is
  /// also sampled with the first region's batch, as an auxiliary series with the suffix kAlikeSuffix.
  bool same_batch = false;
  bool waits = false;  ///< submit() returns only after the work has finished, so wall_region() needs no wait
  /// With several devices: whether passes may follow each other without synchronizing the streams in between.
  bool back_to_back = false;
  /// Whether another region warms up the same work, in this or an earlier sample() call. As warm-up of this region,
  /// a single pass is then enough, which triggers lazy loading.
  bool warmed_by_another = false;
  std::function<void()> reset{};  ///< prepares each pass and is not timed; if set, the batch is 1
  /// Throws VerificationError if the last pass left wrong results. The sampler calls it untimed, right after a pass and
  /// before any other region runs. It may use the device, but must not change the inputs of passes. Empty if a pass
  /// leaves no result that can be checked independently of earlier passes.
  std::function<void()> check{};
  std::optional<int> gpu{};  ///< number of the measured GPU; empty unless several GPUs are measured separately

  struct Part {
    std::string name;
    Clock clock = Clock::host;
    std::string unit = "s";
    bool decides = false;      ///< whether sampling also waits until the interval of this part is narrow enough
    std::optional<int> gpu{};  ///< number of the measured GPU; empty unless several GPUs are measured separately
  };
  std::vector<Part> parts{};               ///< the parts of a pass that `steps` times
  std::function<void(LapTimer&)> steps{};  ///< with Clock::host: does and times the work, in place of `submit`
};

inline constexpr const char* kAlikeSuffix = "-alike";  ///< suffix of the auxiliary series that Region::same_batch adds

/// Names of the parts of every region that uses several devices. kGpuTime and kGpuEnd exist once per device, in the
/// order of the devices' first streams.
inline constexpr const char* kGpuTime = "gpu-time";  ///< time that a device's work takes, by that device's clock
inline constexpr const char* kGpuEnd = "gpu-end";    ///< time from region start to a device's end, by the root's clock
inline constexpr const char* kSinceOpening = "host-time";  ///< host time from opening the gate to the end of all work

/// Makes a region with Clock::host whose `steps` time its parts.
Region stepped_region(std::string name, std::vector<Region::Part> parts, std::function<void(LapTimer&)> steps);

/// Makes one region that runs event-timed regions at the same time, each on its own device.
Region at_once(std::string name, std::vector<Region> regions);

/// Makes a region that measures the time to result of an event-timed region: the host time from the first submitting
/// call until the wait for the end returns, without gate and events. It waits for each stream in turn, as programs do;
/// waits for finished streams return at once. Its batch is always 1, because a real program needs each result.
Region wall_region(const Region& region);
inline constexpr const char* kWall = "wall";
inline constexpr const char* kWallCalls = "wall-calls";  ///< part of a wall_region(): host time of the submitting calls

/// Whether one pass of the region can be enqueued behind a closed gate without filling a stream's queue.
bool fits_gate(const Region& region);
/// Gives all regions the same clock for comparisons: if one does not fit behind a gate, all are timed without one.
void use_common_clock(std::initializer_list<Region*> regions);

/// Times of one sample, in seconds per pass.
struct Timing {
  double elapsed = 0;
  double submit = 0;                 ///< host time inside submit()
  std::vector<double> stream_times;  ///< end time of each stream; empty unless Region::per_stream is set
  std::vector<std::vector<double>> parts;
};

/// Times the passes of one region. Owns the necessary events, and the gate that holds streams until the host opens it.
class RegionTimer {
 public:
  /// Maximum number of operations per stream behind a closed gate. More could fill the stream's queue (an H200's driver
  /// accepts about 1000 launches). The submitting host thread would then wait for a gate that only it can open.
  static constexpr std::size_t kGateLimit = 512;
  /// Number of operations that one pass enqueues to the busiest stream, including those that fork and join streams.
  [[nodiscard]] static std::size_t queued(std::size_t operations, std::size_t streams);
  [[nodiscard]] static bool fits_gate(std::size_t operations, std::size_t streams) {
    return queued(operations, streams) <= kGateLimit;
  }
  /// Returns the number of passes that fit behind a closed gate together; at least one.
  [[nodiscard]] static unsigned most_behind_gate(std::size_t operations, std::size_t streams);

  RegionTimer(Machine& machine, Region region);

  [[nodiscard]] const Region& region() const { return region_; }
  [[nodiscard]] unsigned batch() const { return batch_; }
  [[nodiscard]] std::size_t gate_timeouts() const { return gate_timeouts_; }
  /// Seconds from the start of the last time() call until all work was enqueued and the gate could open.
  [[nodiscard]] double preparation() const { return preparation_; }

  /// Runs one pass without a gate and waits for its end. Triggers lazy loading of kernels.
  Timing run_ungated();
  /// Chooses the batch (number of passes per sample) from timed passes, so that a sample takes at least `shortest` and
  /// Region::shortest seconds. Runs at least one pass, even with a fixed batch, because it may be the only warm-up.
  void choose_batch(double shortest = 0);
  /// Sets the batch, for example to that of another region. Reduces it to the largest batch that this region permits.
  void set_batch(unsigned batch);
  /// Takes one sample. Returns nothing if the gate timed out; only this sample is then lost. `before_start` is called
  /// when all work is enqueued, right before the gate opens.
  std::optional<Timing> time(const std::function<void()>& before_start = [] {});

 private:
  /// The region's streams on one device, with the events that time them.
  struct DeviceStreams {
    std::vector<StreamView> streams;  // the start and end of the device's work are recorded in the first stream
    std::vector<std::size_t> places;  // index of each stream among the region's streams
    Event begun;                      // start of the device's work; belongs to this device
    Event forked;
    std::vector<Event> joined;  // end of work in each stream; the first is recorded only if Region::per_stream is set
    Event ended;
    Stream watch;  // stream of the root device that records `seen` when this device ends; empty for the root device
    Event seen;
  };

  void add_devices(Device& root);
  Timing run(bool gated, const std::function<void()>& before_start);
  Timing run_by_host_clock();
  /// Returns whether all streams had reached the gate before it opened.
  bool run_devices(bool gated, const std::function<void()>& before_start, Timing& timing);
  void begin_devices(bool gated);
  void end_devices();
  /// Returns a scope guard that opens the gate. So an exception does not leave the GPU waiting for the gate's timeout.
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
  bool all_were_there_ = true;  // whether all streams had reached the gate before it opened in the last gated pass
  // These events are empty with Clock::host. Those in joined_ belong to their streams' devices, the others to the root.
  Event start_;
  Event stop_;
  Event forked_;
  std::vector<Event> joined_;  // end of work in each stream; the root's is recorded only if Region::per_stream is set
  std::vector<DeviceStreams> devices_;  // one per device, the root device first; empty if there is only one device
  Gate gate_;
};

/// Repeats `pass` until it returns a value, because a gate can time out if the host is interrupted. After five
/// failures, throws a MeasurementError whose message begins with `doing`.
template <class Pass>
auto retry_gate_timeouts(const std::string& doing, const Pass& pass) {
  constexpr int kMostAttempts = 5;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    if (auto result = pass()) return *std::move(result);
  }
  throw MeasurementError(doing +
                         ": the gate that holds the stream timed out repeatedly; the host is too busy to submit the "
                         "work, or another program stops it");
}

/// Returns a scope guard for timed or traced passes. While it exists, a simulated machine moves no data, because the
/// results of such passes are not checked.
inline auto timed_passes(Machine& machine) {
  machine.set_data_movement(false);
  return OnExit([&machine] { machine.set_data_movement(true); });
}

/// Runs a region once, without timing and without a gate.
void run_once(Machine& machine, const Region& region);
/// Calls `prepare`, then the other run_once(). Used for verification.
void run_once(Machine& machine, const Region& region, const std::function<void()>& prepare);

/// Runs a region once like a timed pass, behind its gate if it has one, to verify results at full speed. `prepare`
/// (such as poisoning outputs) runs before the pass and before each repetition after a gate timeout, so that results of
/// the failed pass are not mistaken for those of the repetition. Throws MeasurementError after repeated timeouts.
void run_at_full_speed(Machine& machine, const Region& region, const std::function<void()>& prepare);

/// A function that runs a region once for verification: run_once or run_at_full_speed.
using VerifiedRun = void (*)(Machine& machine, const Region& region, const std::function<void()>& prepare);

}  // namespace xferbench
