// The kernels of the quicksort (device_sort.hpp). Compiled with -rdc, as dynpar.cu is.
//
// Segments may be processed at the same time if none is a part of another, because then their keys and their counters
// (counters_of) are disjoint. A side of a partition may start only when all blocks of the partition have written their
// keys. So each block adds to a counter after a fence, and the last block recognizes from the counter that it is the
// last (same pattern in CUDA C++ Programming Guide, Memory Fence Functions). The last block launches the sides with
// fire-and-forget. The sides see all memory that the launching thread saw (ibid., CUDA Dynamic Parallelism, Global
// Memory). If the host drives the sort, the host waits for the whole grid instead.
//
// One device function does one block's part of a step, given the segment and the block's index in the segment. The
// device launches one grid per segment. The host launches one grid for all segments of a level that have the same step.
// The blocks of this grid look up segment and index in a list.
#include "device/load.cuh"
#include "kernels/dynpar/device_launch.cuh"
#include "kernels/dynpar/device_sort.hpp"

namespace xferbench::kernels {

namespace {

constexpr unsigned kThreads = 256;  // threads of a block that partitions a tile
constexpr unsigned kWarp = 32;
constexpr unsigned kKeysPerThread = kPartitionTile / kThreads;
constexpr unsigned kSortThreads = 512;

// --- Sorting by one block --------------------------------------------------------------------------------------------

__device__ void order(std::uint32_t* keys, std::uint32_t low, std::uint32_t high, std::uint32_t count) {
  // A position beyond the end counts as a key that is greater than all others, so no exchange is needed.
  if (high >= count || keys[low] <= keys[high]) return;
  const std::uint32_t greater = keys[low];
  keys[low] = keys[high];
  keys[high] = greater;
}

/// Bitonic sort of any number of keys in shared or global memory. All comparisons have the same direction. Each round
/// doubles the length of the sorted runs: it compares each key with its mirror image in the doubled run, then with keys
/// at halving distances. All threads of the block must call this function.
/// Hazard: all threads must have written before the next comparisons. __syncthreads() also orders global memory within
/// the block (CUDA C++ Programming Guide, Synchronization Functions).
__device__ void sort_in_place(std::uint32_t* keys, std::uint32_t count) {
  std::uint32_t pairs = 1;
  while (2ULL * pairs < count) pairs *= 2;
  for (std::uint32_t half = 1; half < count; half *= 2) {
    for (std::uint32_t pair = threadIdx.x; pair < pairs; pair += blockDim.x) {
      const std::uint32_t low = (pair & ~(half - 1)) * 2 + (pair & (half - 1));
      order(keys, low, low ^ (2 * half - 1), count);
    }
    __syncthreads();
    for (std::uint32_t distance = half / 2; distance > 0; distance /= 2) {
      for (std::uint32_t pair = threadIdx.x; pair < pairs; pair += blockDim.x) {
        const std::uint32_t low = (pair & ~(distance - 1)) * 2 + (pair & (distance - 1));
        order(keys, low, low + distance, count);
      }
      __syncthreads();
    }
  }
}

__device__ void copy_by_block(const std::uint32_t* from, std::uint32_t* to, std::uint32_t count) {
  for (std::uint32_t i = threadIdx.x; i < count; i += blockDim.x) to[i] = from[i];
}

__device__ void sort_part(const SortArgs& args, const SortSegment& segment) {
  __shared__ std::uint32_t shared[kBlockSort];
  const std::uint32_t* from = keys_before(args, segment.depth) + segment.first;
  std::uint32_t* to = args.keys + segment.first;
  const bool fits = segment.count <= kBlockSort;
  std::uint32_t* place = fits ? shared : to;
  if (place != from) copy_by_block(from, place, segment.count);
  __syncthreads();
  sort_in_place(place, segment.count);
  if (fits) copy_by_block(shared, to, segment.count);
}

// --- Partitioning ----------------------------------------------------------------------------------------------------

/// The keys that one thread holds in registers, and whether each of them lies inside the segment.
struct RegisterKeys {
  std::uint32_t key[kKeysPerThread];
  bool there[kKeysPerThread];
};

__device__ RegisterKeys load_keys(const std::uint32_t* from, std::uint32_t count, std::uint32_t block) {
  RegisterKeys held;
#pragma unroll
  for (unsigned k = 0; k < kKeysPerThread; ++k) {
    const std::uint32_t i = block * kPartitionTile + k * kThreads + threadIdx.x;
    held.there[k] = i < count;
    held.key[k] = held.there[k] ? from[i] : 0;
  }
  return held;
}

/// Writes each key for which wanted(key) is true to *place(n) with a unique n. Each block reserves a range of n by
/// adding to `counter`, and each warp a part of the block's range. All threads of the block must call this function.
template <class Wanted, class Place>
__device__ void write_side(const RegisterKeys& held, std::uint32_t* counter, Wanted wanted, Place place) {
  __shared__ std::uint32_t in_block;
  __shared__ std::uint32_t base;
  constexpr unsigned kAll = 0xFFFFFFFF;
  if (threadIdx.x == 0) in_block = 0;
  __syncthreads();
  unsigned votes[kKeysPerThread];
  std::uint32_t in_warp = 0;
#pragma unroll
  for (unsigned k = 0; k < kKeysPerThread; ++k) {
    votes[k] = __ballot_sync(kAll, held.there[k] && wanted(held.key[k]));
    in_warp += __popc(votes[k]);
  }
  const unsigned lane = threadIdx.x % kWarp;
  std::uint32_t at = lane == 0 ? atomicAdd(&in_block, in_warp) : 0;
  at = __shfl_sync(kAll, at, 0);
  __syncthreads();
  if (threadIdx.x == 0) base = atomicAdd(counter, in_block);
  __syncthreads();
  at += base;
#pragma unroll
  for (unsigned k = 0; k < kKeysPerThread; ++k) {
    const unsigned before = __popc(votes[k] & ((1U << lane) - 1));
    if ((votes[k] >> lane & 1) != 0) *place(at + before) = held.key[k];
    at += __popc(votes[k]);
  }
  __syncthreads();  // hazard: the next call reuses the shared variables
}

/// Returns true in all threads of the block that is the last of `blocks` blocks to call this function. The last block
/// sees everything that the other blocks wrote before their calls.
__device__ bool is_last_block(std::uint32_t* done, std::uint32_t blocks) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(done, 1U) + 1 == blocks;
  __syncthreads();
  if (last) __threadfence();
  return last;
}

__device__ std::uint32_t pivot_for_block(const std::uint32_t* keys, std::uint32_t count) {
  __shared__ std::uint32_t pivot;
  if (threadIdx.x == 0) pivot = sort_pivot(keys, count);
  __syncthreads();
  return pivot;
}

/// Does one block's part of a partition: reads keys from one array and writes them to another array. One thread of the
/// last block resets the counters for the next partition that uses them, then calls hand_over(split).
template <class HandOver>
__device__ void partition_part(const SortArgs& args, const SortSegment& segment, std::uint32_t block,
                               HandOver hand_over) {
  const std::uint32_t* from = keys_before(args, segment.depth) + segment.first;
  std::uint32_t* to = keys_after(args, segment.depth) + segment.first;
  std::uint32_t* last_key = to + segment.count - 1;
  SortCounters& counters = args.counters[counters_of(segment.first)];
  const std::uint32_t pivot = pivot_for_block(from, segment.count);
  const RegisterKeys held = load_keys(from, segment.count, block);
  write_side(
      held, &counters.less, [=](std::uint32_t key) { return key < pivot; }, [=](std::uint32_t n) { return to + n; });
  write_side(
      held, &counters.greater, [=](std::uint32_t key) { return key > pivot; },
      [=](std::uint32_t n) { return last_key - n; });
  if (!is_last_block(&counters.done, partition_blocks(segment.count))) return;
  // All blocks have read their keys from the source array, so the pivots of the middle may overwrite the source array.
  const SortSplit split{counters.less, counters.greater, pivot};
  __syncthreads();  // hazard: thread 0 clears the counters below
  if (threadIdx.x == 0) {
    counters.less = counters.greater = counters.done = 0;
    __threadfence();
    hand_over(split);
  }
  const SortSegment equal = middle(segment, split);
  if (is_wide(equal)) return;
  for (std::uint32_t i = threadIdx.x; i < equal.count; i += kThreads) args.keys[equal.first + i] = pivot;
}

// --- Filling ---------------------------------------------------------------------------------------------------------

__device__ void fill_part(const SortArgs& args, const SortSegment& segment, std::uint32_t block) {
  const std::uint32_t i = block * kPartitionTile + threadIdx.x;
  for (unsigned k = 0; k < kKeysPerThread; ++k) {
    const std::uint32_t at = i + k * kThreads;
    if (at < segment.count) args.keys[segment.first + at] = segment.key;
  }
}

// --- A grid for one segment, launched by the device ------------------------------------------------------------------

__global__ void __launch_bounds__(kSortThreads) sort_segment_keys(const SortArgs args, const SortSegment segment) {
  sort_part(args, segment);
}

__global__ void __launch_bounds__(kThreads) fill_segment(const SortArgs args, const SortSegment segment) {
  fill_part(args, segment, blockIdx.x);
}

__global__ void __launch_bounds__(kThreads) partition_segment(const SortArgs args, const SortSegment segment);

__device__ void launch_step(const SortArgs& args, const SortSegment& segment) {
  constexpr auto kStream = cudaStreamFireAndForget;
  const unsigned blocks = step_blocks(segment);
  switch (segment.step) {
    case SortSegment::Step::nothing: return;
    case SortSegment::Step::partition: partition_segment<<<blocks, kThreads, 0, kStream>>>(args, segment); break;
    case SortSegment::Step::sort: sort_segment_keys<<<blocks, kSortThreads, 0, kStream>>>(args, segment); break;
    case SortSegment::Step::fill: fill_segment<<<blocks, kThreads, 0, kStream>>>(args, segment); break;
  }
  note_launch(args.status);
}

__global__ void __launch_bounds__(kThreads) partition_segment(const SortArgs args, const SortSegment segment) {
  partition_part(args, segment, blockIdx.x, [&](const SortSplit& split) {
    launch_step(args, left_side(segment, split));
    launch_step(args, right_side(segment, split));
    if (is_wide(middle(segment, split))) launch_step(args, middle(segment, split));
  });
}

// --- A grid for all segments of a level with the same step, launched by the host ---

__global__ void __launch_bounds__(kSortThreads) sort_level(const SortArgs args, const SortBatch batch) {
  const SortSegment segment = batch.segments[batch.work[blockIdx.x].segment];
  sort_part(args, segment);
}

__global__ void __launch_bounds__(kThreads) fill_level(const SortArgs args, const SortBatch batch) {
  const SortWork work = batch.work[blockIdx.x];
  const SortSegment segment = batch.segments[work.segment];
  fill_part(args, segment, work.block);
}

__global__ void __launch_bounds__(kThreads) partition_level(const SortArgs args, const SortBatch batch) {
  const SortWork work = batch.work[blockIdx.x];
  const SortSegment segment = batch.segments[work.segment];
  partition_part(args, segment, work.block, [&](const SortSplit& split) { batch.splits[work.segment] = split; });
}

}  // namespace

