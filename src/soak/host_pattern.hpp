// Writes and checks a soak's words in host memory, with all CPUs at once.
#pragma once

#include <cstddef>
#include <span>

#include "device/types.hpp"
#include "kernels/soak.hpp"

namespace xferbench::soak {

// `memory` has a whole number of words. Only words that belong to `part` are written or compared.

void fill(std::span<std::byte> memory, const kernels::SoakWords& words, const PayloadPart& part);
/// Compares the memory with the words, and returns the differences.
[[nodiscard]] kernels::SoakErrors check(std::span<const std::byte> memory, const kernels::SoakWords& words,
                                        const PayloadPart& part);

}  // namespace xferbench::soak
