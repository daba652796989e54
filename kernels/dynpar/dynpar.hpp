// Many small kernels, called children, and the ways in which a kernel launches them. A child does `work` dependent
// arithmetic steps and writes the result, which depends on its index, to a slot of its own. The slot of a child that
// did not run stays unchanged.
//
// Rules of launches from the device (CUDA C++ Programming Guide, CUDA Dynamic Parallelism, version 2, which exists
// since CUDA 12 and is the only version from compute capability 9.0 on):
//
//   fire-and-forget  a child may start at once, concurrently with its parent, and is not ordered with its siblings
//   tail             a child starts when its parent and all fire-and-forget children of the parent have ended; tail
//                    launches of one kernel run in launch order
//
// A kernel cannot wait for its children, but it completes only when all of them have: the host waits for the first
// kernel alone. The number of launches pending at once is limited (Device::reserve_device_launches).
#pragma once

#include <cstring>

#include "device/kernel.hpp"
#include "kernels/dynpar/device_launch.hpp"

namespace xferbench::kernels {

/// Says which child launches which. Children are numbered level by level. The first kernel launches level 0; the
/// children of one child have consecutive numbers in the next level.
class LaunchTree {
 public:
  /// Maximum number of levels; CUDA allows grids to nest 24 levels deep.
  static constexpr std::uint32_t kMaxLevels = 16;

  constexpr LaunchTree() = default;
  /// Distributes `children` over `levels` levels; needs 1 <= levels <= kMaxLevels and children >= levels. Uses the
  /// smallest fan-out F with F + F^2 + ... + F^levels >= children. Level 0 has F children, and each further level has F
  /// times as many as the level above, or fewer if not enough remain, as each level below gets at least one child.
  constexpr LaunchTree(std::uint32_t children, std::uint32_t levels) : levels_(levels) {
    const std::uint64_t fan_out = least_fan_out(children, levels);
    std::uint64_t width = 1;
    for (std::uint32_t level = 0; level < levels; ++level) {
      const std::uint32_t below = levels - 1 - level;
      const std::uint32_t most = children - first_[level] - below;
      width = width * fan_out < most ? width * fan_out : most;
      first_[level + 1] = first_[level] + static_cast<std::uint32_t>(width);
    }
  }

  [[nodiscard]] constexpr std::uint32_t children() const { return first_[levels_]; }
  [[nodiscard]] constexpr std::uint32_t levels() const { return levels_; }
  /// Returns the number of the first child of a level; first(levels()) is the number of all children.
  [[nodiscard]] constexpr std::uint32_t first(std::uint32_t level) const { return first_[level]; }
  [[nodiscard]] constexpr std::uint32_t width(std::uint32_t level) const { return first_[level + 1] - first_[level]; }
  /// Returns the first child launched by child `index` of `level`. Its last child is first_child(level, index + 1) - 1.
  [[nodiscard]] constexpr std::uint32_t first_child(std::uint32_t level, std::uint32_t index) const {
    const std::uint64_t place = index - first_[level];
    return first_[level + 1] + static_cast<std::uint32_t>(place * width(level + 1) / width(level));
  }

 private:
  static constexpr std::uint64_t least_fan_out(std::uint64_t children, std::uint32_t levels) {
    std::uint64_t fan_out = 0;
    for (std::uint64_t room = 0; room < children;) {
      ++fan_out;
      room = 0;
      std::uint64_t width = 1;
      for (std::uint32_t level = 0; level < levels && room < children; ++level) room += width *= fan_out;
    }
    return fan_out;
  }

