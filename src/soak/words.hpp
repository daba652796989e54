// A soak's words in the host's memory: written and compared by all processors at once.
#pragma once

#include <cstddef>
#include <span>

#include "device/types.hpp"
#include "kernels/soak.hpp"

namespace xferbench::soak {

// A whole number of words, of which what does not belong to `part` is left out.

void fill(std::span<std::byte> memory, const kernels::SoakWords& words, const PayloadPart& part);
/// What is wrong in it.
[[nodiscard]] kernels::SoakFound check(std::span<const std::byte> memory, const kernels::SoakWords& words,
                                       const PayloadPart& part);

}  // namespace xferbench::soak
