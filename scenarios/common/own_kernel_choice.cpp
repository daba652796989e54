#include "scenarios/common/own_kernel_choice.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <sstream>

#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "device/nvrtc.hpp"
#include "measure/pattern.hpp"

namespace xferbench {

namespace {

constexpr std::array<std::string_view, 11> kTypes{"char", "uchar", "short", "ushort", "int",   "uint",
                                                  "long", "ulong", "half",  "float",  "double"};

std::vector<std::string> words_in(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), std::istream_iterator<std::string>()};
}

/// A file opened for reading, or the reason why it cannot be opened.
struct KernelFile {
  Descriptor file;
  std::size_t bytes = 0;
  std::string why_not{};  ///< empty if the file can be read
};

KernelFile opened(const std::string& path) {
  constexpr std::size_t kMostMiB = 256;  // far larger than any kernel file
  // O_NONBLOCK: opening a pipe without a writer would block.
  KernelFile kernel{.file = Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK))};
  struct stat status {};
  if (!kernel.file || fstat(kernel.file.number(), &status) != 0) {
    kernel.why_not = std::strerror(errno);
    return kernel;
  }
  kernel.bytes = static_cast<std::size_t>(status.st_size);
  if (S_ISDIR(status.st_mode)) {
    kernel.why_not = "it is a directory";
  } else if (!S_ISREG(status.st_mode)) {
    kernel.why_not = "it is a device or a pipe; give a regular file";
  } else if (kernel.bytes > kMostMiB * MiB) {
    kernel.why_not = fmt::format("it has {}, more than the limit of {} MiB", format_memory(kernel.bytes), kMostMiB);
  }
  return kernel;
}

/// Returns the content of the file. Throws InputError if the file cannot be read.
std::string content_of(const std::string& path) {
  const KernelFile kernel = opened(path);
  const auto refuse = [&path](const std::string& why) {
    throw InputError(fmt::format("{} cannot be read: {}", path, why));
  };
  if (!kernel.why_not.empty()) refuse(kernel.why_not);
  std::string content(kernel.bytes, '\0');
  const ssize_t got = read(kernel.file.number(), content.data(), content.size());
  if (got < 0) refuse(std::strerror(errno));
  if (static_cast<std::size_t>(got) != content.size()) refuse("it changed while it was read; try again");
  return content;
}

/// Writes `bits` to address `at` in native byte order.
template <class Unsigned>
void write_bits(Unsigned bits, std::byte* at) {
  std::memcpy(at, &bits, sizeof(bits));
}

std::optional<SkipReason> reason_against_rows(const OwnKernelChoice& own) {
  const std::string size = format_size_exact(own.payload_bytes);
  const std::string_view type = kTypes[static_cast<std::size_t>(own.type)];
  if (own.row_bytes % own.element_bytes() != 0) {
    return SkipReason::impossible(fmt::format("--row-bytes {} is not a whole number of {}-byte elements ({})",
                                              own.row_bytes, own.element_bytes(), type));
  }
  if (own.payload_bytes % own.element_bytes() != 0) {
    return SkipReason::impossible(
        fmt::format("--size {} is not a whole number of {}-byte elements ({})", size, own.element_bytes(), type));
  }
  if (own.row_bytes == 0 || own.payload_bytes % own.row_bytes == 0) return std::nullopt;
  const std::size_t rows = std::max<std::size_t>(1, own.payload_bytes / own.row_bytes);
  return SkipReason::impossible(
      fmt::format("--size {} is not a whole number of rows of {} bytes; for {} rows choose --size {}", size,
                  own.row_bytes, rows, format_size_exact(rows * own.row_bytes)));
}

}  // namespace

std::size_t size_of(ElementType type) {
  constexpr std::array<std::size_t, kTypes.size()> kSizes{1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8};
  return kSizes[static_cast<std::size_t>(type)];
}

std::string OwnKernelChoice::id() const {
  std::string text = fmt::format("{}\n{}\n{}\n{} {} {} {} {} {}", source.file, source.name, source.arch,
                                 static_cast<int>(type), row_bytes, halo_rows, block_size, seconds, payload_bytes);
  for (const std::string& option : source.options) text += "\n" + option;
  return text;
}

