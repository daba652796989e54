// CUPTI, loaded when it is needed and never linked: the program that this is loaded into is to start without, and
// should get the one that it has loaded itself, as PyTorch has.
#pragma once

#include <cupti.h>

#include <optional>
#include <string>

namespace xferbench::inject {

/// Its functions. The library stays loaded to the end of the process: it has threads and has patched the driver.
struct CuptiApi {
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityRegisterTimestampCallback) register_clock = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) count_dropped = nullptr;
  decltype(&cuptiGetCallbackName) callback_name = nullptr;
  decltype(&cuptiGetResultString) result_string = nullptr;
  decltype(&cuptiSubscribe) subscribe = nullptr;
  decltype(&cuptiUnsubscribe) unsubscribe = nullptr;
  decltype(&cuptiEnableCallback) enable_callback = nullptr;
  // Older libraries lack these.
  CUptiResult (*enable_runtime_call)(CUpti_CallbackId, std::uint8_t) = nullptr;
  CUptiResult (*enable_driver_call)(CUpti_CallbackId, std::uint8_t) = nullptr;
  CUptiResult (*set_thread_ids)(CUpti_ActivityThreadIdType) = nullptr;
  decltype(&cuptiActivityConfigureUnifiedMemoryCounter) configure_managed = nullptr;
  decltype(&cuptiGetDeviceId) device_of = nullptr;
  std::uint32_t version = 0;

  /// Whether records of events and waits have the fields that tie them together, since CUDA 12.8 (API version 26).
  [[nodiscard]] bool ties_waits_to_events() const { return version >= 26; }
  [[nodiscard]] std::string text(CUptiResult result) const;
};

/// From that path alone, or else from where one is loaded already, or else from the usual places. Where none fits:
/// nothing, and why.
std::optional<CuptiApi> load_cupti(const std::optional<std::string>& path, std::string& refusal);

}  // namespace xferbench::inject
