// Streams, events, graphs and gates of the CUDA runtime.
#pragma once

#include <cuda_runtime.h>

#include <span>

#include "device/cuda/opened_gpu.hpp"
#include "device/stream.hpp"

namespace xferbench::cuda {

class CudaTracer;

[[nodiscard]] Stream make_stream(Device& device, const CudaTracer& tracer, const OpenedGpu& gpu, StreamKind kind);
[[nodiscard]] Event make_event(Device& device, const OpenedGpu& gpu, EventKind kind);
/// For streams of all these. `timeout` in seconds, by the clocks of the GPUs that it holds.
[[nodiscard]] Gate make_gate(std::span<const OpenedGpu> gpus, double timeout);

/// The stream behind a view that make_stream() made.
[[nodiscard]] cudaStream_t native(StreamView stream);

/// The synchronous cudaMemcpy, in the legacy stream of that GPU.
void copy_blocking(const OpenedGpu& gpu, const Copy& copy, const CudaTracer& tracer);

/// Whether this build and the driver know cudaMemcpyBatchAsync.
[[nodiscard]] bool knows_batch_copies();

}  // namespace xferbench::cuda
