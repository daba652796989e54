// Shared state of a simulated machine: an event simulator with all its engines and links, the memory contents, the
// host's threads and clocks, the recorder and the tracer.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "device/sim/enqueued.hpp"
#include "device/sim/event_simulator.hpp"
#include "device/sim/memory.hpp"
#include "device/sim/profile.hpp"
#include "device/sim/recorder.hpp"
#include "device/sim/sim_host.hpp"
#include "device/sim/wiring.hpp"
#include "device/tracer.hpp"

namespace xferbench::sim {

/// Records timelines of the simulated machine. The recorded times are exact.
class SimTracer final : public Tracer {
 public:
  SimTracer(SimHost& host, const std::unique_ptr<Recorder>& recorder) : host_(host), recorder_(recorder) {}

  void start() override;
  [[nodiscard]] Trace stop() override;
  void begin_range(const char* name) override;
  void end_range() override;

  /// Stores the operation if a trace is on.
  void add(Enqueued enqueued);

 private:
  SimHost& host_;
  const std::unique_ptr<Recorder>& recorder_;
  std::optional<std::vector<Enqueued>> enqueued_;  // present while a trace is on
};

/// Returns the function that gives random duration factors; null without noise.
EventSimulator::DurationFactor duration_factor_of(const Variation& varies);

struct Simulation {
  /// `the_gpus` are the numbers of the profile's GPUs to open.
  Simulation(Profile the_profile, std::vector<int> the_gpus)
      : profile(std::move(the_profile)), gpus(std::move(the_gpus)) {}
  /// Passes the operation to the recorder and the tracer.
  void enqueued(Enqueued what);
  /// Finishes queued work, so that its memory can be freed. Drops the work if host memory runs out.
  void settle() noexcept;

  const Profile profile;
  std::vector<int> gpus;
  std::optional<int> host_node{};  ///< socket of new host memory; absent: that of the GPU that it is for
  DataMovement data;
  EventSimulator events{duration_factor_of(profile.varies)};
  Wiring wiring{profile, gpus, events};
  SimHost host{events, profile, data};
  std::unique_ptr<Recorder> recorder;  // null unless a recording was requested
  SimTracer tracer{host, recorder};
};

}  // namespace xferbench::sim
