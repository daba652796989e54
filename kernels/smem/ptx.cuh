// The instructions that C++ has no words for, each wrapped once. Names follow the PTX ISA, whose sections (in brackets)
// are the source of every rule here. Shared memory addresses in PTX are 32 bits wide.
//
// Two views of memory meet in these kernels. Ordinary loads and stores, and cp.async, go through the generic proxy;
// bulk and tensor copies go through the async proxy. What one proxy wrote the other sees
//   - async to generic: after waiting on the mbarrier that the copy completes on,
//   - generic to async: after fence_proxy_async() by each thread that wrote, and a barrier among them. [Async proxy]
#pragma once

#include <cstdint>

namespace xferbench::kernels::ptx {

/// Whether the architecture that is being compiled for has mbarriers that count bytes, and bulk copies. Kernels that
/// need them are empty where it has not; nobody launches them there.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
inline constexpr bool kHasBulkCopies = true;
#else
inline constexpr bool kHasBulkCopies = false;
#endif

__device__ inline std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// --- mbarrier: counts arrivals and bytes; a phase ends when both are complete [mbarrier], from sm_90 with bytes.

/// `arrivals` end a phase. One thread initialises, then fence_mbarrier_init(), then a barrier of the block.
__device__ inline void mbarrier_init(std::uint64_t* barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

/// Makes initialised barriers visible to the async proxy.
__device__ inline void fence_mbarrier_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

/// One arrival; what this thread wrote before is visible to who waits for the phase.
__device__ inline void mbarrier_arrive(std::uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

/// One arrival that also announces bytes: the phase ends when copies have brought them. Before the copies are issued,
/// so that the phase cannot end between them.
__device__ inline void mbarrier_arrive_expect_tx(std::uint64_t* barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
}

/// Waits for the end of the phase of this parity: 0 for a barrier's first, then in turns. A barrier that has just been
/// initialised counts the phase of parity 1 as ended. try_wait sleeps for a time that the system chooses.
__device__ inline void mbarrier_wait(std::uint64_t* barrier, unsigned parity) {
  unsigned done = 0;
  while (done == 0) {
    asm volatile(
        "{\n"
        ".reg .pred ended;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2;\n"
        "selp.u32 %0, 1, 0, ended;\n"
        "}"
        : "=r"(done)
        : "r"(shared_address(barrier)), "r"(parity)
        : "memory");
  }
}

/// Whether that phase has ended. Does not wait.
__device__ inline bool mbarrier_ended(std::uint64_t* barrier, unsigned parity) {
  unsigned ended = 0;
  asm volatile(
      "{\n"
      ".reg .pred ended;\n"
      "mbarrier.test_wait.parity.shared::cta.b64 ended, [%1], %2;\n"
      "selp.u32 %0, 1, 0, ended;\n"
      "}"
      : "=r"(ended)
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
  return ended != 0;
}

/// What this thread wrote to shared memory by ordinary stores may be read by bulk and tensor copies.
__device__ inline void fence_proxy_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// --- cp.async: one thread copies 4, 8 or 16 bytes to shared memory past the registers [cp.async], from sm_80.

/// `bytes` of them come from `from` and the rest are zeros; both addresses are aligned to kBytes. The 16-byte copy goes
/// past L1 (.cg), the others do not know that (.ca).
template <unsigned kBytes>
__device__ inline void cp_async(void* to, const void* from, unsigned bytes) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(to)), "l"(from), "n"(kBytes),
                 "r"(bytes)
                 : "memory");
  }
}

/// The copies that this thread issued since the last commit are a group.
__device__ inline void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Waits until at most kGroups of this thread's latest groups are on their way. For the block: a barrier behind it.
template <unsigned kGroups>
__device__ inline void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroups) : "memory");
}

// --- Bulk copies: one thread issues, the copy engine of the multiprocessor does the rest, from sm_90.

/// Global to shared memory [cp.async.bulk]; completes on `barrier`. Addresses and size are multiples of 16.
__device__ inline void bulk_load(void* to, const void* from, unsigned bytes, std::uint64_t* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(to)),
               "l"(from), "r"(bytes), "r"(shared_address(barrier))
               : "memory");
}

/// Shared to global memory, in this thread's bulk group. Addresses and size are multiples of 16.
__device__ inline void bulk_store(void* to, const void* from, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(shared_address(from)),
               "r"(bytes)
               : "memory");
}

/// A box of a matrix that begins at element `x` of row `y` [cp.async.bulk.tensor]; always completes with the box's full
/// size, as what lies outside of the matrix is filled in. Shared memory aligned to 128 bytes; with swizzles to 8 rows.
__device__ inline void tensor_load(void* to, const void* map, int x, int y, std::uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
          "r"(shared_address(to)),
      "l"(map), "r"(x), "r"(y), "r"(shared_address(barrier))
      : "memory");
}

/// What of the box lies outside of the matrix is not stored.
__device__ inline void tensor_store(const void* map, int x, int y, const void* from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x),
               "r"(y), "r"(shared_address(from))
               : "memory");
}

/// The bulk stores that this thread issued since the last commit are a group [cp.async.bulk.commit_group].
__device__ inline void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

/// Waits until all but the latest kGroups of this thread's groups have read their shared memory, which may then be
/// written again, or go with the block. Their data may not have arrived yet; the end of the grid waits for that.
template <unsigned kGroups>
__device__ inline void bulk_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kGroups) : "memory");
}

}  // namespace xferbench::kernels::ptx
