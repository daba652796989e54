#include "device/cufile.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include "core/error.hpp"

namespace xferbench {

namespace {

constexpr const char* kCufileLibrary = "libcufile.so.0";

/// Returns the meaning of a cuFile error number, with advice; empty for rare errors.
std::string_view cufile_meaning(int error) {
  switch (error) {
    case 5001:
      return "the kernel module nvidia-fs is not loaded, and compatibility mode is forbidden; unset "
             "CUFILE_ALLOW_COMPAT_MODE, or load the module";
    case 5004: return "nvidia-fs has another version than the library; install those of one release";
    case 5007: return "GPUDirect Storage is not supported on this platform";
    case 5008: return "GPUDirect Storage is not supported for this file";
    case 5009: return "GPUDirect Storage is not supported on this GPU";
    case 5011: return "an error of the CUDA driver";
    case 5018: return "this type of file is not supported; use a file on a disk";
    case 5025: return "no permission for the driver or the file";
    case 5027:
      return "the file was not accepted, even for compatibility mode: cuFile finds disks and file systems through "
             "udev; "
             "use a file on a disk, and in a container mount /run/udev (docker run -v /run/udev:/run/udev:ro)";
    case 5031: return "cuFile could not open the file again by its path";
    case 5033: return "nvidia-fs could not be initialised; look at the kernel's log (dmesg)";
    case 5034: return "GPUDirect Storage is disabled for this file by cufile.json";
    case 5036: return "GPU memory could not be pinned; the GPU's BAR may be too small for a file of this size";
    default: return "";
  }
}

std::vector<std::string> files_like(const char* pattern) {
  glob_t found{};
  std::vector<std::string> files;
  if (glob(pattern, 0, nullptr, &found) == 0) files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  return files;
}

/// Gives a nameless file a name while this object exists. cuFile opens a registered file again by the path that /proc
/// shows for its descriptor, and nothing is at the path of a nameless file. A symbolic link is enough.
class NameForCufile : NonCopyable {
 public:
  explicit NameForCufile(int descriptor) {
    std::error_code error;
    const std::filesystem::path file = fmt::format("/proc/self/fd/{}", descriptor);
    const std::filesystem::path path = std::filesystem::read_symlink(file, error);
    if (error || std::filesystem::exists(path, error)) return;
    std::filesystem::create_symlink(file, path, error);
    if (!error) link_ = path;  // if the link fails, cuFile reports the error
  }
  ~NameForCufile() {
    std::error_code ignored;
    if (!link_.empty()) std::filesystem::remove(link_, ignored);
  }

