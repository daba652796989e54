// Host side of the elementwise kernels: cost model and reference result.
#include "kernels/elementwise.hpp"

#include <algorithm>
#include <cstring>

namespace xferbench::kernels {

KernelCost Elementwise::cost() const {
  // Number of FMA equivalents: sincosf, square root, rounding and additions of one step take about 40 instructions.
  const double fma_per_step = op_ == ElementwiseOp::sincos ? 40 : 1;
  const std::size_t vector = args_.elements * sizeof(float);
  KernelCost cost;
  cost.fma = static_cast<double>(args_.elements) * args_.work * fma_per_step;
  cost.bytes = op_ == ElementwiseOp::vector_add ? vector : 0;
  if (args_.on_host_memory) {
    cost.h2d_bytes = cost.d2h_bytes = vector;
  } else {
    cost.bytes += 2 * vector;
    cost.blocks = args_.blocks;
  }
  return cost;
}

std::span<std::byte> Elementwise::output() const {
  return std::as_writable_bytes(std::span(args_.out, args_.elements));
}

std::vector<std::span<const std::byte>> Elementwise::inputs_by_position() const {
  std::vector<std::span<const std::byte>> inputs{std::as_bytes(std::span(args_.in, args_.elements))};
  if (op_ == ElementwiseOp::vector_add) inputs.push_back(std::as_bytes(std::span(args_.addends, args_.elements)));
  return inputs;
}

void Elementwise::compute_part(std::size_t offset, std::span<std::byte> result) const {
  // All steps are exact, so `work` steps equal one addition of their sum. Inputs are read from memory, so that wrong
  // input data gives a wrong result.
  const auto steps = static_cast<float>(args_.work);
  const std::size_t first = offset / sizeof(float);
  const std::size_t elements = result.size() / sizeof(float);
  constexpr std::size_t kBlock = 1024;
  std::array<float, kBlock> block;
  for (std::size_t begin = 0; begin < elements; begin += kBlock) {
    const std::size_t n = std::min(kBlock, elements - begin);
    for (std::size_t i = 0; i < n; ++i) {
      const float step = op_ == ElementwiseOp::vector_add ? args_.addends[first + begin + i] : 1.0F;
      block[i] = args_.in[first + begin + i] + steps * step;
    }
    std::memcpy(result.data() + begin * sizeof(float), block.data(), n * sizeof(float));
  }
}

}  // namespace xferbench::kernels
