// Loads CUPTI at run time instead of linking it: the injected program must start without CUPTI, and a CUPTI library
// that the program itself has loaded (as PyTorch does) must be reused.
#pragma once

#include <cupti.h>

#include <optional>
#include <string>

namespace xferbench::inject {

/// Pointers to CUPTI's functions. The library is never unloaded, because it runs threads and has patched the driver.
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
  // The functions below are null if CUPTI is too old to have them.
  CUptiResult (*enable_runtime_call)(CUpti_CallbackId, std::uint8_t) = nullptr;
  CUptiResult (*enable_driver_call)(CUpti_CallbackId, std::uint8_t) = nullptr;
  CUptiResult (*set_thread_ids)(CUpti_ActivityThreadIdType) = nullptr;
  decltype(&cuptiActivityConfigureUnifiedMemoryCounter) configure_managed = nullptr;
  decltype(&cuptiGetDeviceId) device_of = nullptr;
  std::uint32_t version = 0;

  /// Returns whether records of events and waits contain an ID that connects them (since CUDA 12.8, API version 26).
  [[nodiscard]] bool links_waits_to_events() const { return version >= 26; }
  [[nodiscard]] std::string text(CUptiResult result) const;
};

/// Loads CUPTI. If `path` is given, only from there; else reuses a loaded library or searches the usual places. If no
/// library is suitable, returns nullopt and sets `refusal` to the reason.
std::optional<CuptiApi> load_cupti(const std::optional<std::string>& path, std::string& refusal);

}  // namespace xferbench::inject
