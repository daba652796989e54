// What a call of the CUDA runtime or driver does, by its name. Pure functions.
#pragma once

#include <string_view>

namespace xferbench {

enum class CudaCallKind {
  none,  ///< costs next to nothing and says nothing: not recorded
  copy,
  fill,
  launch,        ///< of a kernel, or of a function of the host
  graph_launch,  ///< of everything in it
  wait_stream,
  wait_event,
  wait_device,
  record_event,
  make_wait,  ///< has a stream wait for an event
  stream,     ///< makes or destroys a stream or an event
  allocate,   ///< memory of the device
  free,       ///< the same
  pin,        ///< allocates or registers memory of the host
  unpin,      ///< the same
  managed,    ///< allocates, prefetches or advises on managed memory
  load,       ///< code: modules, libraries, graphs that are made ready
  initialise,
};

/// "cudaMemcpyAsync" from CUPTI's "cudaMemcpyAsync_v3020", "cuMemcpyHtoDAsync" from "cuMemcpyHtoDAsync_v2"; endings
/// that mean the default stream of each thread ("_ptsz", "_ptds") are left out, too.
std::string_view plain_call_name(std::string_view name);

/// Of a name with or without those endings.
CudaCallKind call_kind(std::string_view name);

/// Whether the call waits for nothing by design: its name ends in "Async", or it launches.
bool is_asynchronous(std::string_view name);

}  // namespace xferbench
