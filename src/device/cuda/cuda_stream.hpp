// Creates streams, events and gates through the CUDA runtime.
#pragma once

#include <cuda_runtime.h>

#include <span>

#include "device/cuda/opened_gpu.hpp"
#include "device/stream.hpp"

namespace xferbench::cuda {

class CudaTracer;

[[nodiscard]] Stream make_stream(Device& device, const CudaTracer& tracer, const OpenedGpu& gpu, StreamKind kind);
[[nodiscard]] Event make_event(Device& device, const OpenedGpu& gpu, EventKind kind);
/// Makes a gate for streams of all these GPUs. A held stream continues after `timeout` seconds of its GPU's timer.
[[nodiscard]] Gate make_gate(std::span<const OpenedGpu> gpus, double timeout);

[[nodiscard]] cudaStream_t native(StreamView stream);

/// Copies with cudaMemcpy, which is synchronous, in the legacy default stream of `gpu`.
void copy_blocking(const OpenedGpu& gpu, const Copy& copy, const CudaTracer& tracer);

/// Whether this build and the driver support cudaMemcpyBatchAsync.
[[nodiscard]] bool supports_batch_copies();

}  // namespace xferbench::cuda
