// Converts CUPTI activity records to recording records.
#pragma once

#include "inject/cupti_api.hpp"
#include "inject/names.hpp"
#include "inject/recorder.hpp"

namespace xferbench::inject {

struct Conversion {
  const CuptiApi& api;
  Names& names;
  Recorder& to;
};

/// Converts one CUPTI record. Adds it to the recording if it is relevant and within the requested time. Strings in a
/// CUPTI record are valid only during the call.
void convert(const CUpti_Activity& record, const Conversion& with);

}  // namespace xferbench::inject
