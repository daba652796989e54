// What the parts of a simulated machine share: one event simulator in which all engines and links compete, the bytes,
// the host's threads and clock, and who watches them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/sim/event_simulator.hpp"
#include "device/sim/memory.hpp"
#include "device/sim/profile.hpp"
#include "device/sim/sim_host.hpp"
#include "device/sim/wiring.hpp"
#include "device/tracer.hpp"

namespace xferbench::sim {

/// What a timeline says of a call and of what it enqueues.
struct Call {
  std::string name;  ///< empty: nothing, as of gates and stamps
  std::uint64_t bytes = 0;
  Activity::Row row = Activity::Row::internal;  ///< of the operation, if it occupies an engine
};

/// Timelines of the simulated machine, whose times are exact.
class SimTracer final : public Tracer {
 public:
  explicit SimTracer(SimHost& host) : host_(host) {}

  void start() override;
  [[nodiscard]] Trace stop() override;

  struct Enqueued {
    Call call;
    OperationPtr operation;
    unsigned gpu = 0;              ///< the number of the stream's device
    const void* stream = nullptr;  ///< only tells streams apart
    double called = 0;             ///< by the host's clock, ...
    double returned = 0;
  };
  /// Keeps it while a trace is on.
  void add(Enqueued enqueued);

 private:
  SimHost& host_;
  std::optional<std::vector<Enqueued>> enqueued_;  // while a trace is on
};

/// None where nothing varies.
EventSimulator::Stretch stretch_of(const Variation& varies);

struct Simulation {
  /// With the GPUs of the profile that have these numbers.
  Simulation(Profile the_profile, std::vector<int> the_gpus)
      : profile(std::move(the_profile)), gpus(std::move(the_gpus)) {}
  /// Lets queued work end before memory goes away; gives it up where it cannot.
  void settle() noexcept;

  const Profile profile;
  std::vector<int> gpus;
  DataMovement data;
  EventSimulator events{stretch_of(profile.varies)};
  Wiring wiring{profile, gpus, events};
  SimHost host{events, profile, data};
  SimTracer tracer{host};
};

}  // namespace xferbench::sim
