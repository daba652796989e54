// Many small kernels, called children, and the ways in which a kernel launches them. A child does `work` dependent
// steps of arithmetic and writes the outcome, which follows from its index, to a slot of its own: a child that did not
// run leaves its slot as it was.
//
// Rules of launches from the device (CUDA C++ Programming Guide, CUDA Dynamic Parallelism; since CUDA 12 in its second
// version, which is the only one from compute capability 9.0 on):
//
//   fire-and-forget  a child may begin at once, beside the kernel that launched it; nothing orders it with its siblings
//   tail             a child begins when the kernel that launched it, and all that this fired and forgot, has ended;
//                    what one kernel launches so runs in the order of its launches
//
// A kernel cannot wait for its children, but has ended only when all of them have: the host needs to wait for the first
// kernel alone. At most so many launches may be pending at once (Device::reserve_device_launches).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "device/kernel.hpp"
#include "kernels/dynpar/device_launch.hpp"

namespace xferbench::kernels {

/// Which child launches which. Children are numbered level by level; those of level 0 are launched by the first kernel,
/// the children of a child stand next to each other in the level below.
class LaunchTree {
 public:
  /// Fewer than the 24 levels that CUDA lets grids nest.
  static constexpr std::uint32_t kMaxLevels = 16;

  constexpr LaunchTree() = default;
  /// `children` (at least one) on as many levels, at least one child on each. Level 0 has the least fan-out F for which
  /// F + F^2 + ... + F^levels is enough, each further level F times as many as the one above, until all but one for
  /// each level below are placed; so the levels sum up to `children` exactly, and the last ones may be narrow.
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
  /// Number of the first child of a level; of `levels()`, how many there are.
  [[nodiscard]] constexpr std::uint32_t first(std::uint32_t level) const { return first_[level]; }
  [[nodiscard]] constexpr std::uint32_t width(std::uint32_t level) const { return first_[level + 1] - first_[level]; }
  /// Number of the first child that child `index`, of `level`, launches; those that index + 1 launches follow.
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

/// The step of a child, v = v * factor + addend modulo 2^32: each depends on the one before. Kernels get the two
/// numbers from the host, because a compiler that knew them would fold several steps into one.
inline constexpr std::uint32_t kStepFactor = 1664525;
inline constexpr std::uint32_t kStepAddend = 1013904223;

/// What child `index` begins with: differs from child to child.
constexpr std::uint32_t child_seed(std::uint32_t seed, std::uint32_t index) { return (index + 1) * 2654435761U ^ seed; }

/// The closed form of what child `index` writes: `work` affine steps are one affine step, found by repeated squaring.
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

/// What all children of a run share. Passed by value to every child, however it is launched.
struct ChildrenArgs {
  LaunchTree tree;
  std::uint32_t* slots = nullptr;  ///< one word for each child
  LaunchStatus* status = nullptr;
  std::uint32_t work = 0;
  std::uint32_t seed = 0;
  std::uint32_t factor = kStepFactor;  ///< always these two
  std::uint32_t addend = kStepAddend;
  /// If not null: how many children have begun, then which, in the order in which they did. For tests.
  std::uint32_t* journal = nullptr;
};

/// One child, launched by the host.
class Child final : public Kernel {
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
  [[nodiscard]] std::unique_ptr<Kernel> clone() const override { return std::make_unique<Child>(*this); }
#if XFERBENCH_WITH_CUDA
  void preload() const override;
  void launch(void* cuda_stream) const override;
#endif

 private:
  ChildrenArgs args_;
  std::uint32_t index_;
};

/// How the first kernel and the children launch further ones.
enum class LaunchWay {
  none,             ///< not at all: the first kernel by itself
  fire_and_forget,  ///< each kernel fires its children of the tree
  tail,             ///< each kernel launches its children of the tree one behind the other at its end
  tail_chain,  ///< the first kernel launches child 0, and each child the next at its end; of the tree only the size
};

/// The first kernel, which launches all children, directly or through others.
class Children final : public Kernel {
 public:
  /// The `launchers` threads of the first kernel take turns at its children.
  Children(LaunchWay way, const ChildrenArgs& args, unsigned launchers = 1)
      : way_(way), args_(args), launchers_(launchers) {}

  [[nodiscard]] std::string_view name() const override { return "children"; }
  [[nodiscard]] KernelCost cost() const override { return {.bytes = output().size()}; }
  [[nodiscard]] std::span<std::byte> output() const override {
    return std::as_writable_bytes(std::span(args_.slots, way_ == LaunchWay::none ? 0 : args_.tree.children()));
  }
  void compute(std::span<std::byte> result) const override {
    for (std::uint32_t i = 0; i < result.size() / sizeof(std::uint32_t); ++i) {
      Child(args_, i).compute(result.subspan(i * sizeof(std::uint32_t)));
    }
  }
  [[nodiscard]] std::unique_ptr<Kernel> clone() const override { return std::make_unique<Children>(*this); }
#if XFERBENCH_WITH_CUDA
  void preload() const override;
  void launch(void* cuda_stream) const override;
#endif

 private:
  LaunchWay way_;
  ChildrenArgs args_;
  [[maybe_unused]] unsigned launchers_;  // of the GPU only
};

}  // namespace xferbench::kernels
