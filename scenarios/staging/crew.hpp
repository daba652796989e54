// Not a scenario: threads that get a payload across together.
#pragma once

#include <memory>

#include "device/device.hpp"
#include "scenarios/staging/case.hpp"
#include "scenarios/staging/payload.hpp"

namespace xferbench {

class Crew {
 public:
  Crew() = default;
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  virtual ~Crew() = default;

  /// Gets the whole payload across once, and returns when it has arrived. Rethrows what a thread threw.
  virtual void carry() = 0;
};

/// The threads of a case that has such (StagingCase::has_crew()), with all that they need. The payload outlives them.
std::unique_ptr<Crew> make_crew(Device& device, const StagedPayload& payload, const StagingCase& c);

}  // namespace xferbench
