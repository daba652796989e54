// From CUPTI's records to ours.
#pragma once

#include "inject/cupti_api.hpp"
#include "inject/names.hpp"
#include "inject/recorder.hpp"

namespace xferbench::inject {

/// What records are made with.
struct Conversion {
  const CuptiApi& api;
  Names& names;
  Recorder& to;
};

/// Adds the record, if it is of use and wanted. What it points to (names) is CUPTI's, and valid only now.
void convert(const CUpti_Activity& record, const Conversion& with);

}  // namespace xferbench::inject
