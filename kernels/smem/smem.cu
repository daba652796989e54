// Launches the tile kernels: computes their arguments, tensor maps and grid sizes.
#include "kernels/smem/smem.hpp"

#include <cuda.h>
#include <cuda_runtime.h>

#include <bit>

#include "kernels/smem/smem_entries.hpp"
#include "kernels/smem/smem_work.hpp"

namespace xferbench::kernels {

namespace {

constexpr unsigned kVectorBytes = 16;

const void* kernel_of(const SmemShape& shape) {
  const unsigned vectors = shape.vectors_at_a_time();
  switch (shape.method) {
    case SmemMethod::direct:
    case SmemMethod::sync:
    case SmemMethod::prefetch: return smem_plain_kernel(shape, vectors);
    case SmemMethod::cp_async: return smem_cp_async_kernel(shape, vectors);
    case SmemMethod::pipeline:
    case SmemMethod::cg: return smem_library_kernel(shape, vectors);
    case SmemMethod::bulk: return smem_bulk_kernel(shape, vectors);
    case SmemMethod::tma:
    case SmemMethod::tma_specialized: return smem_tma_kernel(shape, vectors);
  }
  return nullptr;
}

SmemWork work_of(const SmemShape& shape, const SmemArgs& args) {
  SmemWork w{};
  w.in = args.in;
  w.out = args.out;
  w.sums = reinterpret_cast<std::uint32_t*>(args.out);
  w.queue = shape.schedule == SmemSchedule::dynamic ? args.queue : nullptr;
  w.pitch = shape.pitch;
  w.step = std::uint64_t{shape.threads} * kVectorBytes / shape.tile_width * shape.pitch;
  w.rows = static_cast<std::uint32_t>(shape.rows);
  w.row_bytes = static_cast<std::uint32_t>(shape.row_bytes);
  w.last_row_bytes = static_cast<std::uint32_t>(shape.last_row_bytes);
  w.across = static_cast<std::uint32_t>(shape.tiles_across());
  w.tiles = static_cast<std::uint32_t>(shape.tiles());
  w.tile_bytes = shape.tile_bytes;
  w.tile_rows = shape.tile_rows();
  w.width_log2 = static_cast<std::uint32_t>(std::countr_zero(shape.tile_width));
  w.threads = shape.threads;
  w.groups = shape.tile_bytes / (kVectorBytes * shape.threads * shape.vectors_at_a_time());
  w.stages = shape.stages;
  w.swizzle = shape.swizzle == 0 ? 0 : shape.swizzle / kVectorBytes - 1;
  w.intensity = shape.part == SmemPart::memory ? 0 : shape.intensity;
  w.one = 1.0F;
  w.halve = shape.op == SmemOp::scale && shape.part != SmemPart::memory;
  w.reads = shape.op == SmemOp::read;
  w.is_array = shape.is_array();
  w.copies = shape.part != SmemPart::compute;
  w.async_store = shape.uses_async_store();
  return w;
}

// --- Tensor maps.

using TensorMapEncoder = decltype(&cuTensorMapEncodeTiled);

/// Returns cuTensorMapEncodeTiled, looked up in the driver at run time so that programs need not link with libcuda.
/// Null if the driver is too old.
TensorMapEncoder tensor_map_encoder() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  constexpr unsigned kSince = 12000;
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, kSince, cudaEnableDefault, &found) !=
          cudaSuccess ||
      found != cudaDriverEntryPointSuccess) {
    return nullptr;
  }
  return reinterpret_cast<TensorMapEncoder>(function);
}

CUtensorMapSwizzle swizzle_mode(unsigned span) {
  switch (span) {
    case 32: return CU_TENSOR_MAP_SWIZZLE_32B;
    case 64: return CU_TENSOR_MAP_SWIZZLE_64B;
    case 128: return CU_TENSOR_MAP_SWIZZLE_128B;
    default: return CU_TENSOR_MAP_SWIZZLE_NONE;
  }
}

