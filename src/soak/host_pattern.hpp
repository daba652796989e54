// Writes and checks the words of a soak test in host memory, with threads on all CPUs.
#pragma once

#include <cstddef>
#include <span>

#include "device/types.hpp"
#include "kernels/soak.hpp"

namespace xferbench::soak {

// The size of `memory` is a multiple of the word size. Only the words selected by `part` are written or compared.

void fill(std::span<std::byte> memory, const kernels::SoakWords& words, const PayloadPart& part);
/// Compares the memory with the expected words and returns the differences.
[[nodiscard]] kernels::SoakErrors check(std::span<const std::byte> memory, const kernels::SoakWords& words,
                                        const PayloadPart& part);

}  // namespace xferbench::soak
