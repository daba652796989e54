#include "device/cuda/loaded_kernel.hpp"

#include <cuda.h>
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/non_copyable.hpp"
#include "device/cuda/check.hpp"
#include "device/cuda/driver_function.hpp"
#include "device/kernel_image.hpp"
#include "device/nvrtc.hpp"

namespace xferbench::cuda {

namespace {

#if CUDART_VERSION >= 12080

/// Returns the architecture of the GPU's compute capability, for example "sm_90".
std::string own_architecture(const OpenedGpu& gpu) {
  int major = 0;
  int minor = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, gpu.number()), "cudaDeviceGetAttribute");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, gpu.number()), "cudaDeviceGetAttribute");
  return fmt::format("sm_{}{}", major, minor);
}

/// Throws DeviceError unless the kernel takes the three arguments that a launch passes. CUDA would read as many
/// arguments as the kernel declares. The function queries parameters until a query fails, which tools such as
/// compute-sanitizer report. So the function is only for cubins and fat binaries; require_contract_in() checks PTX.
void require_contract_of(cudaKernel_t kernel, const KernelSource& source) {
  constexpr std::size_t kMost = 8;  // maximum number of parameters to count
  const auto info = driver_function<decltype(cuKernelGetParamInfo)>("cuKernelGetParamInfo", 12040);
  if (info == nullptr) return;
  std::vector<std::size_t> bytes;
  std::size_t offset = 0;
  std::size_t size = 0;
  while (bytes.size() < kMost && info(kernel, bytes.size(), &offset, &size) == CUDA_SUCCESS) {
    bytes.push_back(size);
  }
  require_contract(bytes, source);
}

/// Owner of a CUDA library module, which the destructor unloads.
class Library : NonCopyable {
 public:
  Library(const std::string& image, const KernelSource& source) {
    std::array options{cudaJitErrorLogBuffer, cudaJitErrorLogBufferSizeBytes};
    check(cudaLibraryLoadData(&library_, image.c_str(), options.data(), log_values_.data(),
                              static_cast<unsigned>(options.size()), nullptr, nullptr, 0),
          fmt::format("loading {}", source.file));
  }
  ~Library() { static_cast<void>(cudaLibraryUnload(library_)); }

  /// Throws DeviceError if `status` is an error. The message includes the log of the driver's PTX compiler.
  void check(cudaError_t status, const std::string& operation) const {
    if (status == cudaSuccess) return;
    static_cast<void>(cudaGetLastError());
    const std::string log = first_errors({log_.data(), log_.size()});
    throw DeviceError(operation, describe(status) + (log.empty() ? "" : ": " + log));
  }

  [[nodiscard]] cudaKernel_t kernel(const KernelSource& source) const {
    cudaKernel_t kernel = nullptr;
    check(cudaLibraryGetKernel(&kernel, library_, source.name.c_str()),
          fmt::format("finding the kernel {} in {} (it must be extern \"C\")", source.name, source.file));
    return kernel;
  }

  /// Reads the optional constant `NAME_launch`: {block size, elements per thread, dynamic shared bytes per block}.
  [[nodiscard]] LaunchRequest launch_request(const std::string& image, const KernelSource& source) const {
    void* address = nullptr;
    std::size_t bytes = 0;
    const std::string name = source.name + "_launch";
    // Search the image first: tools such as compute-sanitizer report a query for a missing symbol as an error.
    const bool is_there = has_name(image, name);
    if (!is_there && !is_fat_binary(image)) return {};
    const auto refuse = [&](const std::string& why) {
      throw DeviceError(
          fmt::format("reading {} of {}", name, source.file),
          fmt::format("{}; declare it as extern \"C\" __constant__ unsigned {}[3] = {{block size, elements "
                      "per thread, dynamic shared bytes}}",
                      why, name));
    };
    if (cudaLibraryGetGlobal(&address, &bytes, library_, name.c_str()) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      if (is_there) refuse("the code has this name, but it is not a readable variable");
      return {};
    }
    std::array<unsigned, 3> words{};
    if (bytes != sizeof(words)) refuse(fmt::format("its size is {} bytes", bytes));
    cuda::check(cudaMemcpy(words.data(), address, bytes, cudaMemcpyDeviceToHost), ("reading " + name).c_str());
    return {.block_size = words[0], .elements_per_thread = std::max(1U, words[1]), .shared_bytes = words[2]};
  }

