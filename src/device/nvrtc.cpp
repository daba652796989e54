#include "device/nvrtc.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/lists.hpp"
#include "core/non_copyable.hpp"
#include "device/kernel_image.hpp"

namespace xferbench {

namespace {

constexpr int kSuccess = 0;
constexpr int kCompileError = 6;  // NVRTC_ERROR_COMPILATION

using Program = struct nvrtcProgram_st*;

/// The NVRTC library (NVRTC documentation, User Interface), loaded by dlopen: it belongs to the CUDA Toolkit, and a
/// program linked to it would not start without the toolkit.
class Nvrtc {
 public:
  Nvrtc() {
    for (const std::string& place : nvrtc_paths()) {
      library_.reset(dlopen(place.c_str(), RTLD_NOW));
      if (library_) return;
    }
    throw DeviceError("compiling a kernel",
                      "NVRTC (libnvrtc.so) cannot be loaded; install the CUDA Toolkit, add its folder to "
                      "LD_LIBRARY_PATH, or give a .ptx or .cubin file made by nvcc");
  }

  template <class... Arguments>
  int call(const char* name, Arguments... arguments) const {
    auto* const function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library_.get(), name));
    if (function == nullptr) throw DeviceError(name, "this libnvrtc lacks the function; install CUDA 12 or newer");
    return function(arguments...);
  }
  void check(int status, const char* name) const {
    if (status == kSuccess) return;
    const auto text = reinterpret_cast<const char* (*)(int)>(dlsym(library_.get(), "nvrtcGetErrorString"));
    throw DeviceError(name, text == nullptr ? fmt::format("error {}", status) : text(status));
  }
  /// Fetches text or code of a program by two NVRTC functions, one for the size and one for the bytes.
  [[nodiscard]] std::string bytes(const char* size_of, const char* get, Program program) const {
    std::size_t size = 0;
    check(call(size_of, program, &size), size_of);
    std::string all(size, '\0');
    check(call(get, program, all.data()), get);
    return all;
  }

 private:
  std::unique_ptr<void, int (*)(void*)> library_{nullptr, &dlclose};
};

/// Owner of one NVRTC program. It must be destroyed before the library.
class OneProgram : NonCopyable {
 public:
  OneProgram(const Nvrtc& nvrtc, const KernelSource& source) : nvrtc_(nvrtc) {
    const char* const* const none = nullptr;
    nvrtc_.check(
        nvrtc_.call("nvrtcCreateProgram", &program_, source.content.c_str(), source.file.c_str(), 0, none, none),
        "nvrtcCreateProgram");
  }
  ~OneProgram() {
    try {
      static_cast<void>(nvrtc_.call("nvrtcDestroyProgram", &program_));
    } catch (const DeviceError&) {  // the NVRTC program leaks
    }
  }
  [[nodiscard]] Program get() const { return program_; }

 private:
  const Nvrtc& nvrtc_;
  Program program_ = nullptr;
};

std::string ending(const KernelSource& source) { return std::filesystem::path(source.file).extension().string(); }

/// Returns all compiler options. Like nvcc, they add the file's own folder to the include path.
std::vector<std::string> all_options(const KernelSource& source) {
  const std::string folder = std::filesystem::path(source.file).parent_path().string();
  std::vector<std::string> options{"--gpu-architecture=" + source.arch,
                                   "--include-path=" + (folder.empty() ? std::string(".") : folder)};
  options.insert(options.end(), source.options.begin(), source.options.end());
  return options;
}

int run_compiler(const Nvrtc& nvrtc, Program program, const std::vector<std::string>& options) {
  const std::vector<const char*> words = list_of(options, [](const std::string& option) { return option.c_str(); });
  const SavedSignalHandlers kept;
  return nvrtc.call("nvrtcCompileProgram", program, static_cast<int>(words.size()),
                    static_cast<const char* const*>(words.data()));
}

