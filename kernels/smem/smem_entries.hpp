// Each function returns the compiled tile kernel for a launch, from one source file. `vectors`: 16-byte vectors that a
// thread holds at a time, 1, 2 or 4. All kernels take a SmemWork; kernels of smem_tma.cu also take two tensor maps.
#pragma once

#include "kernels/smem/smem.hpp"

namespace xferbench::kernels {

const void* smem_plain_kernel(const SmemShape& shape, unsigned vectors);  // methods direct, sync, prefetch
const void* smem_cp_async_kernel(const SmemShape& shape, unsigned vectors);
const void* smem_library_kernel(const SmemShape& shape, unsigned vectors);  // methods pipeline, cg
const void* smem_bulk_kernel(const SmemShape& shape, unsigned vectors);
const void* smem_tma_kernel(const SmemShape& shape, unsigned vectors);  // methods tma, tma_specialized

}  // namespace xferbench::kernels
