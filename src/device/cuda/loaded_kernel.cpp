#include "device/cuda/loaded_kernel.hpp"

#include <cuda.h>
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/non_copyable.hpp"
#include "device/cuda/check.hpp"
#include "device/kernel_image.hpp"
#include "device/nvrtc.hpp"

namespace xferbench::cuda {

namespace {

#if CUDART_VERSION >= 12080

/// "sm_90"
std::string own_architecture(const OpenedGpu& gpu) {
  int major = 0;
  int minor = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, gpu.number()), "cudaDeviceGetAttribute");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, gpu.number()), "cudaDeviceGetAttribute");
  return fmt::format("sm_{}{}", major, minor);
}

using ParameterInfo = decltype(&cuKernelGetParamInfo);

/// cuKernelGetParamInfo, which the runtime finds in the driver, so that no program has to link with that; null where
/// the driver is too old.
ParameterInfo parameter_info() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  constexpr unsigned kSince = 12040;
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion("cuKernelGetParamInfo", &function, kSince, cudaEnableDefault, &found);
  if (status == cudaSuccess && found == cudaDriverEntryPointSuccess) return reinterpret_cast<ParameterInfo>(function);
  static_cast<void>(cudaGetLastError());
  return nullptr;
}

/// A launch passes three arguments, and CUDA reads as many as the kernel has parameters. Nothing tells how many these
/// are but an unsuccessful question for one more, an error to tools that watch: so it is asked only of code in which it
/// cannot be read (require_contract_in).
void require_contract_of(cudaKernel_t kernel, const KernelSource& source) {
  constexpr std::size_t kMost = 8;  // that are counted
  const ParameterInfo info = parameter_info();
  if (info == nullptr) return;
  std::vector<std::size_t> bytes;
  std::size_t offset = 0;
  std::size_t size = 0;
  while (bytes.size() < kMost && info(kernel, bytes.size(), &offset, &size) == CUDA_SUCCESS) {
    bytes.push_back(size);
  }
  require_contract(bytes, source);
}

/// A module of CUDA's, unloaded with its owner.
class Library : NonCopyable {
 public:
  Library(const std::string& image, const KernelSource& source) {
    std::array options{cudaJitErrorLogBuffer, cudaJitErrorLogBufferSizeBytes};
    check(cudaLibraryLoadData(&library_, image.c_str(), options.data(), log_values_.data(),
                              static_cast<unsigned>(options.size()), nullptr, nullptr, 0),
          fmt::format("loading {}", source.file));
  }
  ~Library() { static_cast<void>(cudaLibraryUnload(library_)); }

  /// Throws DeviceError with what the driver's compiler says of PTX, too, if `status` is an error.
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

  /// `NAME_launch`, as far as there is one: {block size, elements of a thread, dynamic shared bytes of a block}.
  [[nodiscard]] LaunchWishes wishes(const std::string& image, const KernelSource& source) const {
    void* address = nullptr;
    std::size_t bytes = 0;
    const std::string name = source.name + "_launch";
    // Asking CUDA for a symbol that is not there is an error to tools that watch (compute-sanitizer).
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
      if (is_there) refuse("nothing that can be read has this name, though the code has it");
      return {};
    }
    std::array<unsigned, 3> words{};
    if (bytes != sizeof(words)) refuse(fmt::format("it has {} bytes", bytes));
    cuda::check(cudaMemcpy(words.data(), address, bytes, cudaMemcpyDeviceToHost), ("reading " + name).c_str());
    return {.block_size = words[0], .elements_per_thread = std::max(1U, words[1]), .shared_bytes = words[2]};
  }

 private:
  cudaLibrary_t library_ = nullptr;
  // These stay, as code may be compiled later than it is loaded.
  std::array<char, 8192> log_{};
  std::array<void*, 2> log_values_{log_.data(), reinterpret_cast<void*>(log_.size())};  // the size, as a pointer
};

class CudaLoadedKernel final : public LoadedKernel {
 public:
  CudaLoadedKernel(const std::string& image, const KernelSource& source)
      : library_(image, source), kernel_(library_.kernel(source)), wishes_(library_.wishes(image, source)) {
    if (!is_cuda_source(source) && !is_text(source.content)) require_contract_of(kernel_, source);
    if (wishes_.shared_bytes > 0) {  // more than 48 KiB must be asked for
      library_.check(cudaFuncSetAttribute(function(), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          static_cast<int>(wishes_.shared_bytes)),
                     fmt::format("reserving {} bytes of shared memory for {}", wishes_.shared_bytes, source.name));
    }
    // Also loads it now: lazy loading inside a gated region would wait for the gate for ever.
    cudaFuncAttributes attributes{};
    library_.check(cudaFuncGetAttributes(&attributes, function()), "asking for the attributes of " + source.name);
    best_block_size_ = best_of(static_cast<unsigned>(attributes.maxThreadsPerBlock));
  }

  [[nodiscard]] bool has_stand_in() const override { return false; }
  [[nodiscard]] const LaunchWishes& wishes() const override { return wishes_; }
  [[nodiscard]] unsigned best_block_size() const override { return best_block_size_; }

  void launch(const OwnLaunch& launch, void* cuda_stream) const override {
    OwnLaunch own = launch;
    std::array<void*, 3> arguments{&own.in, &own.out, &own.elements};
    // Its status is also that of cudaGetLastError, which the caller asks for.
    static_cast<void>(cudaLaunchKernel(function(), dim3(static_cast<unsigned>(own.blocks)), dim3(own.block_size),
                                       arguments.data(), own.shared_bytes, static_cast<cudaStream_t>(cuda_stream)));
  }

 private:
  /// What the runtime takes in place of a symbol (cudaKernel_t in the CUDA Runtime API).
  [[nodiscard]] const void* function() const { return static_cast<const void*>(kernel_); }

  /// Most threads at once on a multiprocessor; of those that have as many, the fewest threads in a block, beginning
  /// with 128, so that a chunk's last blocks leave little idle.
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
  LaunchWishes wishes_;
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