std::string trimmed(const std::string& line) {
  constexpr std::string_view kAround = " \t\r";
  const std::size_t first = line.find_first_not_of(kAround);
  return first == std::string::npos ? "" : line.substr(first, line.find_last_not_of(kAround) + 1 - first);
}

/// The parts of a compiler message such as "sobel.cu(12): error: identifier "x" is undefined".
struct CompileError {
  std::string_view file;
  std::string_view line;
  std::string_view message;
};

std::optional<CompileError> error_in(std::string_view text) {
  for (const std::string_view kind : {"): error", "): catastrophic error"}) {
    const std::size_t end = text.find(kind);
    const std::size_t begin = end == std::string_view::npos ? end : text.rfind('(', end);
    if (begin == std::string_view::npos) continue;
    const std::string_view number = text.substr(begin + 1, end - begin - 1);
    const std::size_t colon = text.find(": ", end + kind.size());
    if (number.find_first_not_of("0123456789") != std::string_view::npos || colon == std::string_view::npos) continue;
    return CompileError{text.substr(0, begin), number, text.substr(colon + 2)};
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> nvrtc_paths() {
  const std::string folder = "/usr/local/cuda/lib64/";
  return {"libnvrtc.so",          "libnvrtc.so.13",          "libnvrtc.so.12",
          folder + "libnvrtc.so", folder + "libnvrtc.so.13", folder + "libnvrtc.so.12"};
}

bool is_cuda_source(const KernelSource& source) { return ending(source) != ".ptx" && ending(source) != ".cubin"; }

std::string compile_errors(std::string_view log, const KernelSource& source) {
  constexpr std::size_t kMost = 5;
  std::vector<std::string> told;
  std::size_t errors = 0;
  std::istringstream lines{std::string(log)};
  for (std::string line; std::getline(lines, line);) {
    line = trimmed(line);
    const auto error = error_in(line);
    if (!error || ++errors > kMost) continue;
    std::string code;
    if (lines.peek() == ' ') std::getline(lines, code);  // NVRTC quotes the source line below the error
    code = trimmed(code);
    told.push_back(fmt::format("{}line {}: {}{}", error->file == source.file ? "" : fmt::format("{} ", error->file),
                               error->line, error->message, code.empty() ? "" : ": `" + code + "`"));
  }
  if (errors > kMost) told.push_back(fmt::format("and {} more", errors - kMost));
  if (!told.empty()) return fmt::format("{}", fmt::join(told, "; "));
  // If no error has a line number, for example because an option is invalid, return the whole log.
  constexpr std::string_view kBlank(" \n\0", 3);
  std::string all(log.substr(0, log.find_last_not_of(kBlank) + 1));
  std::ranges::replace(all, '\n', ' ');
  return all;
}

std::string compile(const KernelSource& source) {
  const Nvrtc nvrtc;
  const OneProgram program(nvrtc, source);
  const int status = run_compiler(nvrtc, program.get(), all_options(source));
  if (status != kSuccess) {
    const std::string log = nvrtc.bytes("nvrtcGetProgramLogSize", "nvrtcGetProgramLog", program.get());
    if (status != kCompileError && log.size() < 2) nvrtc.check(status, "nvrtcCompileProgram");
    throw DeviceError(fmt::format("{} does not compile for {}", source.file, source.arch), compile_errors(log, source));
  }
  std::string ptx = nvrtc.bytes("nvrtcGetPTXSize", "nvrtcGetPTX", program.get());
  if (ptx.size() < 2) {
    throw DeviceError(fmt::format("compiling {} for {} produced no code", source.file, source.arch),
                      "remove options from --kernel-option that produce something else, such as -dlto");
  }
  require_contract_in(ptx, source);
  if (!source.arch.starts_with("sm_")) return ptx;
  return nvrtc.bytes("nvrtcGetCUBINSize", "nvrtcGetCUBIN", program.get());
}

std::string image_of(const KernelSource& source) {
  if (is_cuda_source(source)) return compile(source);
  require_whole(source);
  if (is_text(source.content)) require_contract_in(source.content, source);
  return source.content;
}

}  // namespace xferbench
