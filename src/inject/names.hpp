// A cache of the names of CUDA calls and kernels, so that each name is processed once and not for every record.
#pragma once

#include <array>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "inject/cupti_api.hpp"
#include "recording/recording_writer.hpp"

namespace xferbench::inject {

class Names {
 public:
  Names(const CuptiApi& api, RecordingWriter& writer);

  /// Returns the name of a runtime or driver call without its version suffix; empty if such calls are not recorded.
  [[nodiscard]] std::string_view call(CUpti_CallbackDomain domain, CUpti_CallbackId id) const;
  /// Calls `use` with the ID of each recorded call of the domain.
  template <class Use>
  void for_each_call(CUpti_CallbackDomain domain, Use use) const {
    for (CUpti_CallbackId id = 0; id < calls_.at(domain).size(); ++id) {
      if (!call(domain, id).empty()) use(id);
    }
  }

  /// Returns the ID of the kernel's demangled, shortened name. Thread-safe.
  recording::NameId kernel(const char* mangled);

 private:
  RecordingWriter& writer_;
  std::array<std::vector<std::string_view>, CUPTI_CB_DOMAIN_SIZE> calls_;  // indexed by domain and callback ID
  std::mutex mutex_;
  std::unordered_map<std::string, recording::NameId> kernels_;  // keyed by mangled name
};

}  // namespace xferbench::inject
