// The kernels behind smem.hpp, one function for each family; each returns the kernel for a shape, whose threads hold
// `vectors` 16-byte vectors at a time: 1, 2 or 4. All take a SmemWork; those of smem_tma.cu also take two tensor maps.
#pragma once

#include "kernels/smem/smem.hpp"

namespace xferbench::kernels {

const void* smem_plain_kernel(const SmemShape& shape, unsigned vectors);     // direct, sync, prefetch
const void* smem_cp_async_kernel(const SmemShape& shape, unsigned vectors);  // cp_async
const void* smem_library_kernel(const SmemShape& shape, unsigned vectors);   // pipeline, cg
const void* smem_bulk_kernel(const SmemShape& shape, unsigned vectors);      // bulk
const void* smem_tma_kernel(const SmemShape& shape, unsigned vectors);       // tma, tma_specialized

}  // namespace xferbench::kernels
