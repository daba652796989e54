// What CUPTI tells, as records.
#pragma once

#include "inject/cupti_api.hpp"
#include "inject/recorder.hpp"

namespace xferbench::inject {

/// Turns CUPTI on, once for the process, and lasts as long as that. Everything here is called without a lock of ours
/// being held: CUPTI takes its own, and calls back under them.
class Activities {
 public:
  /// Null before start() and where that has failed.
  static Activities* instance();
  /// Where it fails a note says why, and the program goes on unrecorded.
  static void start(Recorder& recorder);

  Activities(Recorder& recorder, CuptiApi api) : recorder_(recorder), api_(api) {}

  [[nodiscard]] const CuptiApi& api() const { return api_; }
  /// Writes the records of a buffer.
  void take(std::uint8_t* buffer, std::size_t valid);
  void count_dropped(CUcontext context, std::uint32_t stream);
  /// Hands over what is complete; `forced`: even what is not, which comes with an end of 0 then, and never again.
  void flush(bool forced);
  /// At the end of the process.
  void finish();
  void disable();
  /// Managed memory can only be watched once there is a device.
  void watch_managed_memory();

 private:
  /// Empty if all is well.
  std::string turn_on();
  void choose_calls(CUpti_CallbackDomain domain, CUpti_ActivityKind all,
                    CUptiResult (*enable_call)(CUpti_CallbackId, std::uint8_t));

  Recorder& recorder_;
  CuptiApi api_;
  std::atomic<std::uint64_t> dropped_ = 0;
  bool watches_managed_ = false;
};

}  // namespace xferbench::inject
