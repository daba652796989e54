// open_gpus() of a build without CUDA: always throws. The build compiles either this file or device/cuda/.
#include "core/error.hpp"
#include "device/open.hpp"

namespace xferbench {

std::unique_ptr<Machine> open_gpus(const GpuSelection&, const NumaPolicy& numa) {
  require_node(numa);
  throw NoDeviceError(
      "no usable GPU: this program was built without CUDA (nvcc was not found, or -DXFERBENCH_CUDA=OFF); build it with "
      "the CUDA Toolkit; without a GPU, add --simulate to the same command");
}

}  // namespace xferbench
