// Receives activity records from CUPTI and converts them to records of the recording.
#pragma once

#include "inject/cupti_api.hpp"
#include "inject/names.hpp"
#include "inject/recorder.hpp"
#include "inject/usage.hpp"

namespace xferbench::inject {

/// Enables CUPTI once per process; never destroyed. Hazard: call its functions without holding a lock of this library,
/// because CUPTI calls our callbacks while it holds CUPTI's own locks.
class Activities {
 public:
  /// Returns the object; null before start() and if start() failed.
  static Activities* instance();
  /// Creates the object and enables CUPTI. Returns null on failure: a note in the recording then gives the reason, and
  /// the program continues without being recorded.
  static Activities* start(Recorder& recorder);

  Activities(Recorder& recorder, const CuptiApi& api)
      : recorder_(recorder), api_(api), names_(api_, recorder.writer()), sampler_(recorder) {}

  void take(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t valid);
  /// Makes CUPTI deliver completed records. With `forced`, incomplete records are delivered too, with an end time of 0,
  /// and are not delivered again.
  void flush(bool forced);
  /// Whether a callback can be ignored: it is of a copy that is too small to be sampled, and no stacks are requested.
  [[nodiscard]] bool may_ignore(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) const;
  /// Handles the begin or end of a call: samples copies, and remembers the stack if stacks are requested.
  void see_call(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& call);
  /// Stops all CUPTI recording.
  void disable();
  /// Enables records of managed memory for the device of this context, once per device.
  void watch_managed_memory(CUcontext context);

 private:
  /// Enables the CUPTI records that the recording request needs. Returns the reason for a failure; empty on success.
  std::string turn_on();
  [[nodiscard]] std::string failure(CUptiResult result) const;
  CUptiResult enable_kinds();
  /// Whether copies by this call are sampled (inject/usage.hpp).
  [[nodiscard]] bool is_sampled(CUpti_CallbackDomain domain, CUpti_CallbackId id) const;
  void choose_calls(CUpti_CallbackDomain domain, CUpti_ActivityKind all,
                    CUptiResult (*enable_call)(CUpti_CallbackId, std::uint8_t));
  void choose_callbacks(CUpti_SubscriberHandle subscriber);

  Recorder& recorder_;
  CuptiApi api_;
  Names names_;
  UsageSampler sampler_;
  std::atomic<std::uint64_t> managed_tried_ = 0;  // bit mask of the devices that watch_managed_memory() has handled
};

}  // namespace xferbench::inject
