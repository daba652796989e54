// Names of calls and kernels, which CUPTI gives with each record: looked at once for each, not for each record.
#pragma once

#include <array>
#include <cstddef>
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

  /// Of a call of the runtime or driver, without its version; empty where such calls are not recorded.
  [[nodiscard]] std::string_view call(CUpti_CallbackDomain domain, CUpti_CallbackId id) const;
  /// Calls `use` with the number of each call of that domain that is recorded.
  template <class Use>
  void for_each_call(CUpti_CallbackDomain domain, Use use) const {
    for (CUpti_CallbackId id = 0; id < calls_.at(domain).size(); ++id) {
      if (!call(domain, id).empty()) use(id);
    }
  }

  /// Of a kernel, made readable.
  recording::NameId kernel(const char* mangled);

 private:
  RecordingWriter& writer_;
  std::array<std::vector<std::string_view>, CUPTI_CB_DOMAIN_SIZE> calls_;  // by domain and id
  std::mutex mutex_;
  std::unordered_map<std::string, recording::NameId> kernels_;  // by what CUPTI calls them
};

}  // namespace xferbench::inject
