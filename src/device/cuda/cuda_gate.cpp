#include "device/cuda/cuda_gate.hpp"

#include <cuda_runtime.h>

#include <atomic>
#include <new>

#include "device/cuda/check.hpp"
#include "device/cuda/cuda_stream.hpp"

namespace xferbench::cuda {

namespace {

kernels::GateFlags* make_flags() {
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, sizeof(kernels::GateFlags), cudaHostAllocMapped | cudaHostAllocPortable),
        "cudaHostAlloc (gate)");
  return new (memory) kernels::GateFlags();
}

}  // namespace

CudaGate::CudaGate(double timeout) : flags_(make_flags()), timeout_ns_(static_cast<std::uint64_t>(timeout * 1e9)) {}

CudaGate::~CudaGate() {
  CudaGate::open();
  static_cast<void>(cudaFreeHost(flags_));
}

void CudaGate::close(StreamImpl& stream) {
  if (open_) {
    flags_->timed_out = 0;
    ++ticket_;
    open_ = false;
  }
  kernels::launch_gate(flags_, ticket_, timeout_ns_, static_cast<const CudaStream&>(stream).native());
  check(cudaGetLastError(), "launching the gate kernel");
}

void CudaGate::open() noexcept {
  std::atomic_ref(flags_->opened).store(ticket_, std::memory_order_release);
  open_ = true;
}

bool CudaGate::timed_out() const { return std::atomic_ref(flags_->timed_out).load(std::memory_order_acquire) != 0; }

}  // namespace xferbench::cuda
