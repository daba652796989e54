// Describes a region of device work and times it.
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

/// Times the parts of one pass with the host's clock; a region passes it to its `steps`.
class LapTimer {
 public:
  LapTimer(const HostRuntime& host, std::vector<std::vector<double>>& parts) : host_(host), parts_(parts) { restart(); }

  /// Ends the part that began at the last restart() or lap().
  void lap(std::size_t part) {
    const double now = host_.now();
    add(part, now - begun_);
    restart();
  }
  /// Excludes the time since the last lap from all parts.
  void restart() { begun_ = host_.now(); }
  /// Adds a value that lap() does not measure, in the part's unit. A part may have several values per pass.
  void add(std::size_t part, double value) { parts_.at(part).push_back(value); }

 private:
  const HostRuntime& host_;
  std::vector<std::vector<double>>& parts_;
  double begun_ = 0;
};

/// Shortest sample in seconds. CUDA events resolve about 0.5 us, so shorter work is repeated within a sample.
inline constexpr double kShortestSample = 200e-6;

/// Work to time, as the scenario describes it.
///
/// With an event clock, `submit` enqueues the work to `streams`. The region's start and stop are recorded in the
/// first one, the root stream. All other streams wait for the start, and the root waits for all of them before the
/// stop.
///
/// With streams of several devices, the gate holds the first stream of each device directly, because a wait for
/// another device's event would add microseconds. That stream starts its device's part, so all devices start at once.
/// Each device's part is timed as well: see kGpuTime.
///
/// With the host's clock, `submit` does the work and waits for its end, or `steps` does so and times its parts. With
/// neither, this process is idle while other processes work, and its passes take no time.
struct Region {
  std::string name{};
  Clock clock = Clock::event;  ///< event_gated becomes event if a pass queues more operations than a gate can hold
  std::vector<StreamView> streams{};
  std::function<void()> submit{};  ///< enqueues the work once
  std::size_t operations = 1;      ///< operations per submit() in the busiest stream
  /// Also time the end of each stream (unbatched regions only), relative to the region's begin. With several devices,
  /// relative to the begin of the own device's part and by that device's clock.
  bool per_stream = false;
  bool batchable = true;              ///< may be repeated within one sample if it is too short for the clock
  double shortest = kShortestSample;  ///< in seconds; shorter passes are repeated within a sample
  unsigned batch = 0;                 ///< fixed repetitions per sample; 0: chosen from `shortest`
  /// The region's time is compared with that of the first region with this flag, so both must include the fixed cost
  /// per pass (model::StageCosts::start) to the same extent. If their batches differ, the region is sampled a second
  /// time with the first one's batch, as a series with the suffix kAlikeSuffix.
  bool same_batch = false;
  bool waits = false;  ///< submit() returns only when the work has finished, so no further wait is needed
  /// With several devices: repetitions may follow each other without synchronizing the streams in between.
  bool back_to_back = false;
  /// Another region warms up the same work, in this or an earlier sampling: one pass for lazy loading is enough.
  bool warmed_by_another = false;
  std::function<void()> reset{};  ///< prepares a pass, untimed; prevents batching
  /// Throws VerificationError unless the last pass left correct results. Called right after a pass, untimed, before
  /// any other region runs. May use the device freely but must not change the passes' inputs. Empty if a pass leaves no
  /// result that can be checked regardless of what ran before.
  std::function<void()> check{};
  std::optional<int> gpu{};  ///< see Measurement::gpu

  struct Part {
    std::string name;
    Clock clock = Clock::host;
    std::string unit = "s";
    bool decides = false;      ///< sampling continues until this part's interval is narrow enough, too
    std::optional<int> gpu{};  ///< see Measurement::gpu
  };
  std::vector<Part> parts{};               ///< timed by `steps`
  std::function<void(LapTimer&)> steps{};  ///< does and times the work in place of `submit`; only with Clock::host
};

inline constexpr const char* kAlikeSuffix = "-alike";  ///< see Region::same_batch

/// Parts of every region over several devices. The first two exist once per device, in the order of the devices'
/// first streams.
inline constexpr const char* kGpuTime = "gpu-time";  ///< from a device's begin to its end, by its own clock
inline constexpr const char* kGpuEnd = "gpu-end";    ///< from the region's begin to a device's end, by the root's clock
inline constexpr const char* kSinceOpening = "host-time";  ///< from opening the gate to the host seeing the last end

/// A region with Clock::host whose `steps` time its parts.
Region stepped_region(std::string name, std::vector<Region::Part> parts, std::function<void(LapTimer&)> steps);

/// One region that runs several event-timed regions concurrently, each on its own device.
Region at_once(std::string name, std::vector<Region> regions);

/// What a program that needs the result sees of an event-timed region: host time from the first submitting call until
/// the wait for the end returns, without gate and events. It waits for each stream in turn, as programs do; waits for
/// finished streams return at once. Never batched, because such a program needs each result.
Region wall_region(const Region& region);
inline constexpr const char* kWall = "wall";             ///< name of the region that wall_region() returns
inline constexpr const char* kWallCalls = "wall-calls";  ///< name of its part: host time of the submitting calls

