#include "device/sim/sim_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "device/open.hpp"
#include "device/sim/sim_gate.hpp"

namespace xferbench::sim {

SimMachine::SimMachine(const Profile& profile, const MakeDevice& make_device)
    : profile_(profile), device_(make_device(*this)), devices_{device_.get()} {}

Gate SimMachine::make_gate(double timeout) {
  return owned<GateView>(std::make_unique<SimGate>(host_, events_, timeout));
}

void SimMachine::settle() noexcept {
  try {
    events_.run_all();
  } catch (const std::bad_alloc&) {
    events_.abandon();
  }
}

}  // namespace xferbench::sim

namespace xferbench {

std::unique_ptr<Machine> open_simulated(const std::string& profile) {
  const auto known = sim::profiles();
  const auto found = std::ranges::find(known, profile, &sim::Profile::name);
  if (found == known.end()) throw UsageError(fmt::format("there is no profile '{}' to simulate", profile));
  return std::make_unique<sim::SimMachine>(*found);
}

std::vector<std::pair<std::string, std::string>> simulated_profiles() {
  std::vector<std::pair<std::string, std::string>> list;
  for (const sim::Profile& p : sim::profiles()) list.emplace_back(p.name, p.description);
  return list;
}

}  // namespace xferbench
