// What the parts of a simulated machine share: one event simulator in which all engines and links compete, the bytes,
// the host's threads and clock, and who watches them.
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

/// Timelines of the simulated machine, whose times are exact.
class SimTracer final : public Tracer {
 public:
  SimTracer(SimHost& host, const std::unique_ptr<Recorder>& recorder) : host_(host), recorder_(recorder) {}

  void start() override;
  [[nodiscard]] Trace stop() override;
  void begin_range(const char* name) override;
  void end_range() override;

  /// Keeps it while a trace is on.
  void add(Enqueued enqueued);

 private:
  SimHost& host_;
  const std::unique_ptr<Recorder>& recorder_;
  std::optional<std::vector<Enqueued>> enqueued_;  // while a trace is on
};

/// None where nothing varies.
EventSimulator::Stretch stretch_of(const Variation& varies);

struct Simulation {
  /// With the GPUs of the profile that have these numbers.
  Simulation(Profile the_profile, std::vector<int> the_gpus)
      : profile(std::move(the_profile)), gpus(std::move(the_gpus)) {}
  /// Tells all who watch.
  void enqueued(Enqueued what);
  /// Lets queued work end before memory goes away; gives it up where it cannot.
  void settle() noexcept;

  const Profile profile;
  std::vector<int> gpus;
  DataMovement data;
  EventSimulator events{stretch_of(profile.varies)};
  Wiring wiring{profile, gpus, events};
  SimHost host{events, profile, data};
  std::unique_ptr<Recorder> recorder;  // where a recording is asked for
  SimTracer tracer{host, recorder};
};

}  // namespace xferbench::sim