 private:
  std::filesystem::path link_;
};

/// Returns a line about a failed call: the error number, what it means if that helps, and what to do.
std::string cufile_error_text(std::string_view call, int error, int cuda_error = 0) {
  const std::string_view meaning = cufile_meaning(error);
  return fmt::format("{} failed with error {}{}{}{}; for cuFile's own log set CUFILE_LOGFILE_PATH=/tmp/cufile.log",
                     call, error, cuda_error == 0 ? "" : fmt::format(" (CUDA error {})", cuda_error),
                     meaning.empty() ? "" : ": ", meaning);
}

}  // namespace

std::vector<std::string> cufile_places() {
  std::vector<std::string> places{kCufileLibrary};
  const char* const environment = std::getenv("VIRTUAL_ENV");
  for (const std::string& folder :
       {std::string("/usr/local/cuda*/targets/*/lib"),
        std::string(environment == nullptr ? "/usr/local" : environment) + "/lib/python3*/*-packages/nvidia/*/lib"}) {
    for (std::string& place : files_like((folder + "/" + kCufileLibrary).c_str())) places.push_back(std::move(place));
  }
  return places;
}

struct Cufile::Error {
  int number;
  int cuda;
};

struct Cufile::File {
  int type;  // 1: the handle is a descriptor
  union {
    int descriptor;
    void* handle;
  };
  const void* operations;
};

template <class Function>
Function Cufile::function(const char* name) const {
  return reinterpret_cast<Function>(dlsym(library_, name));
}

template <class... Parameters, class... Arguments>
void Cufile::call(const char* name, Arguments... arguments) const {
  const auto made = function<Error (*)(Parameters...)>(name);
  if (made == nullptr) throw UnavailableError(fmt::format("{} lacks {}; install a newer one", kCufileLibrary, name));
  const Error error = made(arguments...);
  if (error.number != 0) throw UnavailableError(cufile_error_text(name, error.number, error.cuda));
}

Cufile::Cufile(const std::vector<std::string>& places) {
  setenv("CUFILE_ALLOW_COMPAT_MODE", "true", 0);
  setenv("CUFILE_LOGFILE_PATH", "/dev/null", 0);
  std::string reason;
  for (const std::string& place : places) {
    library_ = dlopen(place.c_str(), RTLD_NOW);
    if (library_ != nullptr) break;
    reason = dlerror();  // the last place exists, unless no place does, so its error is the most useful
  }
  if (library_ == nullptr) {
    throw UnavailableError(
        fmt::format("cuFile cannot be loaded ({}); install it with the CUDA Toolkit or as nvidia-cufile by pip, or add "
                    "its folder to LD_LIBRARY_PATH",
                    reason));
  }
  read_ = function<decltype(read_)>("cuFileRead");
  if (read_ == nullptr) throw UnavailableError(fmt::format("{} lacks cuFileRead", kCufileLibrary));
  call<>("cuFileDriverOpen");
  count_paths();
}

/// Makes cuFile count reads by path. Libraries before 1.15 cannot.
void Cufile::count_paths() {
  constexpr int kWithPaths = 3;
  const auto set_level = function<Error (*)(int)>("cuFileSetStatsLevel");
  const auto start = function<Error (*)()>("cuFileStatsStart");
  counts_ = set_level != nullptr && start != nullptr && set_level(kWithPaths).number == 0 && start().number == 0;
}

void Cufile::use_file(int descriptor) {
  static_assert(sizeof(File) == 24 && offsetof(File, descriptor) == 8 && offsetof(File, operations) == 16);
  File file{};
  file.type = 1;
  file.descriptor = descriptor;
  // cuFile refuses files that were opened with O_NONBLOCK (error 5019), and the program opens users' files with it.
  ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
  const NameForCufile name(descriptor);
  call<void**, File*>("cuFileHandleRegister", &file_, &file);
}

void Cufile::use_memory(std::byte* data, std::size_t bytes) {
  call<const void*, std::size_t, int>("cuFileBufRegister", data, bytes, 0);
  memory_ = data;
}

void Cufile::read(std::uint64_t offset, std::size_t bytes) const {
  while (bytes > 0) {
    const ssize_t got = read_(file_, memory_, bytes, static_cast<off_t>(offset), static_cast<off_t>(offset));
    if (got > 0) {
      offset += static_cast<std::uint64_t>(got);
      bytes -= static_cast<std::size_t>(got);
      continue;
    }
    const int error = errno;
    const std::string what = fmt::format("cuFileRead of {} bytes at offset {}", bytes, offset);
    if (got == 0) throw UnavailableError(what + " found the file's end; it became shorter");
    if (got == -1) throw UnavailableError(fmt::format("{}: {}", what, std::strerror(error)));
    throw UnavailableError(cufile_error_text(what, static_cast<int>(-got)));
  }
}

std::optional<CufilePaths> Cufile::paths() const {
  // CUfileStatsLevel3_t in words of 8 bytes: read_bytes of all is word 12, the number of GPUs 128, and from word 129 on
  // each GPU has 31 words (CUfilePerGpuStats_t). The array is larger than the structure of 5000 bytes, in case it
  // grows.
  constexpr std::size_t kReadBytes = 12, kGpus = 128, kFirst = 129, kPerGpu = 31, kMostGpus = 16;
  constexpr std::size_t kGpuReadBytes = 2, kP2p = 7, kNvfs = 8, kPosix = 9;
  std::array<std::uint64_t, 8192> words{};
  const auto get = function<Error (*)(void*)>("cuFileGetStatsL3");
  if (!counts_ || get == nullptr || get(words.data()).number != 0) return std::nullopt;
  const std::uint64_t gpus = words[kGpus] & 0xFFFFFFFFU;
  CufilePaths paths;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < std::min<std::uint64_t>(gpus, kMostGpus); ++i) {
    const std::span<const std::uint64_t> gpu = std::span(words).subspan(kFirst + i * kPerGpu, kPerGpu);
    bytes += gpu[kGpuReadBytes];
    paths.p2p += gpu[kP2p];
    paths.nvfs += gpu[kNvfs];
    paths.posix += gpu[kPosix];
  }
  // If the sums differ, the library has another structure, and its counts prove nothing.
  if (gpus > kMostGpus || bytes != words[kReadBytes]) return std::nullopt;
  return paths;
}

}  // namespace xferbench
