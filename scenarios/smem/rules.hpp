// Not a scenario: which launches of the tile kernels are legal. Pure functions of a shape and of what a multiprocessor
// offers; a reason is one sentence with what was wrong, what is expected, and which flag to change.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "device/types.hpp"
#include "kernels/smem/smem.hpp"

namespace xferbench {

/// Tensor copies, which know a matrix and its boxes (TMA).
constexpr bool by_tensor_copy(kernels::SmemMethod method) {
  return method == kernels::SmemMethod::tma || method == kernels::SmemMethod::tma_specialized;
}
/// Bulk copies by the asynchronous copy engine of compute capability 9.0, with or without a tensor map.
constexpr bool by_bulk_copy(kernels::SmemMethod method) {
  return method == kernels::SmemMethod::bulk || by_tensor_copy(method);
}

/// The rule that the shape breaks on every GPU, or nothing.
std::optional<std::string> broken_rule(const kernels::SmemShape& shape);
/// The same, and what this GPU cannot do.
std::optional<std::string> broken_rule(const kernels::SmemShape& shape, const Multiprocessor& multiprocessor);

/// Blocks that fit one multiprocessor at once by their threads and their shared memory. Registers may allow fewer.
unsigned most_blocks(const kernels::SmemShape& shape, const Multiprocessor& multiprocessor);
/// Why a multiprocessor does not take as many blocks as were asked for (nothing: one at least) where `fit` of them fit.
/// `limit` begins "... room for {}": what it is that leaves it.
std::optional<std::string> no_room(std::optional<unsigned> asked, unsigned fit, std::string_view limit);

}  // namespace xferbench