  std::uint32_t levels_ = 0;
  std::uint32_t first_[kMaxLevels + 1] = {};  // NOLINT: a plain array, which device code can read
};

/// Constants of a step of a child: v = v * factor + addend modulo 2^32. Kernels get both from the host, because a
/// compiler that knew them would fold several steps into one.
inline constexpr std::uint32_t kStepFactor = 1664525;
inline constexpr std::uint32_t kStepAddend = 1013904223;

/// Returns the start value of child `index`, which is different for every child.
constexpr std::uint32_t child_seed(std::uint32_t seed, std::uint32_t index) { return (index + 1) * 2654435761U ^ seed; }

/// Returns the result of child `index` after `work` steps, by repeated squaring in about log2(work) iterations.
constexpr std::uint32_t child_result(std::uint32_t seed, std::uint32_t index, std::uint32_t work) {
  std::uint32_t factor = kStepFactor;
  std::uint32_t addend = kStepAddend;
  std::uint32_t value = child_seed(seed, index);
  for (; work > 0; work >>= 1) {
    if ((work & 1) != 0) value = value * factor + addend;
    addend = addend * factor + addend;
    factor *= factor;
  }
  return value;
}

/// Arguments common to all children, passed by value to each of them.
struct ChildrenArgs {
  LaunchTree tree;
  std::uint32_t* slots = nullptr;  ///< device memory; one word per child
  LaunchStatus* status = nullptr;
  std::uint32_t work = 0;
  std::uint32_t seed = 0;
  std::uint32_t factor = kStepFactor;  ///< kStepFactor, as an argument so that the compiler cannot fold steps
  std::uint32_t addend = kStepAddend;
  /// For tests, may be null. Word 0 counts the children that have started; their indices follow in starting order.
  std::uint32_t* journal = nullptr;
};

/// One child, launched by the host.
class Child final : public KernelOf<Child> {
 public:
  Child(const ChildrenArgs& args, std::uint32_t index) : args_(args), index_(index) {}

  [[nodiscard]] std::string_view name() const override { return "child"; }
  [[nodiscard]] KernelCost cost() const override { return {.bytes = sizeof(std::uint32_t)}; }
  [[nodiscard]] std::span<std::byte> output() const override {
    return std::as_writable_bytes(std::span(args_.slots + index_, 1));
  }
  void compute(std::span<std::byte> result) const override {
    const std::uint32_t value = child_result(args_.seed, index_, args_.work);
    std::memcpy(result.data(), &value, sizeof(value));
  }
#if XFERBENCH_WITH_CUDA
  void preload() const override;
  void launch(void* cuda_stream) const override;
#endif

 private:
  ChildrenArgs args_;
  std::uint32_t index_;
};

/// How the first kernel and the children launch further kernels.
enum class LaunchMode {
  none,             ///< no launches: only the first kernel runs
  fire_and_forget,  ///< each kernel launches its children of the tree with fire-and-forget
  tail,             ///< each kernel tail-launches its children of the tree, which run one after another
  tail_chain,       ///< each child tail-launches the next child; of the tree, only the number of children is used
};

/// The first kernel, which launches all children, directly or through other children.
class Children final : public KernelOf<Children> {
 public:
  /// `launchers`: number of threads of the first kernel that launch its children.
  Children(LaunchMode way, const ChildrenArgs& args, unsigned launchers = 1)
      : way_(way), args_(args), launchers_(launchers) {}

  [[nodiscard]] std::string_view name() const override { return "children"; }
  [[nodiscard]] KernelCost cost() const override { return {.bytes = output().size()}; }
  [[nodiscard]] std::span<std::byte> output() const override {
    return std::as_writable_bytes(std::span(args_.slots, way_ == LaunchMode::none ? 0 : args_.tree.children()));
  }
  void compute(std::span<std::byte> result) const override {
    for (std::uint32_t i = 0; i < result.size() / sizeof(std::uint32_t); ++i) {
      Child(args_, i).compute(result.subspan(i * sizeof(std::uint32_t)));
    }
  }
#if XFERBENCH_WITH_CUDA
  void preload() const override;
  void launch(void* cuda_stream) const override;
#endif

 private:
  LaunchMode way_;
  ChildrenArgs args_;
  [[maybe_unused]] unsigned launchers_;  // used on a GPU only
};

}  // namespace xferbench::kernels
