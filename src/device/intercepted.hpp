// A machine behind which another one does the work, and somebody sees every call.
#pragma once

#include <memory>

#include "device/call.hpp"
#include "device/injection.hpp"
#include "device/machine.hpp"

namespace xferbench {

/// The same machine with that fault. Where the fault has not happened when the machine goes, that is said on standard
/// error; `asked_by`, which lasts, is who is to blame.
[[nodiscard]] std::unique_ptr<Machine> with_fault(std::unique_ptr<Machine> machine, const InjectedFault& fault,
                                                  const char* asked_by);

/// The same machine, whose observer is told of every call that may wait or fail: of its devices, of what they make, and
/// of giving that back. What the host does by itself (threads, channels, its work) is no call. The observer outlives
/// the machine. If the environment variable XFERBENCH_INJECT asks for a fault (device/injection.hpp), the machine has
/// it; throws UsageError if it asks for something that does not exist.
[[nodiscard]] std::unique_ptr<Machine> intercept(std::unique_ptr<Machine> machine, CallObserver& observer);

}  // namespace xferbench