 private:
  cudaLibrary_t library_ = nullptr;
  // These buffers must live as long as the library, because CUDA may compile code lazily.
  std::array<char, 8192> log_{};
  std::array<void*, 2> log_values_{log_.data(), reinterpret_cast<void*>(log_.size())};  // size, cast to a pointer
};

class CudaLoadedKernel final : public LoadedKernel {
 public:
  CudaLoadedKernel(const std::string& image, const KernelSource& source)
      : library_(image, source), kernel_(library_.kernel(source)), wishes_(library_.launch_request(image, source)) {
    if (!is_cuda_source(source) && !is_text(source.content)) require_contract_of(kernel_, source);
    if (wishes_.shared_bytes > 0) {  // CUDA requires this call for more than 48 KiB of shared memory
      library_.check(cudaFuncSetAttribute(function(), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          static_cast<int>(wishes_.shared_bytes)),
                     fmt::format("reserving {} bytes of shared memory for {}", wishes_.shared_bytes, source.name));
    }
    // This query also loads the kernel. Hazard: lazy loading while a gate is closed would deadlock.
    cudaFuncAttributes attributes{};
    library_.check(cudaFuncGetAttributes(&attributes, function()), "querying the attributes of " + source.name);
    best_block_size_ = best_of(static_cast<unsigned>(attributes.maxThreadsPerBlock));
  }

  [[nodiscard]] bool has_stand_in() const override { return false; }
  [[nodiscard]] const LaunchRequest& launch_request() const override { return wishes_; }
  [[nodiscard]] unsigned best_block_size() const override { return best_block_size_; }

  void launch(const OwnLaunch& launch, void* cuda_stream) const override {
    OwnLaunch own = launch;
    std::array<void*, 3> arguments{&own.in, &own.out, &own.elements};
    // The caller gets the status from cudaGetLastError.
    static_cast<void>(cudaLaunchKernel(function(), dim3(static_cast<unsigned>(own.blocks)), dim3(own.block_size),
                                       arguments.data(), own.shared_bytes, static_cast<cudaStream_t>(cuda_stream)));
  }

 private:
  /// The runtime accepts a cudaKernel_t in place of a function symbol (CUDA Runtime API, cudaKernel_t).
  [[nodiscard]] const void* function() const { return static_cast<const void*>(kernel_); }

  /// Returns the block size with the highest occupancy: 128, 256 and so on up to `most`, or `most` if it is below 128.
  /// Of equally good sizes, returns the smallest, so that the last blocks of a chunk leave few threads idle.
  [[nodiscard]] unsigned best_of(unsigned most) const {
    unsigned best = std::min(128U, most);
    unsigned occupied = 0;
    for (unsigned size = best; size <= most; size *= 2) {
      int blocks = 0;
      check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function(), static_cast<int>(size),
                                                          wishes_.shared_bytes),
            "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
      if (static_cast<unsigned>(blocks) * size <= occupied) continue;
      occupied = static_cast<unsigned>(blocks) * size;
      best = size;
    }
    return best;
  }

  Library library_;
  cudaKernel_t kernel_;
  LaunchRequest wishes_;
  unsigned best_block_size_ = 0;
};

#endif

}  // namespace

#if CUDART_VERSION >= 12080
std::unique_ptr<LoadedKernel> load_kernel(const OpenedGpu& gpu, const KernelSource& source) {
  KernelSource own = source;
  if (own.arch.empty()) own.arch = own_architecture(gpu);
  return std::make_unique<CudaLoadedKernel>(image_of(own), own);
}
#else
std::unique_ptr<LoadedKernel> load_kernel(const OpenedGpu&, const KernelSource& source) {
  throw DeviceError("loading " + source.file, "it needs a build with CUDA 12.8 or newer");
}
#endif

}  // namespace xferbench::cuda
