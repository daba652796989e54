// Rules for legal launches of the tile kernels. Pure functions of a shape and the limits of a multiprocessor. If a rule
// is broken, they return a sentence that says what is wrong, what is expected, and which flag to change.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "device/types.hpp"
#include "kernels/smem/smem.hpp"

namespace xferbench {

/// Whether the method uses tensor copies (TMA), which copy boxes of a matrix.
constexpr bool by_tensor_copy(kernels::SmemMethod method) {
  return method == kernels::SmemMethod::tma || method == kernels::SmemMethod::tma_specialized;
}
/// Whether the method uses bulk copies (compute capability 9.0), with or without a tensor map.
constexpr bool by_bulk_copy(kernels::SmemMethod method) {
  return method == kernels::SmemMethod::bulk || by_tensor_copy(method);
}

/// Returns a description of the rule that the shape breaks on every GPU; nothing if the shape is legal.
std::optional<std::string> broken_rule(const kernels::SmemShape& shape);
/// Like the function above, and also checks the limits of the given multiprocessor.
std::optional<std::string> broken_rule(const kernels::SmemShape& shape, const Multiprocessor& multiprocessor);

/// Returns how many blocks fit on one multiprocessor, by threads and shared memory. Registers may allow fewer.
unsigned most_blocks(const kernels::SmemShape& shape, const Multiprocessor& multiprocessor);
/// Returns why `asked` blocks (nothing: at least one) do not fit on a multiprocessor that has space for `fit` blocks;
/// nothing if they fit. `limit`: subject and verb of the returned sentence, which ends in "room for N".
std::optional<std::string> no_room(std::optional<unsigned> asked, unsigned fit, std::string_view limit);

}  // namespace xferbench
