#include "support/synthetic_recording.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace xferbench {

using namespace recording;

namespace {

constexpr Time kOrigin = 1'000'000'000;
constexpr double kCall = 2e-6;   // seconds of an asynchronous call
constexpr double kDelay = 4e-6;  // seconds from the begin of a call to that of its operation
constexpr double kHandover = 1e-6;
constexpr double kWake = 5e-6;
enum EngineOf : std::size_t { in, out, compute };

}  // namespace

SyntheticRecording::SyntheticRecording() {
  recording_.file = "made";
  recording_.process.pid = 7;
  recording_.process.begin = recording_.process.loaded = kOrigin;
  recording_.process.command = name("made");
  recording_.devices.push_back({0, name("Made GPU"), name("GPU-0"), 0});
}

Time SyntheticRecording::time(double seconds) const { return kOrigin + static_cast<Time>(std::llround(seconds * 1e9)); }

NameId SyntheticRecording::name(std::string_view text) {
  const auto found = std::ranges::find(recording_.names, text);
  if (found == recording_.names.end()) recording_.names.emplace_back(text);
  return static_cast<NameId>(std::ranges::find(recording_.names, text) - recording_.names.begin());
}

std::uint32_t SyntheticRecording::stream(StreamFlag flag) {
  const auto number = static_cast<std::uint32_t>(recording_.streams.size() + 7);
  recording_.streams.push_back({1, number, flag, 0});
  flags_[number] = flag;
  return number;
}

Call& SyntheticRecording::add_call(std::string_view text, double own) {
  const double begin = host_;
  host_ += own;
  return recording_.calls.emplace_back(Call{
      .begin = time(begin), .end = time(host_), .name = name(text), .thread = thread_, .correlation = ++correlation_});
}

OnDevice SyntheticRecording::run(std::size_t engine, std::uint32_t stream, double seconds, double called) {
  double begin = called + kDelay;
  const auto after = [&begin](double end) { begin = std::max(begin, end + kHandover); };
  if (streams_.contains(stream)) after(streams_[stream]);
  if (held_.contains(stream)) after(std::exchange(held_[stream], 0.));
  for (const auto& [other, end] : streams_) {
    const bool by_this = flags_[stream] == StreamFlag::legacy && flags_[other] == StreamFlag::blocking;
    const bool by_other = flags_[other] == StreamFlag::legacy && flags_[stream] == StreamFlag::blocking;
    if (by_this || by_other) after(end);
  }
  begin = std::max(begin, engines_[engine]);
  engines_[engine] = streams_[stream] = begin + seconds;
  return {
      .begin = time(begin), .end = time(begin + seconds), .correlation = correlation_, .context = 1, .stream = stream};
}

void SyntheticRecording::copy(CopyKind kind, Memory host, std::uint64_t bytes, std::uint32_t stream,
                              bool asynchronous) {
  const double called = host_;
  add_call(asynchronous ? "cudaMemcpyAsync" : "cudaMemcpy", kCall);
  const double seconds = copy_seconds(host, bytes);
  const OnDevice on = run(kind == CopyKind::h2d ? in : out, stream, seconds, called);
  const bool to_gpu = kind == CopyKind::h2d;
  recording_.copies.push_back({.on = on,
                               .bytes = bytes,
                               .kind = kind,
                               .source = to_gpu ? host : Memory::device,
                               .destination = to_gpu ? Memory::device : host,
                               .asynchronous = asynchronous ? 1U : 0U});
  if (asynchronous && host != Memory::pageable) return;
  host_ = std::max(host_, streams_[stream] + kWake);
  recording_.calls.back().end = time(host_);
}

void SyntheticRecording::kernel(std::string_view text, double seconds, std::uint32_t stream) {
  const double called = host_;
  add_call("cudaLaunchKernel", kCall);
  recording_.kernels.push_back(
      {.on = run(compute, stream, seconds, called), .name = name(text), .grid = 1, .block = 32});
}

void SyntheticRecording::wait(std::uint32_t stream) {
  const double begin = host_;
  Call& call = add_call("cudaStreamSynchronize", kCall);
  if (streams_[stream] > begin) host_ = std::max(host_, streams_[stream] + kWake);
  call.end = time(host_);
  recording_.synchronizations.push_back({.begin = call.begin,
                                         .end = call.end,
                                         .correlation = correlation_,
                                         .context = 1,
                                         .stream = stream,
                                         .kind = SyncKind::stream});
}

void SyntheticRecording::wait_device() {
  const double begin = host_;
  Call& call = add_call("cudaDeviceSynchronize", kCall);
  for (const auto& [stream, end] : streams_) {
    if (end > begin) host_ = std::max(host_, end + kWake);
  }
  call.end = time(host_);
  recording_.synchronizations.push_back(
      {.begin = call.begin, .end = call.end, .correlation = correlation_, .context = 1, .kind = SyncKind::context});
}

