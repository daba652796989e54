// What CUPTI tells, as records.
#pragma once

#include "inject/cupti_api.hpp"
#include "inject/names.hpp"
#include "inject/recorder.hpp"

namespace xferbench::inject {

/// Turns CUPTI on, once for the process, and lasts as long as that. Everything here is called without a lock of ours
/// being held: CUPTI takes its own, and calls back under them.
class Activities {
 public:
  /// Null before start() and where that has failed.
  static Activities* instance();
  /// Null where it fails: a note says why, and the program goes on unrecorded.
  static Activities* start(Recorder& recorder);

  Activities(Recorder& recorder, const CuptiApi& api)
      : recorder_(recorder), api_(api), names_(api_, recorder.writer()) {}

  /// Writes the records of a buffer.
  void take(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t valid);
  /// Hands over what is complete; `forced`: even what is not, which comes with an end of 0 then, and never again.
  void flush(bool forced);
  /// Nothing is recorded from now on.
  void disable();
  /// Of the context's device, which there is no memory of yet.
  void watch_managed_memory(CUcontext context);

 private:
  /// Empty if all is well.
  std::string turn_on();
  [[nodiscard]] std::string failure(CUptiResult result) const;
  CUptiResult enable_kinds();
  void choose_calls(CUpti_CallbackDomain domain, CUpti_ActivityKind all,
                    CUptiResult (*enable_call)(CUpti_CallbackId, std::uint8_t));
  void choose_callbacks(CUpti_SubscriberHandle subscriber);

  Recorder& recorder_;
  CuptiApi api_;
  Names names_;
  std::atomic<std::uint64_t> managed_tried_ = 0;  // a bit for each device
};

}  // namespace xferbench::inject
