// Streams, events, graphs and gates of the CUDA runtime.
#pragma once

#include <cuda_runtime.h>

#include "device/stream.hpp"

namespace xferbench::cuda {

class CudaTracer;

/// On the current GPU, whose number is `gpu`.
[[nodiscard]] Stream make_stream(Device& device, const CudaTracer& tracer, int gpu, StreamKind kind);
[[nodiscard]] Event make_event(Device& device, EventKind kind);
/// `timeout` in seconds, by the clock of the GPU that it holds.
[[nodiscard]] Gate make_gate(double timeout);

/// The stream behind a view that make_stream() made.
[[nodiscard]] cudaStream_t native(StreamView stream);

/// The synchronous cudaMemcpy.
void copy_blocking(const Copy& copy, const CudaTracer& tracer);

/// Whether this build and the driver know cudaMemcpyBatchAsync.
[[nodiscard]] bool knows_batch_copies();

}  // namespace xferbench::cuda
