// The program's own names for what it does: NVTX ranges.
#pragma once

#include <nvtx3/nvToolsExt.h>

#include "inject/recorder.hpp"

namespace xferbench::inject {

/// Has the program's NVTX call us. False where it is of a version that cannot.
bool attach_nvtx(NvtxGetExportTableFunc_t get_table);

/// Writes ranges that have not ended, at the end of the process.
void write_open_ranges(Recorder& recorder);

}  // namespace xferbench::inject
