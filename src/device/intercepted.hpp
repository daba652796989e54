// Wraps a machine so that an observer sees every call to it.
#pragma once

#include <memory>

#include "device/call.hpp"
#include "device/injection.hpp"
#include "device/machine.hpp"

namespace xferbench {

/// Wraps the machine so that the fault is injected. If the machine is destroyed before the fault has happened, a
/// warning on standard error names `asked_by`: the option or variable that requested the fault. This text must
/// outlive the machine.
[[nodiscard]] std::unique_ptr<Machine> with_fault(std::unique_ptr<Machine> machine, const InjectedFault& fault,
                                                  const char* asked_by);

/// Wraps the machine so that the observer sees every call that may wait or fail: calls of devices and of the objects
/// that devices create, including their release. Host-only work (threads, channels) is not reported. The observer must
/// outlive the machine. Also injects the fault in XFERBENCH_INJECT (device/injection.hpp), if set; throws UsageError if
/// the variable is invalid.
[[nodiscard]] std::unique_ptr<Machine> intercept(std::unique_ptr<Machine> machine, CallObserver& observer);

}  // namespace xferbench
