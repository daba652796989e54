#include "inject/usage.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <sstream>

namespace xferbench::inject {

using recording::Time;

namespace {

/// Smaller copies take less time than the sampling is worth.
constexpr std::size_t kLeastSampled = 64 << 10;
/// From this size on, it is looked up from which file a copy reads.
constexpr std::size_t kLeastOfFile = 1 << 20;

/// The sampled call that this thread is in. Calls of the driver within a call of the runtime have its correlation id.
struct OpenCall {
  recording::Usage usage{};  // correlation 0: none
  unsigned depth = 0;        // number of calls within it that have begun
};
OpenCall& open_call() {
  thread_local OpenCall call;
  return call;
}

std::uint64_t faults_of_thread() {
  rusage usage{};
  return getrusage(RUSAGE_THREAD, &usage) == 0 ? static_cast<std::uint64_t>(usage.ru_minflt) : 0;
}

void count_bytes_read(recording::Usage& usage) {
  std::ifstream counters("/proc/thread-self/io");
  std::string name;
  std::uint64_t value = 0;
  while (counters >> name >> value) {
    if (name == "rchar:") usage.read_before = value;
    if (name == "read_bytes:") usage.from_disk_before = value;
  }
}

}  // namespace

bool has_copy_arguments(std::string_view call) {
  constexpr std::array<std::string_view, 8> kCalls{"cudaMemcpy",    "cudaMemcpyAsync",  "cuMemcpy",
                                                   "cuMemcpyAsync", "cuMemcpyHtoD",     "cuMemcpyHtoDAsync",
                                                   "cuMemcpyDtoH",  "cuMemcpyDtoHAsync"};
  return std::ranges::find(kCalls, call) != kCalls.end();
}

// --- Mapped files ---------------------------------------------------------------------------------------------------

const MappedFiles::Mapping* MappedFiles::find(std::uintptr_t address) const {
  const auto after = std::ranges::upper_bound(mappings_, address, {}, &Mapping::begin);
  if (after == mappings_.begin() || address >= std::prev(after)->end) return nullptr;
  return &*std::prev(after);
}

std::string MappedFiles::at(const void* address, Time time) {
  constexpr Time kOld = 500'000'000;  // ns
  constexpr Time kNew = 50'000'000;   // reading takes up to a millisecond
  const auto where = reinterpret_cast<std::uintptr_t>(address);
  const std::lock_guard lock(mutex_);
  const Time age = read_at_ == 0 ? kOld : time - read_at_;
  const Mapping* found = find(where);
  const bool may_have_changed = found == nullptr || !found->file.empty();
  if (age >= kOld || (age >= kNew && may_have_changed)) {
    read(time);
    found = find(where);
  }
  return found == nullptr ? std::string() : found->file;
}

/// Lines read, for example, "7f5a0000-7f5b0000 r--p 00000000 fe:00 1234   /data/model.bin".
void MappedFiles::read(Time time) {
  read_at_ = time;
  mappings_.clear();
  std::set<std::string> programs;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    Mapping mapping;
    char dash = 0;
    std::string access;
    std::string rest;
    words >> std::hex >> mapping.begin >> dash >> mapping.end >> access >> rest >> rest >> rest >> std::ws;
    std::getline(words, mapping.file);
    if (access.size() > 2 && access[2] == 'x') programs.insert(mapping.file);
    mappings_.push_back(std::move(mapping));
  }
  for (Mapping& mapping : mappings_) {
    const bool is_file = mapping.file.starts_with('/') && !mapping.file.starts_with("/dev/") &&
                         !mapping.file.starts_with("/memfd:") && !mapping.file.starts_with("/SYSV");
    if (!is_file || programs.contains(mapping.file)) mapping.file.clear();
  }
}

// --- Sampling -------------------------------------------------------------------------------------------------------

void UsageSampler::begin(std::uint32_t correlation, const CopyArguments& arguments) noexcept {
  constexpr Time kPeriod = 500'000;  // ns; reading the counters takes a few microseconds
  OpenCall& open = open_call();
  recording::Usage& usage = open.usage;
  thread_local Time counted = 0;  // when the bytes read were last looked up
  if (usage.correlation == correlation) ++open.depth;
  if (usage.correlation != 0 || arguments.bytes < kLeastSampled) return;
  const Time time = now();
  usage = {.begin = time, .thread = this_thread(), .correlation = correlation};
  try {
    if (time - counted >= kPeriod) {
      counted = time;
      count_bytes_read(usage);
    }
    if (arguments.bytes >= kLeastOfFile) {
      usage.source_file = recorder_.writer().name(files_.at(arguments.source, time));
    }
  } catch (const std::exception&) {  // out of memory: these stay unknown
  }
  usage.faults_before = faults_of_thread();
}

void UsageSampler::end(std::uint32_t correlation) noexcept {
  OpenCall& open = open_call();
  recording::Usage& usage = open.usage;
  if (usage.correlation != correlation || open.depth > 0) {
    if (usage.correlation == correlation) --open.depth;
    return;
  }
  usage.faults_until_end = faults_of_thread();
  usage.end = now();
  recorder_.add(recording::Type::usage, usage.begin, usage);
  usage.correlation = 0;
}

}  // namespace xferbench::inject