std::shared_ptr<const OwnKernelChoice> own_kernel_of(const Case& c, std::size_t payload_bytes) {
  if (!c.has("kernel-file")) return nullptr;
  OwnKernelChoice own;
  own.source.file = c.word("kernel-file");
  if (c.has("kernel-name")) own.source.name = c.word("kernel-name");
  if (c.has("kernel-arch")) own.source.arch = c.word("kernel-arch");
  if (c.has("kernel-option")) own.source.options = words_in(c.word("kernel-option"));
  own.type = c.one_of<ElementType>("kernel-type", kTypes);
  own.row_bytes = c.count_or("row-bytes", 0);
  own.halo_rows = c.count_or("halo-rows", 0);
  own.block_size = static_cast<unsigned>(c.count_or("block-size", 0));
  own.payload_bytes = payload_bytes;
  if (c.has("kernel-time")) own.seconds = c.real("kernel-time");
  if (is_cuda_source(own.source)) {
    own.source.options.push_back(fmt::format("-DXFERBENCH_ROW={}", own.row_elements()));
    own.source.options.push_back(fmt::format("-DXFERBENCH_HALO={}", own.halo_rows));
  }
  return std::make_shared<const OwnKernelChoice>(std::move(own));
}

std::vector<Axis> own_kernel_axes(const std::string& instead_of) {
  const auto with_file = [](Axis axis) { return only_with("kernel-file", {}, std::move(axis)); };
  Axis halo{.name = "halo-rows", .help = "rows before and after a chunk that its kernel also reads", .max = 65536};
  return {
      {.name = "kernel-file",
       .kind = AxisKind::file,
       .help = "file with your own kernel: CUDA C++ (compiled at run time), .ptx or .cubin (docs/own-kernels.md)",
       .example = "mykernel.cu",
       .alternative_to = instead_of},
      with_file({.name = "kernel-name",
                 .kind = AxisKind::text,
                 .help = "name of the kernel in that file: extern \"C\" void name(const T* in, T* out, size_t n)",
                 .example = "sobel"}),
      with_file(
          choice_axis("kernel-type", words(kTypes), {.defaults = "float", .help = "element type T of that kernel"})),
      with_file({.name = "kernel-arch",
                 .kind = AxisKind::text,
                 .help = "architecture to compile for; default: that of the GPU",
                 .example = "sm_90"}),
      with_file({.name = "kernel-option",
                 .kind = AxisKind::text,
                 .help = "options for the compiler (NVRTC), separated by spaces",
                 .example = "\"-use_fast_math -DSCALE=2\""}),
      with_file(
          {.name = "block-size",
           .help = "threads per block; default: what the kernel asks for, else the number with the best occupancy",
           .max = 1024}),
      with_file(size_axis("row-bytes",
                          {.help = "bytes per row, for chunks of whole rows; default: chunks of whole elements"})),
      only_with("row-bytes", {}, std::move(halo)),
      with_file(
          {.name = "kernel-time",
           .kind = AxisKind::time,
           .help = "simulated device: kernel time for one payload of --size; default: the time of its memory traffic",
           .min = 1e-9,
           .max = 1e4}),
  };
}

std::span<const std::string_view> own_kernel_work_axes() {
  static constexpr std::array<std::string_view, 9> kAxes{"kernel-file", "kernel-name",   "kernel-type",
                                                         "kernel-arch", "kernel-option", "block-size",
                                                         "row-bytes",   "halo-rows",     "kernel-time"};
  return kAxes;
}

// --- Validity of the flags -----------------------------------------------------------------------------------------

std::optional<SkipReason> reason_against(const OwnKernelChoice& own, const Capabilities* can) {
  const std::string& file = own.source.file;
  if (own.source.name.empty()) {
    return SkipReason::impossible("--kernel-file needs --kernel-name, the name of the kernel in " + file);
  }
  if (!is_cuda_source(own.source) && !(own.source.arch.empty() && own.source.options.empty())) {
    return SkipReason::impossible(
        file + " is already compiled: --kernel-arch and --kernel-option are for CUDA C++ only; leave them out");
  }
  if (auto reason = reason_against_rows(own)) return reason;
  if (can == nullptr) {
    if (const std::string why = opened(file).why_not; !why.empty()) {
      return SkipReason::impossible(fmt::format("--kernel-file {} cannot be read: {}", file, why));
    }
    return std::nullopt;
  }
  if (own.seconds == 0 || can->environment.simulated()) return std::nullopt;
  return SkipReason::impossible(
      "--kernel-time is for simulated devices only; this GPU runs the kernel itself: leave it out");
}