/// Whether one pass over the region fits behind a gate.
bool fits_gate(const Region& region);
/// Times to be compared need the same clock: if one region does not fit behind a gate, all are timed without gate.
void use_common_clock(std::initializer_list<Region*> regions);

/// Times of one pass, in seconds per repetition.
struct Timing {
  double elapsed = 0;
  double submit = 0;                       ///< host time inside submit()
  std::vector<double> stream_times;        ///< see Region::per_stream; empty unless requested
  std::vector<std::vector<double>> parts;  ///< outer index as in Region::parts; inner: values of that part
};

/// Times one region; owns its events and its gate.
class RegionTimer {
 public:
  /// Maximum operations per stream behind a closed gate. More could fill the stream's queue (an H200's driver accepts
  /// about 1000 launches). The submitting host thread would then block on a gate that only it can open.
  static constexpr std::size_t kGateLimit = 512;
  /// Operations that one pass queues in the busiest stream, including those that fork and join `streams`.
  [[nodiscard]] static std::size_t queued(std::size_t operations, std::size_t streams);
  /// Whether one pass fits behind a gate.
  [[nodiscard]] static bool fits_gate(std::size_t operations, std::size_t streams) {
    return queued(operations, streams) <= kGateLimit;
  }
  /// Number of passes that fit behind a gate together, at least one.
  [[nodiscard]] static unsigned most_behind_gate(std::size_t operations, std::size_t streams);

  RegionTimer(Machine& machine, Region region);

  [[nodiscard]] const Region& region() const { return region_; }
  [[nodiscard]] unsigned batch() const { return batch_; }
  [[nodiscard]] std::size_t gate_timeouts() const { return gate_timeouts_; }
  /// Seconds from the start of the last pass until everything was queued and the gate could open.
  [[nodiscard]] double preparation() const { return preparation_; }

  /// Runs one pass without gate and waits for its end. Triggers lazy loading.
  Timing run_ungated();
  /// Chooses the batch from timed passes, so that a sample takes at least `shortest` seconds or Region::shortest.
  /// Runs at least one pass, even with a fixed batch, because it may be the only warm-up.
  void choose_batch(double shortest = 0);
  /// Sets a batch chosen elsewhere, limited to 1 if the region is never batched.
  void set_batch(unsigned batch);
  /// Times one pass. Returns nothing if the gate timed out, which fails only this sample. `before_start` runs when
  /// everything is queued, right before the work is released.
  std::optional<Timing> time(const std::function<void()>& before_start = [] {});

 private:
  /// The streams of one device, with the events of its begin and end.
  struct DeviceStreams {
    std::vector<StreamView> streams;  // the first starts and ends the device's part
    std::vector<std::size_t> places;  // indices of `streams` among the region's streams
    Event begun;                      // the following events belong to this device
    Event forked;
    std::vector<Event> joined;  // one per stream; the first is used only with per_stream
    Event ended;
    Stream watch;  // in which the root device records `seen`, the end of this device; empty for the root device
    Event seen;
  };

  void add_devices(Device& root);
  Timing run(bool gated, const std::function<void()>& before_start);
  Timing run_by_host_clock();
  /// Returns whether all streams had reached the gate before it opened.
  bool run_devices(bool gated, const std::function<void()>& before_start, Timing& timing);
  void begin_devices(bool gated);
  void end_devices();
  /// Opens the gate at the end of the scope, also after an exception: the GPU must not be held until the timeout.
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
  bool all_were_there_ = true;  // in the last gated pass, all streams had reached the gate before it opened
  // Events; empty with Clock::host. joined_ belong to the devices of their streams, the others to the root device.
  Event start_;
  Event stop_;
  Event forked_;
  std::vector<Event> joined_;           // one per stream; the root's is used only with per_stream
  std::vector<DeviceStreams> devices_;  // one per device, the root's first; empty with a single device
  Gate gate_;
};

/// Repeats `pass` until it returns a value, because a gate can time out if the host is interrupted. Throws
/// MeasurementError with the prefix `doing` after five failures.
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

/// Scope for timed or traced passes: switches off data movement on a simulated machine, where such passes are not
/// checked.
inline auto timed_passes(Machine& machine) {
  machine.set_data_movement(false);
  return OnExit([&machine] { machine.set_data_movement(true); });
}

/// Runs a region once, untimed and without gate.
void run_once(Machine& machine, const Region& region);
/// Runs a region once, untimed and without gate, after calling `prepare`. For verification passes.
void run_once(Machine& machine, const Region& region, const std::function<void()>& prepare);

/// Runs a region once exactly as a timed pass, behind its gate if it has one, to verify results at full speed.
/// `prepare` (such as poisoning) runs before the pass, and again if the gate timed out, so that results of the failed
/// pass are not mistaken for those of the repetition. Throws MeasurementError after repeated timeouts.
void run_at_full_speed(Machine& machine, const Region& region, const std::function<void()>& prepare);

/// A function that runs a region for verification: run_once or run_at_full_speed.
using VerifiedRun = void (*)(Machine& machine, const Region& region, const std::function<void()>& prepare);

}  // namespace xferbench
