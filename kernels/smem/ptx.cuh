// Wrappers for PTX instructions that C++ does not offer. Names follow the PTX ISA; the section in brackets is the
// source of each rule. Shared memory addresses in PTX are 32 bits wide.
//
// These kernels use two memory proxies. Ordinary loads and stores, and cp.async, use the generic proxy; bulk and tensor
// copies use the async proxy. A write through one proxy is visible to the other [Async proxy]
//   - async to generic: after waiting on the mbarrier that the copy completes on,
//   - generic to async: after fence_proxy_async() by each writing thread, followed by a barrier among these threads.
#pragma once

#include <cstdint>

namespace xferbench::kernels::ptx {

/// Whether the target architecture has mbarriers that count bytes, and bulk copies. Kernels that need them are compiled
/// empty for other architectures and must not be launched there.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
inline constexpr bool kHasBulkCopies = true;
#else
inline constexpr bool kHasBulkCopies = false;
#endif

__device__ inline std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// --- mbarrier: counts arrivals and bytes; a phase ends when both are complete [mbarrier]. Byte counts need sm_90.

/// Initialises `barrier`; each of its phases ends after `arrivals` arrivals. One thread calls this, then
/// fence_mbarrier_init(); then the block must synchronize.
__device__ inline void mbarrier_init(std::uint64_t* barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

/// Makes initialised barriers visible to the async proxy.
__device__ inline void fence_mbarrier_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

/// Makes one arrival. Earlier writes of this thread are visible to threads that wait for the end of the phase.
__device__ inline void mbarrier_arrive(std::uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

/// Makes one arrival that also adds `bytes` to the bytes that the phase expects. The phase ends only when copies have
/// delivered all expected bytes. Must be called before the copies are issued.
__device__ inline void mbarrier_arrive_expect_tx(std::uint64_t* barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
}

/// Waits until the phase with this parity has ended. The first phase of a barrier has parity 0, the next 1, and so on.
/// On a new barrier, parity 1 counts as ended. try_wait suspends the thread for a time that the hardware chooses.
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

/// Like mbarrier_wait(), but does not wait: returns whether the phase has ended.
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

/// Makes this thread's ordinary stores to shared memory visible to bulk and tensor copies.
__device__ inline void fence_proxy_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// --- cp.async: one thread copies 4, 8 or 16 bytes to shared memory without registers [cp.async], from sm_80.

/// Copies `bytes` bytes and fills up to kBytes with zeros; both addresses must be aligned to kBytes. 16-byte copies
/// bypass L1 (.cg); smaller copies cannot (.ca).
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

/// Commits a group: the copies that this thread has issued since the last commit.
__device__ inline void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Waits until at most the kGroups latest groups of this thread are pending. To see other threads' copies, add a
/// barrier.
template <unsigned kGroups>
__device__ inline void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroups) : "memory");
}

// --- Bulk copies: one thread issues a copy, and the multiprocessor's copy hardware executes it. From sm_90.

/// Copies from global to shared memory [cp.async.bulk]; completes on `barrier`. Addresses and size: multiples of 16.
__device__ inline void bulk_load(void* to, const void* from, unsigned bytes, std::uint64_t* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(to)),
               "l"(from), "r"(bytes), "r"(shared_address(barrier))
               : "memory");
}

/// Copies from shared to global memory, in this thread's current bulk group. Addresses and size: multiples of 16.
__device__ inline void bulk_store(void* to, const void* from, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(shared_address(from)),
               "r"(bytes)
               : "memory");
}

/// Loads a box of a matrix that begins at element `x` of row `y` [cp.async.bulk.tensor]. Always completes with the full
/// size of the box, as elements outside of the matrix are filled in. `to` must be aligned to 128 bytes or, with
/// swizzling, to the size of 8 rows of the box.
__device__ inline void tensor_load(void* to, const void* map, int x, int y, std::uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
          "r"(shared_address(to)),
      "l"(map), "r"(x), "r"(y), "r"(shared_address(barrier))
      : "memory");
}

/// Stores a box of a matrix that begins at element `x` of row `y`. Does not store elements outside of the matrix.
__device__ inline void tensor_store(const void* map, int x, int y, const void* from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x),
               "r"(y), "r"(shared_address(from))
               : "memory");
}

/// Commits a group: the bulk stores that this thread has issued since the last commit [cp.async.bulk.commit_group].
__device__ inline void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

/// Waits until all but the kGroups latest groups of this thread have read their shared memory, which may then be reused
/// or freed. The data may not have arrived in global memory yet; the end of the grid waits for that.
template <unsigned kGroups>
__device__ inline void bulk_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kGroups) : "memory");
}

}  // namespace xferbench::kernels::ptx
