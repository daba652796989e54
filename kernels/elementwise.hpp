// Elementwise kernels: the computation between the copies. out[i] depends on in[i] alone, so the result does not depend
// on the chunking. Every step is exact in single precision, so the result has a bit-exact closed form:
//   fma         out = in + work          `work` dependent fused multiply-adds  v = v * 1 + 1
//   vector-add  out = in + work * addend `work` additions of a second vector that stays on the device
//   sincos      out = in + work          `work` steps  v = v + rint(sqrt(sin^2 + cos^2)), both functions evaluated
#pragma once

#include <array>

#include "device/kernel.hpp"

namespace xferbench::kernels {

enum class ElementwiseOp { fma, vector_add, sincos };

inline constexpr std::array<std::string_view, 3> kElementwiseNames{"fma", "vector-add", "sincos"};

/// Maximum number of steps. With in <= 2^22 and addend <= 4 every sum stays below 2^24, where floats hold all integers.
inline constexpr std::uint64_t kMaxWork = 1U << 20;

/// Returns element `index` of the second vector of vector-add: 1 to 4.
constexpr float addend(std::uint64_t index) { return static_cast<float>(1 + (index * 2654435761U >> 13) % 4); }

/// Returns out[index] by the closed form.
constexpr float expected(ElementwiseOp op, float in, std::uint64_t index, std::uint64_t work) {
  const auto steps = static_cast<float>(work);
  return op == ElementwiseOp::vector_add ? in + steps * addend(index) : in + steps;
}

/// All pointers are device addresses of `elements` floats, with the alignment of float; `in` and `out` may be the same.
struct ElementwiseArgs {
  const float* in = nullptr;
  const float* addends = nullptr;  ///< second vector of vector_add; unused by other kernels
  float* out = nullptr;
  std::size_t elements = 0;
  std::uint32_t work = 1;
  unsigned blocks = 0;          ///< grid size of a grid-stride kernel; 0: one thread per four elements
  bool on_host_memory = false;  ///< `in` and `out` are page-locked host memory, accessed over the link
};

class Elementwise final : public KernelOf<Elementwise> {
 public:
  Elementwise(ElementwiseOp op, const ElementwiseArgs& args) : op_(op), args_(args) {}

  [[nodiscard]] std::string_view name() const override { return kElementwiseNames[static_cast<std::size_t>(op_)]; }
  [[nodiscard]] KernelCost cost() const override;
  [[nodiscard]] std::span<std::byte> output() const override;
  [[nodiscard]] std::vector<std::span<const std::byte>> inputs_by_position() const override;
  void compute_part(std::size_t offset, std::span<std::byte> result) const override;
#if XFERBENCH_WITH_CUDA
  void preload() const override;
  void launch(void* cuda_stream) const override;
#endif

 private:
  ElementwiseOp op_;
  ElementwiseArgs args_;
};

}  // namespace xferbench::kernels
