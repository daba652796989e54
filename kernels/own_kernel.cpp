// Host side of a user's own kernel: cost model, stand-in result and launch shape.
#include "kernels/own_kernel.hpp"

#include <algorithm>
#include <array>

#include "device/kernel_image.hpp"

namespace xferbench::kernels {

namespace {

constexpr std::byte kNan{0xFF};
constexpr std::size_t kBlock = 4096;  // bytes computed at a time

using Sums = std::array<std::uint8_t, kBlock>;

/// sums[i] += weight * from[i], modulo 256.
void add(Sums& sums, const std::byte* from, std::size_t count, std::uint8_t weight) {
  for (std::size_t i = 0; i < count; ++i) {
    sums[i] = static_cast<std::uint8_t>(sums[i] + weight * std::to_integer<unsigned>(from[i]));
  }
}

}  // namespace

KernelCost OwnKernel::cost() const {
  // The duration of a user's kernel is unknown. Assume a slow rate, so that the watchdog does not fire too early.
  constexpr double kSlowRate = 1e9;  // bytes per second
  const std::size_t bytes = args_.bytes();
  KernelCost cost;
  cost.seconds = loaded_->has_stand_in() ? args_.seconds : static_cast<double>(bytes) / kSlowRate;
  if (args_.on_host_memory) {
    cost.h2d_bytes = cost.d2h_bytes = bytes;
  } else if (args_.seconds == 0) {
    cost.bytes = 2 * bytes;
  }
  return cost;
}

std::vector<std::span<const std::byte>> OwnKernel::inputs_by_position() const {
  std::vector<std::span<const std::byte>> inputs{{args_.in, args_.bytes()}};
  for (std::size_t row = 1; row <= args_.halo_rows; ++row) {
    inputs.emplace_back(args_.in - row * args_.row_bytes, args_.bytes());
    inputs.emplace_back(args_.in + row * args_.row_bytes, args_.bytes());
  }
  return inputs;
}

void OwnKernel::compute_part(std::size_t offset, std::span<std::byte> result) const {
  const std::vector<std::span<const std::byte>> inputs = inputs_by_position();
  for (std::size_t begin = 0; begin < result.size(); begin += kBlock) {
    const std::size_t count = std::min(kBlock, result.size() - begin);
    Sums sums;
    std::fill_n(sums.begin(), count, std::uint8_t{1});
    std::uint8_t weight = 1;  // odd weights detect any changed byte, different weights detect exchanged inputs
    for (const std::span<const std::byte> input : inputs) {
      add(sums, input.data() + offset + begin, count, weight);
      weight = static_cast<std::uint8_t>(weight + 2);
    }
    const std::byte* const own = inputs.front().data() + offset + begin;
    for (std::size_t i = 0; i < count; ++i) {
      result[begin + i] = own[i] == kNan ? kNan : static_cast<std::byte>(sums[i] & 0x7FU);
    }
  }
}

OwnLaunch OwnKernel::launch_shape() const {
  const LaunchRequest& launch_request = loaded_->launch_request();
  const unsigned chosen = launch_request.block_size != 0 ? launch_request.block_size : loaded_->best_block_size();
  const unsigned block = args_.block_size != 0 ? args_.block_size : chosen;
  const std::size_t per_block = std::size_t{block} * launch_request.elements_per_thread;
  const OwnLaunch launch{.in = args_.in,
                         .out = args_.out,
                         .elements = args_.elements,
                         .blocks = (args_.elements + per_block - 1) / per_block,
                         .block_size = block,
                         .shared_bytes = launch_request.shared_bytes};
  require_grid(launch, *name_);
  return launch;
}

}  // namespace xferbench::kernels
