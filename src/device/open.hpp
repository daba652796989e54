// Opening a machine, whatever the build can do. The rest of the program does not know which backends exist.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/host.hpp"
#include "device/machine.hpp"

namespace xferbench {

/// Opens this machine with GPU number `index` as CUDA counts them, after placing the process as `numa` says, which
/// stays so when the machine is gone. Throws NoDeviceError with one line that says what is missing: CUDA in this build,
/// a driver, a GPU, or that number; UsageError if the process cannot be bound to a node that is asked for by number.
std::unique_ptr<Machine> open_gpu(int index, const NumaPolicy& numa = {});

/// Opens the simulated machine with a built-in profile. Throws UsageError for an unknown one.
std::unique_ptr<Machine> open_simulated(const std::string& profile);

/// Names and one-line descriptions of the built-in profiles, the default first.
std::vector<std::pair<std::string, std::string>> simulated_profiles();

}  // namespace xferbench