/// Encodes a tensor map of the first `row_bytes` of each row at `memory`. Its box is one tile. Leaves out the last row
/// if it is shorter, because a tensor is a rectangle. Returns false if the driver reports an error.
bool encode(TensorMapEncoder encoder, CUtensorMap& map, const SmemShape& shape, const std::byte* memory,
            std::uint64_t row_bytes) {
  const auto element = static_cast<unsigned>(bytes_of(shape.type));
  const bool cut_short = shape.last_row_bytes != shape.row_bytes;
  const std::array<cuuint64_t, 2> sides{row_bytes / element, shape.rows - (cut_short ? 1 : 0)};
  const std::array<cuuint64_t, 1> strides{shape.pitch};
  const std::array<cuuint32_t, 2> box{shape.tile_width / element, shape.tile_rows()};
  const std::array<cuuint32_t, 2> every{1, 1};
  return encoder(&map, shape.type == SmemType::f32 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                 2, const_cast<std::byte*>(memory), sides.data(), strides.data(), box.data(), every.data(),
                 CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle_mode(shape.swizzle), CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                 shape.fill_nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                                : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

bool uses_tensor_maps(SmemMethod method) { return method == SmemMethod::tma || method == SmemMethod::tma_specialized; }

struct TensorMaps {
  CUtensorMap in{};
  CUtensorMap out{};
};

/// Encodes the tensor maps of input and output. Returns false if the driver reports an error.
bool encode_both(TensorMaps& maps, const SmemShape& shape, const SmemArgs& args) {
  const TensorMapEncoder encoder = tensor_map_encoder();
  if (encoder == nullptr || !encode(encoder, maps.in, shape, args.in, shape.row_bytes)) return false;
  // A tensor store writes whole 16-byte vectors, so the map leaves out a partial vector at the end of each row.
  const std::uint64_t whole_vectors = shape.row_bytes / kVectorBytes * kVectorBytes;
  return !shape.uses_async_store() || encode(encoder, maps.out, shape, args.out, whole_vectors);
}

/// Allows a kernel `bytes` of dynamic shared memory; more than 48 KiB need this call. Never lowers an earlier request.
void allow_shared_memory(const void* kernel, std::size_t bytes) {
  cudaFuncAttributes attributes{};
  if (cudaFuncGetAttributes(&attributes, kernel) != cudaSuccess) return;
  if (static_cast<std::size_t>(attributes.maxDynamicSharedSizeBytes) >= bytes) return;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
}

}  // namespace

void Smem::preload() const { allow_shared_memory(kernel_of(shape_), shape_.shared_bytes()); }

void Smem::launch(void* cuda_stream) const {
  SmemWork work = work_of(shape_, args_);
  TensorMaps maps;
  if (uses_tensor_maps(shape_.method) && !encode_both(maps, shape_, args_)) {
    // Reports the missing tensor maps as a launch error: a launch with an empty grid always fails.
    cudaLaunchKernel(kernel_of(shape_), dim3(0), dim3(0), nullptr, 0, static_cast<cudaStream_t>(cuda_stream));
    return;
  }
  std::array<void*, 3> arguments{&work, &maps.in, &maps.out};
  const void* kernel = kernel_of(shape_);
  allow_shared_memory(kernel, shape_.shared_bytes());
  cudaLaunchKernel(kernel, dim3(static_cast<unsigned>(shape_.grid())), dim3(shape_.launched_threads()),
                   arguments.data(), shape_.shared_bytes(), static_cast<cudaStream_t>(cuda_stream));
}

std::optional<KernelResources> Smem::resources() const {
  const void* kernel = kernel_of(shape_);
  allow_shared_memory(kernel, shape_.shared_bytes());
  cudaFuncAttributes attributes{};
  int blocks = 0;
  if (cudaFuncGetAttributes(&attributes, kernel) != cudaSuccess ||
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, static_cast<int>(shape_.launched_threads()),
                                                    shape_.shared_bytes()) != cudaSuccess) {
    return std::nullopt;
  }
  return KernelResources{static_cast<unsigned>(attributes.numRegs), attributes.sharedSizeBytes + shape_.shared_bytes(),
                         attributes.localSizeBytes, static_cast<unsigned>(blocks)};
}

}  // namespace xferbench::kernels
