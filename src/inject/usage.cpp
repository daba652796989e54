#include "inject/usage.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <fstream>
#include <set>
#include <span>

#include "core/clock.hpp"
#include "core/descriptor.hpp"

namespace xferbench::inject {

using recording::Time;

namespace {

/// Smallest copy, in bytes, for which the source file is looked up.
constexpr std::size_t kLeastOfFile = 1 << 20;

/// Bytes that this library itself has read.
struct OwnReads {
  static std::uint64_t& of_thread() {
    thread_local std::uint64_t bytes = 0;
    return bytes;
  }
  void add(std::uint64_t bytes) {
    of_thread() += bytes;
    of_process += bytes;
  }
  std::atomic<std::uint64_t> of_process = 0;
};
OwnReads& own_reads() {
  static OwnReads reads;
  return reads;
}

/// The sampled call that this thread is in. Driver calls within a runtime call have the correlation id of that call.
struct OpenCall {
  recording::Usage usage{};  // correlation 0: none
  unsigned depth = 0;        // number of calls within it that have begun
};
OpenCall& open_call() {
  thread_local OpenCall call;
  return call;
}

/// Returns the minor page faults of RUSAGE_THREAD or RUSAGE_SELF.
std::uint64_t faults_of(int whose) {
  rusage usage{};
  return getrusage(whose, &usage) == 0 ? static_cast<std::uint64_t>(usage.ru_minflt) : 0;
}

/// Returns the beginning of a file of the system, as much as fits into the buffer.
std::string_view beginning_of(const char* path, std::span<char> buffer) {
  const Descriptor file(open(path, O_RDONLY | O_CLOEXEC));  // NOLINT(cppcoreguidelines-pro-type-vararg)
  const ssize_t got = file ? read(file.number(), buffer.data(), buffer.size()) : 0;
  return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

/// Returns the number that follows this text, for example "rchar: "; 0 if there is none.
std::uint64_t number_behind(std::string_view text, std::string_view all) {
  const std::size_t at = all.find(text);
  std::uint64_t value = 0;
  if (at != all.npos) std::from_chars(all.data() + at + text.size(), all.data() + all.size(), value);
  return value;
}

struct BytesRead {
  std::uint64_t all = 0;
  std::uint64_t from_disk = 0;
};

/// Returns the counters of /proc/thread-self/io or /proc/self/io. `own`: bytes that this library itself has read.
BytesRead bytes_read(const char* path, std::uint64_t own) {
  std::array<char, 512> buffer{};
  const std::string_view counters = beginning_of(path, buffer);
  own_reads().add(counters.size());
  const std::uint64_t read = number_behind("rchar: ", counters);
  return {.all = read - std::min(read, own), .from_disk = number_behind("\nread_bytes: ", counters)};
}

// --- Mapped files ---------------------------------------------------------------------------------------------------

/// A line of /proc/self/maps, for example "7f5a0000-7f5b0000 r--p 00000000 fe:00 1234   /data/model.bin".
struct MapsLine {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool is_program = false;
  std::string_view file{};
};

MapsLine parse_line(std::string_view line) {
  MapsLine parsed;
  const char* const last = line.data() + line.size();
  const char* const dash = std::from_chars(line.data(), last, parsed.begin, 16).ptr;
  const char* const space = std::from_chars(std::min(dash + 1, last), last, parsed.end, 16).ptr;
  const std::string_view access = std::string_view(space, last).substr(0, 5);
  parsed.is_program = access.find('x') != access.npos;
  const std::size_t file = line.find_first_of("/[");  // "[heap]" is no file
  if (file != line.npos && line[file] == '/') parsed.file = line.substr(file);
  return parsed;
}

/// Whether the path is that of a file with data, not of GPU memory, shared memory or the like.
bool has_data(std::string_view path) {
  constexpr std::array<std::string_view, 6> kMemory{"/dev/", "/memfd:", "/SYSV", "/anon_hugepage", "/[", "/drm"};
  const auto begins = [path](std::string_view memory) { return path.starts_with(memory); };
  return path.starts_with('/') && !path.ends_with(" (deleted)") && std::ranges::none_of(kMemory, begins);
}

/// Whether a file is mapped at exactly these addresses now. Since the list was read, the addresses may have been
/// reused.
bool is_mapped(std::uintptr_t begin, std::uintptr_t end) {
  struct stat status {};
  return lstat(fmt::format("/proc/self/map_files/{:x}-{:x}", begin, end).c_str(), &status) == 0;
}

}  // namespace

bool has_copy_arguments(std::string_view call) {
  constexpr std::array<std::string_view, 8> kCalls{"cudaMemcpy",    "cudaMemcpyAsync",  "cuMemcpy",
                                                   "cuMemcpyAsync", "cuMemcpyHtoD",     "cuMemcpyHtoDAsync",
                                                   "cuMemcpyDtoH",  "cuMemcpyDtoHAsync"};
  return std::ranges::find(kCalls, call) != kCalls.end();
}

std::string MappedFiles::at(const void* address, Time time) {
  const auto where = reinterpret_cast<std::uintptr_t>(address);
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return {};
  if (time >= next_) read(time);
  const auto after = std::ranges::upper_bound(mappings_, where, {}, &Mapping::begin);
  if (after == mappings_.begin() || where >= std::prev(after)->end) return {};
  const Mapping& found = *std::prev(after);
  return !found.file.empty() && is_mapped(found.begin, found.end) ? found.file : "";
}

/// Reads the list of mappings. Takes at most a hundredth of the time: in a large process, reading takes milliseconds.
void MappedFiles::read(Time time) {
  constexpr Time kRest = 100;  // pause after reading, as a multiple of the time that reading took
  mappings_.clear();
  std::set<std::string> programs;
  std::ifstream maps("/proc/self/maps");
  for (std::string text; std::getline(maps, text);) {
    own_reads().add(text.size() + 1);
    const MapsLine line = parse_line(text);
    if (line.is_program) programs.emplace(line.file);
    mappings_.push_back({line.begin, line.end, has_data(line.file) ? std::string(line.file) : ""});
  }
  for (Mapping& mapping : mappings_) {
    if (programs.contains(mapping.file)) mapping.file.clear();
  }
  next_ = time + kRest * (now() - time);
}

// --- Sampling -------------------------------------------------------------------------------------------------------

void UsageSampler::begin(std::uint32_t correlation, const CopyArguments& arguments, bool from_host) noexcept {
  constexpr Time kPeriod = 1'000'000;  // ns; reading the counters takes a few microseconds
  OpenCall& open = open_call();
  recording::Usage& usage = open.usage;
  thread_local Time counted = 0;  // when the bytes read were last looked up
  if (usage.correlation == correlation) {
    ++open.depth;
    return;
  }
  const Time time = now();
  if (arguments.bytes < kLeastSampled || !recorder_.is_live() || !recorder_.wanted().has(time)) return;
  open = {.usage = {.begin = time, .thread = this_thread(), .correlation = correlation}};
  try {
    if (time - counted >= kPeriod) {
      counted = time;
      const BytesRead read = bytes_read("/proc/thread-self/io", own_reads().of_thread());
      usage.read_before = read.all;
      usage.from_disk_before = read.from_disk;
    }
    if (from_host && arguments.bytes >= kLeastOfFile) {
      usage.source_file = recorder_.writer().name(files_.at(arguments.source, time));
    }
  } catch (const std::exception&) {  // out of memory: the counters stay unknown
  }
  usage.faults_before = faults_of(RUSAGE_THREAD);
  usage.cpu_before = nanoseconds_of(CLOCK_THREAD_CPUTIME_ID);
}

void UsageSampler::end(std::uint32_t correlation) noexcept {
  OpenCall& open = open_call();
  recording::Usage& usage = open.usage;
  if (usage.correlation != correlation || open.depth > 0) {
    if (usage.correlation == correlation) --open.depth;
    return;
  }
  usage.faults_until_end = faults_of(RUSAGE_THREAD);
  usage.end = now();
  recorder_.add(recording::Type::usage, usage.begin, usage);
  usage.correlation = 0;
}

void sample_process(Recorder& recorder) noexcept {
  constexpr Time kPeriod = 100'000;  // ns; sampling takes a few microseconds, and ranges may end that often
  static std::atomic<Time> last = 0;
  const Time time = now();
  if (!recorder.is_live() || recorder.request().only_ranges || time - last < kPeriod) return;
  last = time;
  const BytesRead read = bytes_read("/proc/self/io", own_reads().of_process);
  recorder.add(recording::Type::process_usage,
               recording::ProcessUsage{
                   .time = time, .faults = faults_of(RUSAGE_SELF), .read = read.all, .from_disk = read.from_disk});
}

}  // namespace xferbench::inject
