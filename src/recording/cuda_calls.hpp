// What a function of the CUDA runtime or driver does, derived from its name. Pure functions.
#pragma once

#include <string_view>

namespace xferbench {

enum class CudaCallKind {
  none,  ///< any other function; not recorded, since such calls are short and explain nothing
  copy,
  fill,
  launch,  ///< launches a kernel or a host function
  graph_launch,
  wait_stream,
  wait_event,
  wait_device,
  record_event,
  make_wait,  ///< makes a stream wait for an event
  stream,     ///< makes or destroys a stream or an event
  allocate,   ///< allocates device memory
  free,       ///< frees device memory
  pin,        ///< allocates or registers pinned host memory
  unpin,      ///< frees or unregisters pinned host memory
  managed,    ///< allocates, prefetches or advises on managed memory
  load,       ///< loads code: modules, libraries; instantiates graphs
  initialise,
};

/// Removes version suffixes: returns, for example, "cudaMemcpyAsync" for CUPTI's "cudaMemcpyAsync_v3020", and
/// "cuMemcpyHtoDAsync" for "cuMemcpyHtoDAsync_v2". Also removes "_ptsz" and "_ptds" (per-thread default stream).
std::string_view plain_call_name(std::string_view name);

/// Returns what a CUDA function does. Accepts names with or without version suffixes.
CudaCallKind call_kind(std::string_view name);

/// Whether a copy function copies rows that have gaps between them: its name contains "2D" or "3D".
bool copies_rows(std::string_view name);

/// Whether the function returns without waiting for the GPU: its name contains "Async", or it launches work.
bool is_asynchronous(std::string_view name);

}  // namespace xferbench
