// One float4 per thread and a plain grid: on an H200 this reaches the rate of a device-to-device copy, which persistent
// grid-stride variants do not.
#include <cstdint>

#include "kernels/elementwise.hpp"

namespace xferbench::kernels {

namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kLanes = 4;  // elements per thread: one 16-byte access

// `one` is 1.0f and comes from the host, so that the compiler cannot fold the chain of steps into one.

struct FmaStep {
  __device__ static float apply(float v, float /*addend*/, float one) { return fmaf(v, one, one); }
};

struct AddStep {
  __device__ static float apply(float v, float addend, float one) { return fmaf(addend, one, v); }
};

struct SincosStep {
  __device__ static float apply(float v, float /*addend*/, float one) {
    float s;
    float c;
    // v <= 2^23, so the angle is at most 8 radians and sincosf stays off its slow path for large arguments.
    sincosf(v * (one * 0x1p-20F), &s, &c);
    return v + rintf(sqrtf(s * s + c * c));
  }
};

template <class Step>
__device__ void run_steps(float (&v)[kLanes], const float (&addend)[kLanes], unsigned work, float one) {
#pragma unroll 4
  for (unsigned step = 0; step < work; ++step) {
#pragma unroll
    for (unsigned lane = 0; lane < kLanes; ++lane) v[lane] = Step::apply(v[lane], addend[lane], one);
  }
}

/// Thread t owns elements 4t to 4t+3. `aligned` says that every pointer is 16-byte aligned; the last thread, and all of
/// them otherwise, use 4-byte accesses.
template <class Step, bool kHasAddends>
__global__ void __launch_bounds__(kThreads) elementwise(const float* in, const float* addends, float* out,
                                                        std::size_t elements, unsigned work, float one, bool aligned) {
  const std::size_t first = (static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x) * kLanes;
  if (first >= elements) return;
  const bool whole = aligned && first + kLanes <= elements;
  float v[kLanes] = {};
  float addend[kLanes] = {};
  if (whole) {
    const float4 x = *reinterpret_cast<const float4*>(in + first);
    v[0] = x.x, v[1] = x.y, v[2] = x.z, v[3] = x.w;
    if constexpr (kHasAddends) {
      const float4 y = *reinterpret_cast<const float4*>(addends + first);
      addend[0] = y.x, addend[1] = y.y, addend[2] = y.z, addend[3] = y.w;
    }
  } else {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if (first + lane >= elements) break;
      v[lane] = in[first + lane];
      if constexpr (kHasAddends) addend[lane] = addends[first + lane];
    }
  }

  run_steps<Step>(v, addend, work, one);

  if (whole) {
    *reinterpret_cast<float4*>(out + first) = make_float4(v[0], v[1], v[2], v[3]);
  } else {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if (first + lane < elements) out[first + lane] = v[lane];
    }
  }
}

using Entry = void (*)(const float*, const float*, float*, std::size_t, unsigned, float, bool);

Entry entry(ElementwiseOp op) {
  switch (op) {
    case ElementwiseOp::fma: return elementwise<FmaStep, false>;
    case ElementwiseOp::vector_add: return elementwise<AddStep, true>;
    case ElementwiseOp::sincos: return elementwise<SincosStep, false>;
  }
  return nullptr;
}

bool aligned_to_vector(const float* pointer) { return reinterpret_cast<std::uintptr_t>(pointer) % sizeof(float4) == 0; }

}  // namespace

void Elementwise::preload() const {
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, entry(op_));
}

void Elementwise::launch(void* cuda_stream) const {
  const std::size_t per_block = std::size_t{kThreads} * kLanes;
  const auto blocks = static_cast<unsigned>((args_.elements + per_block - 1) / per_block);
  const bool aligned = aligned_to_vector(args_.in) && aligned_to_vector(args_.out) && aligned_to_vector(args_.addends);
  entry(op_)<<<blocks, kThreads, 0, static_cast<cudaStream_t>(cuda_stream)>>>(
      args_.in, args_.addends, args_.out, args_.elements, args_.work, 1.0F, aligned);
}

}  // namespace xferbench::kernels