void SortGrid::preload() const { load(partition_level, sort_level, fill_level); }

void SortGrid::launch(void* cuda_stream) const {
  const auto stream = static_cast<cudaStream_t>(cuda_stream);
  switch (batch_.step) {
    case SortSegment::Step::nothing: break;
    case SortSegment::Step::partition: partition_level<<<batch_.blocks, kThreads, 0, stream>>>(args_, batch_); break;
    case SortSegment::Step::sort: sort_level<<<batch_.blocks, kSortThreads, 0, stream>>>(args_, batch_); break;
    case SortSegment::Step::fill: fill_level<<<batch_.blocks, kThreads, 0, stream>>>(args_, batch_); break;
  }
}

/// Loads the first kernel and the kernels that the device will launch, because the device cannot load code.
void DeviceSort::preload() const { load(partition_segment, sort_segment_keys, fill_segment); }

void DeviceSort::launch(void* cuda_stream) const {
  const auto stream = static_cast<cudaStream_t>(cuda_stream);
  const SortSegment whole = sort_segment(0, count_, 0);
  if (whole.step == SortSegment::Step::partition) {
    partition_segment<<<step_blocks(whole), kThreads, 0, stream>>>(args_, whole);
  } else {
    sort_segment_keys<<<1, kSortThreads, 0, stream>>>(args_, whole);
  }
}

}  // namespace xferbench::kernels
