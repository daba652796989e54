#include "device/open.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/error.hpp"
#include "core/spelling.hpp"
#include "device/topology.hpp"

namespace xferbench {

namespace {

int gpu_of(const GpuOfProcess& process, std::size_t count) {
  const auto rank = static_cast<std::size_t>(process.local_rank);
  if (rank < count || count == 1) return count == 1 ? 0 : process.local_rank;
  if (process.share && count > 0) return static_cast<int>(rank % count);
  throw NoDeviceError(
      fmt::format("it has {} GPUs, but more ranks: start as many ranks on each host as it has GPUs (mpirun --map-by "
                  "ppr:{}:node, srun --ntasks-per-node={}), or let ranks share GPUs with --share-gpus",
                  count, count, count));
}

/// Returns the index of the GPU with the name: its PCI address, its UUID or the beginning of that.
int gpu_named(const std::string& name, std::size_t count, const std::function<Environment::Gpu(int)>& describe,
              const std::string& or_else) {
  std::vector<int> found;
  std::string known;
  for (int i = 0; i < static_cast<int>(count); ++i) {
    const Environment::Gpu gpu = describe(i);
    const bool is_it = same_pci_device(gpu.pci_bus_id, name) || lower_case(gpu.uuid).starts_with(lower_case(name));
    if (is_it) found.push_back(i);
    known += fmt::format("{}{} is {}{}{}", i == 0 ? "" : ", ", i, gpu.uuid.empty() ? "without UUID" : gpu.uuid,
                         gpu.pci_bus_id.empty() ? "" : " at ", gpu.pci_bus_id);
  }
  if (found.size() == 1) return found.front();
  throw NoDeviceError(fmt::format("{} {}: GPU {}; choose one by its number, UUID or PCI address{}",
                                  found.empty() ? "there is no GPU" : "several GPUs have names that begin with", name,
                                  known, or_else));
}

}  // namespace

std::vector<int> chosen_gpus(const GpuSelection& selection, std::size_t count,
                             const std::function<Environment::Gpu(int)>& describe, const std::string& or_else) {
  if (selection.named) return {gpu_named(*selection.named, count, describe, or_else)};
  const auto has = [count](int number) { return static_cast<std::size_t>(number) < count; };
  if (selection.of_process) return {gpu_of(*selection.of_process, count)};
  if (selection.first || selection.numbers.empty()) {
    const std::size_t wanted = selection.first.value_or(count);
    if (wanted > count) {
      throw NoDeviceError(fmt::format("there are not {} GPUs: this machine has {}; choose fewer with --gpus{}", wanted,
                                      count, or_else));
    }
    std::vector<int> numbers(wanted);
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }
  if (const auto missing = std::ranges::find_if_not(selection.numbers, has); missing != selection.numbers.end()) {
    throw NoDeviceError(fmt::format("there is no GPU {}: this machine has {}, numbered from 0; choose another one{}",
                                    *missing, count, or_else));
  }
  return selection.numbers;
}

bool is_profile_file(std::string_view profile) {
  return profile.find('/') != std::string_view::npos || profile.ends_with(".json");
}

}  // namespace xferbench
