// Records the program's NVTX ranges.
#pragma once

#include <nvtx3/nvToolsExt.h>

#include "inject/recorder.hpp"

namespace xferbench::inject {

/// Installs our callbacks in the program's NVTX. Returns false if the program's version of NVTX does not support that.
bool attach_nvtx(NvtxGetExportTableFunc_t get_table);

/// Called at process exit: writes the ranges that have not ended.
void write_open_ranges(Recorder& recorder);

}  // namespace xferbench::inject
