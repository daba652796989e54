#include "inject/names.hpp"

#include "recording/cuda_calls.hpp"
#include "recording/kernel_name.hpp"

namespace xferbench::inject {

Names::Names(const CuptiApi& api, RecordingWriter& writer) : writer_(writer) {
  // Callback IDs are numbered from 1 without gaps; CUDA 13.0 has 523 runtime and 807 driver calls.
  constexpr CUpti_CallbackId kBeyondAll = 1U << 14U;
  for (const CUpti_CallbackDomain domain : {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API}) {
    std::vector<std::string_view>& calls = calls_.at(domain);
    calls.emplace_back();
    const char* name = nullptr;
    while (calls.size() < kBeyondAll &&
           api.callback_name(domain, static_cast<CUpti_CallbackId>(calls.size()), &name) == CUPTI_SUCCESS &&
           name != nullptr) {
      const std::string_view plain = plain_call_name(name);  // a view of a string in CUPTI, which is never freed
      calls.push_back(call_kind(plain) == CudaCallKind::none ? std::string_view() : plain);
    }
  }
}

std::string_view Names::call(CUpti_CallbackDomain domain, CUpti_CallbackId id) const {
  const std::vector<std::string_view>& calls = calls_.at(domain);
  return id < calls.size() ? calls[id] : std::string_view();
}

recording::NameId Names::kernel(const char* mangled) {
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] = kernels_.try_emplace(mangled == nullptr ? "" : mangled, 0);
  if (is_new) known->second = writer_.name(kernel_name(mangled));
  return known->second;
}

}  // namespace xferbench::inject