kernels::OwnKernel OwnKernelChoice::over(const LoadedKernel& loaded, const std::byte* in, std::byte* out,
                                         std::size_t elements) const {
  const double share = static_cast<double>(elements * element_bytes()) / static_cast<double>(payload_bytes);
  return {source.name,
          loaded,
          {.in = in,
           .out = out,
           .elements = elements,
           .element_bytes = element_bytes(),
           .row_bytes = row_bytes,
           .halo_rows = halo_rows,
           .block_size = block_size,
           .seconds = seconds * share}};
}

const LoadedKernel& load_own_kernel(Device& device, const OwnKernelChoice& own) {
  KernelSource source = own.source;
  source.content = content_of(source.file);
  return device.load_kernel(source);
}

// --- Metrics -------------------------------------------------------------------------------------------------------

std::span<const MetricDeclaration> own_kernel_metrics() {
  using namespace declaring;
  static const std::vector<MetricDeclaration> metrics{
      label("computed_by", "with --kernel-file: the kernel that ran: yours, or a stand-in on a simulated device")
          .column("computed by", word),
      label("compared_with", "with --kernel-file: the reference for the output, which is compared byte by byte"),
      derived("block_size", "threads", neither, "with --kernel-file: threads per block"),
      derived("shared_bytes", "B", neither, "with --kernel-file: dynamic shared memory per block"),
  };
  return metrics;
}

void add_own_kernel(const OwnKernelChoice& own, const LoadedKernel& loaded, bool verified, Result& result) {
  const bool stand_in = loaded.has_stand_in();
  result.labels.emplace_back("computed_by", stand_in ? "a stand-in" : own.source.name);
  if (verified) {
    result.labels.emplace_back("compared_with", stand_in ? "the stand-in over the whole payload at once"
                                                         : "the same kernel over the whole payload at once");
  }
  if (stand_in) {
    result.warnings.push_back(
        fmt::format("{} did not run, because the device is simulated: a stand-in that reads the same rows was "
                    "computed, and its time is {}",
                    own.source.name,
                    own.seconds > 0 ? "taken from --kernel-time"
                                    : "that of its memory traffic (set another one with --kernel-time)"));
    return;
  }
  const OwnLaunch shape =
      kernels::OwnKernel(own.source.name, loaded, {.elements = 1, .block_size = own.block_size}).launch_shape();
  result.add("block_size", shape.block_size, "threads");
  if (shape.shared_bytes > 0) result.add("shared_bytes", shape.shared_bytes, "B");
}

// --- Inputs ---------------------------------------------------------------------------------------------------------

void write_own_element(ElementType type, std::uint64_t seed, std::uint64_t index, std::byte* at) {
  const std::uint32_t noise = pattern::noise(seed, index);
  const std::uint32_t small = noise & 0x7FU;
  constexpr std::uint32_t kHalfOne = 0x3C00;
  constexpr std::uint32_t kFloatOne = 0x3F800000;
  constexpr std::uint64_t kDoubleOne = 0x3FF0000000000000;
  switch (type) {
    case ElementType::char_type:
    case ElementType::uchar_type: return write_bits(static_cast<std::uint8_t>(small), at);
    case ElementType::short_type:
    case ElementType::ushort_type: return write_bits(static_cast<std::uint16_t>(small), at);
    case ElementType::int_type:
    case ElementType::uint_type: return write_bits(small, at);
    case ElementType::long_type:
    case ElementType::ulong_type: return write_bits(std::uint64_t{small}, at);
    case ElementType::half_type: return write_bits(static_cast<std::uint16_t>(kHalfOne | noise >> 22), at);
    case ElementType::float_type: return write_bits(kFloatOne | noise >> 9, at);
    case ElementType::double_type: return write_bits(kDoubleOne | std::uint64_t{noise} << 20, at);
  }
}

}  // namespace xferbench
