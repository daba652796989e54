// small: the table in the host's memory of which each step needs some rows, as a batch needs some rows of an embedding.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../common/work.cuh"

namespace examples {

constexpr std::size_t kTableRows = 65536;
constexpr std::size_t kStepRows = 256;
constexpr int kRounds = 12000;  // on a large GPU 0.3 ms for the rows of a step

inline std::size_t row_of(std::size_t step, std::size_t i) { return number(step * kStepRows + i) % kTableRows; }

/// What value i of a step's rows is after so many steps, all of them so many times over.
inline std::uint32_t expected(const std::uint32_t* table, std::size_t width, std::size_t i, std::size_t steps,
                              std::size_t passes) {
  std::uint32_t value = 0;
  for (std::size_t pass = 0; pass < passes; ++pass) {
    for (std::size_t step = 0; step < steps; ++step) {
      value = advance(value ^ table[row_of(step, i / width) * width + i % width], kRounds);
    }
  }
  return value;
}

}  // namespace examples
