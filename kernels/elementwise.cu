// Elementwise kernels with two kinds of grid. With one float4 per thread, a kernel on an H200 reaches the rate of a
// device-to-device copy; grid-stride kernels do not. A grid of fixed size with a grid-stride loop is for kernels that
// leave multiprocessors to others, and for kernels that read and write over the link. In such a loop each thread keeps
// several loads in flight, because a load over the link takes more than a microsecond.
#include <algorithm>
#include <type_traits>

#include "device/load.cuh"
#include "kernels/elementwise.hpp"

namespace xferbench::kernels {

namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kLanes = 4;     // elements that a thread accesses at a time, as one 16-byte vector
constexpr unsigned kInFlight = 4;  // 16-byte loads that a thread of a grid-stride kernel issues before its first store

// Argument `one` is 1.0f. The host passes it, so that the compiler cannot fold the chain of steps into one step.

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

/// Kernel arguments. `aligned` is true if every pointer is 16-byte aligned.
struct Operands {
  const float* in;
  const float* addends;
  float* out;
  std::size_t elements;
  unsigned work;
  float one;
  bool aligned;
};

/// The four elements of a thread. They are accessed as one 16-byte vector if alignment and size allow it, else one by
/// one.
template <bool kHasAddends>
class Lanes {
 public:
  __device__ Lanes(const Operands& o, std::size_t first)
      : first_(first), whole_(o.aligned && first + kLanes <= o.elements) {}

  __device__ void load(const Operands& o) {
    if (whole_) {
      const float4 x = *reinterpret_cast<const float4*>(o.in + first_);
      v_[0] = x.x, v_[1] = x.y, v_[2] = x.z, v_[3] = x.w;
      if constexpr (kHasAddends) {
        const float4 y = *reinterpret_cast<const float4*>(o.addends + first_);
        addend_[0] = y.x, addend_[1] = y.y, addend_[2] = y.z, addend_[3] = y.w;
      }
      return;
    }
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if (first_ + lane >= o.elements) break;
      v_[lane] = o.in[first_ + lane];
      if constexpr (kHasAddends) addend_[lane] = o.addends[first_ + lane];
    }
  }

  template <class Step>
  __device__ void work_and_store(const Operands& o) {
    run_steps<Step>(v_, addend_, o.work, o.one);
    if (whole_) {
      *reinterpret_cast<float4*>(o.out + first_) = make_float4(v_[0], v_[1], v_[2], v_[3]);
      return;
    }
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if (first_ + lane < o.elements) o.out[first_ + lane] = v_[lane];
    }
  }

 private:
  std::size_t first_;
  bool whole_;
  float v_[kLanes] = {};
  float addend_[kLanes] = {};
};

__device__ std::size_t first_element() {
  return (static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x) * kLanes;
}

/// Thread t owns elements 4t to 4t+3.
template <class Step, bool kHasAddends>
__global__ void __launch_bounds__(kThreads) elementwise(const Operands o) {
  const std::size_t first = first_element();
  if (first >= o.elements) return;
  Lanes<kHasAddends> lanes(o, first);
  lanes.load(o);
  lanes.template work_and_store<Step>(o);
}

/// Grid-stride kernel for a grid of any size; each thread issues kInFlight loads before its first store. The sincos
/// kernel has a launch bound of one block per multiprocessor, because without a bound (0) the assembler limits a thread
/// to 32 registers and the kernel spills.
template <class Step, bool kHasAddends>
__global__ void __launch_bounds__(kThreads, std::is_same_v<Step, SincosStep> ? 1 : 0)
    elementwise_striding(const Operands o) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * kThreads * kLanes;
  std::size_t i = first_element();
  for (; i + (kInFlight - 1) * stride < o.elements; i += kInFlight * stride) {
    Lanes<kHasAddends> held[kInFlight] = {{o, i}, {o, i + stride}, {o, i + 2 * stride}, {o, i + 3 * stride}};
#pragma unroll
    for (unsigned k = 0; k < kInFlight; ++k) held[k].load(o);
#pragma unroll
    for (unsigned k = 0; k < kInFlight; ++k) held[k].template work_and_store<Step>(o);
  }
  for (; i < o.elements; i += stride) {
    Lanes<kHasAddends> lanes(o, i);
    lanes.load(o);
    lanes.template work_and_store<Step>(o);
  }
}

using Entry = void (*)(Operands);

/// Returns the kernel for an operation and a kind of grid (`striding`: with a grid-stride loop).
Entry entry(ElementwiseOp op, bool striding) {
  switch (op) {
    case ElementwiseOp::fma: return striding ? elementwise_striding<FmaStep, false> : elementwise<FmaStep, false>;
    case ElementwiseOp::vector_add: return striding ? elementwise_striding<AddStep, true> : elementwise<AddStep, true>;
    case ElementwiseOp::sincos:
      return striding ? elementwise_striding<SincosStep, false> : elementwise<SincosStep, false>;
  }
  return nullptr;
}

bool aligned_to_vector(const float* pointer) { return reinterpret_cast<std::uintptr_t>(pointer) % sizeof(float4) == 0; }

}  // namespace

void Elementwise::preload() const { load(entry(op_, false), entry(op_, true)); }

void Elementwise::launch(void* cuda_stream) const {
  const std::size_t per_block = std::size_t{kThreads} * kLanes;
  const auto all_blocks = static_cast<unsigned>((args_.elements + per_block - 1) / per_block);
  const bool striding = args_.blocks > 0;
  const unsigned blocks = striding ? std::min(args_.blocks, all_blocks) : all_blocks;
  const bool aligned = aligned_to_vector(args_.in) && aligned_to_vector(args_.out) && aligned_to_vector(args_.addends);
  const Operands operands{args_.in, args_.addends, args_.out, args_.elements, args_.work, 1.0F, aligned};
  entry(op_, striding)<<<blocks, kThreads, 0, static_cast<cudaStream_t>(cuda_stream)>>>(operands);
}

}  // namespace xferbench::kernels