void SyntheticRecording::record(std::uint32_t event, std::uint32_t stream) {
  add_call("cudaEventRecord", kCall);
  events_[event] = streams_[stream];
  recording_.events.push_back({.correlation = correlation_, .context = 1, .stream = stream, .event = event});
}

void SyntheticRecording::make_wait(std::uint32_t stream, std::uint32_t event) {
  const Call& call = add_call("cudaStreamWaitEvent", kCall);
  held_[stream] = std::max(held_[stream], events_[event]);
  recording_.synchronizations.push_back({.begin = call.begin,
                                         .end = call.end,
                                         .correlation = correlation_,
                                         .context = 1,
                                         .stream = stream,
                                         .kind = SyncKind::stream_wait_event,
                                         .event = event});
}

void SyntheticRecording::call(std::string_view text, double seconds) { add_call(text, seconds); }

void SyntheticRecording::usage(const Did& did) {
  const Call& call = recording_.calls.back();
  faults_ += did.faults_before;
  read_ += did.read_before;
  cpu_ += time(did.cpu_before) - time(0);
  recording_.usages.push_back({.begin = call.begin,
                               .end = call.end,
                               .thread = call.thread,
                               .correlation = call.correlation,
                               .faults_before = faults_,
                               .faults_until_end = faults_ + did.faults,
                               .read_before = read_,
                               .cpu_before = cpu_,
                               .source_file = name(did.source_file)});
  faults_ += did.faults;
}

void SyntheticRecording::read(std::string_view file, std::uint64_t offset, std::uint64_t bytes, double seconds,
                              std::uint64_t version) {
  const double begin = host_;
  work(seconds);
  recording_.file_reads.push_back({.begin = time(begin),
                                   .end = time(host_),
                                   .offset = offset,
                                   .bytes = bytes,
                                   .version = version,
                                   .thread = thread_,
                                   .file = name(file)});
}

void SyntheticRecording::workers(double cpu, std::uint32_t count) {
  recording_.workers.push_back({.time = time(host_), .cpu = time(cpu) - time(0), .children = count});
}

void SyntheticRecording::process_usage(std::uint64_t faults, std::uint64_t read, std::uint64_t from_disk) {
  recording_.process_usages.push_back({.time = time(host_), .faults = faults, .read = read, .from_disk = from_disk});
}

void SyntheticRecording::begin_range(std::string_view text) {
  recording_.ranges.push_back({.begin = time(host_), .name = name(text), .thread = thread_});
}

void SyntheticRecording::end_range() {
  const auto open = std::ranges::find(recording_.ranges.rbegin(), recording_.ranges.rend(), Time{0}, &Range::end);
  open->end = time(host_);
}

Recording SyntheticRecording::finish() {
  recording_.end = End{.time = time(host_), .reason = EndReason::exit};
  return std::move(recording_);
}

double SyntheticRecording::copy_seconds(Memory host, std::uint64_t bytes) {
  const auto size = static_cast<double>(bytes);
  return host == Memory::pageable ? 8e-6 + size / 10e9 : 1e-6 + size / 50e9;
}

explain::Costs SyntheticRecording::costs() {
  explain::Costs costs;
  costs.copy = [](CopyKind, Memory host, std::uint64_t bytes) { return std::optional(copy_seconds(host, bytes)); };
  costs.asynchronous_copy = kCall;
  costs.handover = kHandover;
  return costs;
}

std::string write_recording(const Recording& made, const std::filesystem::path& folder,
                            const std::function<void(RecordingWriter&)>& more) {
  using recording::Type;
  RecordingWriter writer(folder.string(), made.process.pid);
  for (std::size_t i = 1; i < made.names.size(); ++i) writer.name(made.names[i]);
  writer.add(Type::process, made.process);
  const auto add_all = [&writer](Type type, const auto& records) {
    for (const auto& record : records) writer.add(type, record);
  };
  add_all(Type::device, made.devices);
  add_all(Type::stream, made.streams);
  add_all(Type::call, made.calls);
  add_all(Type::copy, made.copies);
  add_all(Type::kernel, made.kernels);
  add_all(Type::synchronization, made.synchronizations);
  add_all(Type::event, made.events);
  add_all(Type::range, made.ranges);
  add_all(Type::usage, made.usages);
  add_all(Type::workers, made.workers);
  add_all(Type::file_read, made.file_reads);
  add_all(Type::process_usage, made.process_usages);
  if (more) more(writer);
  writer.end(*made.end);
  return folder / (std::to_string(made.process.pid) + "-1" + std::string(recording::kExtension));
}

}  // namespace xferbench
