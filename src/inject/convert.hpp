// From CUPTI's records to ours.
#pragma once

#include "core/cuda_calls.hpp"
#include "inject/cupti_api.hpp"
#include "inject/recorder.hpp"

namespace xferbench::inject {

/// Adds the record, if it is of use and wanted. What it points to (names) is CUPTI's, and valid only now.
void convert(const CUpti_Activity& record, const CuptiApi& api, Recorder& recorder);

/// Calls `use` with the number of each call of the runtime or driver that is recorded.
template <class Use>
void for_each_call(const CuptiApi& api, CUpti_CallbackDomain domain, Use use) {
  const char* name = nullptr;
  for (CUpti_CallbackId id = 1; api.callback_name(domain, id, &name) == CUPTI_SUCCESS && name != nullptr; ++id) {
    if (call_kind(plain_call_name(name)) != CudaCallKind::none) use(id);
  }
}

}  // namespace xferbench::inject
