#include "device/sim/recorder.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <utility>

#include "core/own_process.hpp"
#include "recording/cuda_calls.hpp"
#include "results/result.hpp"

namespace xferbench::sim {

using recording::Backend;
using recording::CopyKind;
using recording::EndReason;
using recording::Fill;
using recording::OnDevice;
using recording::Process;
using recording::Range;
using recording::StreamFlag;
using recording::Synchronization;
using recording::Time;
using recording::Type;

namespace {

/// Recorded time of virtual time 0, in nanoseconds. It is not 0, because a recorded 0 means unknown.
constexpr Time kOrigin = 1'000'000'000;
constexpr std::uint32_t kLegacyStream = 7;  // CUPTI's number of the legacy stream; other streams get higher numbers
constexpr std::uint32_t kNone = 0xffffffff;
constexpr std::uint32_t kThreadsOfBlock = 256;
constexpr std::int32_t kUnknownError = 999;  // cudaErrorUnknown

Time time_of(double seconds) { return kOrigin + static_cast<Time>(std::llround(seconds * 1e9)); }

std::uint32_t context_of(unsigned gpu) { return gpu + 1; }

StreamFlag flag_of(StreamKind kind) {
  switch (kind) {
    case StreamKind::nonblocking: return StreamFlag::non_blocking;
    case StreamKind::blocking: return StreamFlag::blocking;
    case StreamKind::legacy_default: break;
  }
  return StreamFlag::legacy;
}

std::uint64_t nanoseconds_since_1970() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace

// --- The recording --------------------------------------------------------------------------------------------------

Recorder::Recorder(const RecordingRequest& request, const SimHost& host, std::string_view profile)
    : host_(host),
      writer_(request.folder, static_cast<std::uint32_t>(getpid())),
      most_(request.max_records),
      from_(time_of(request.from)),
      until_(request.seconds ? time_of(request.from + *request.seconds) : std::numeric_limits<Time>::max()) {
  writer_.add(Type::process, Process{.pid = static_cast<std::uint32_t>(getpid()),
                                     .parent = static_cast<std::uint32_t>(getppid()),
                                     .begin = kOrigin,
                                     .loaded = kOrigin,
                                     .clock = nanoseconds_since_1970(),
                                     .executable = writer_.name(own_executable()),
                                     .command = writer_.name(own_command()),
                                     .tool = writer_.name(this_tool().version),
                                     .backend = Backend::simulated,
                                     .profile = writer_.name(profile)});
}

Recorder::~Recorder() {
  std::erase_if(pending_, [](const Pending& p) { return !p.operation->done(); });
  write_ended();
  for (const auto& [thread, ranges] : ranges_) {
    for (const Range& range : ranges) write(Type::range, range.begin, range);  // ranges that the program has not ended
  }
  writer_.end({.time = now(), .reason = EndReason::exit});
}

template <class Record>
void Recorder::write(Type type, Time begin, const Record& record) {
  if (begin < from_ || begin > until_) return;
  writer_.add(type, record);
  if (most_ > 0 && writer_.records() >= most_) writer_.end({.time = now(), .reason = EndReason::max_records});
}

Time Recorder::now() const { return time_of(host_.now()); }

void Recorder::add_device(unsigned number, const Environment::Gpu& gpu) {
  writer_.add(Type::device,
              recording::Device{
                  .id = number, .name = writer_.name(gpu.name), .uuid = writer_.name(gpu.uuid), .multiprocessors = 0});
}

void Recorder::add_stream(const void* stream, StreamKind kind, unsigned gpu) {
  const bool is_legacy = kind == StreamKind::legacy_default;
  const StreamIdentity made{context_of(gpu), is_legacy ? kLegacyStream : kLegacyStream + ++streams_made_};
  streams_[stream] = made;
  writer_.add(Type::stream,
              recording::Stream{.context = made.context, .stream = made.number, .flag = flag_of(kind), .device = gpu});
}

// --- Calls ----------------------------------------------------------------------------------------------------------

bool Recorder::begin_call(std::string_view name) {
  const std::uint32_t thread = host_.thread();
  const auto [open, is_outermost] = open_.try_emplace(thread);
  if (!is_outermost) return false;
  open->second.call = {.begin = now(), .name = writer_.name(name), .thread = thread, .correlation = ++correlation_};
  open->second.asynchronous = is_asynchronous(name);
  return true;
}

void Recorder::end_call(std::int32_t result) {
  OpenCall open = std::move(open_.extract(host_.thread()).mapped());
  open.call.end = now();
  open.call.result = result;
  write(Type::call, open.call.begin, open.call);
  for (Synchronization& wait : open.waits) {
    wait.end = open.call.end;
    write(Type::synchronization, wait.begin, wait);
  }
  write_ended();
}

Recorder::OpenCall* Recorder::open_call() {
  const auto open = open_.find(host_.thread());
  return open == open_.end() ? nullptr : &open->second;
}

void Recorder::add_wait(const RecordedWait& wait) {
  OpenCall& open = *open_call();
  const EventIdentity event = wait.event == nullptr ? EventIdentity{kNone, 0} : events_[wait.event];
  open.waits.push_back({.begin = open.call.begin,
                        .correlation = open.call.correlation,
                        .context = context_of(wait.gpu),
                        .stream = wait.stream == nullptr ? kNone : streams_[wait.stream].number,
                        .kind = wait.kind,
                        .event = event.number,
                        .event_record = event.record});
}

void Recorder::event_recorded(const void* event, const void* stream) {
  EventIdentity& known = events_[event];
  if (known.number == 0) known.number = static_cast<std::uint32_t>(events_.size());
  known.record = ++event_records_;
  const StreamIdentity& in = streams_[stream];
  const OpenCall* open = open_call();
  // Event records outside of the requested time span are kept, because wait records refer to them.
  writer_.add(Type::event, recording::Event{.correlation = open == nullptr ? 0 : open->call.correlation,
                                            .context = in.context,
                                            .stream = in.number,
                                            .event = known.number,
                                            .record = known.record});
}

void Recorder::begin_range(std::string_view name) {
  const std::uint32_t thread = host_.thread();
  ranges_[thread].push_back({.begin = now(), .name = writer_.name(name), .thread = thread});
}

void Recorder::end_range() {
  std::vector<Range>& open = ranges_[host_.thread()];
  if (open.empty()) return;
  Range range = open.back();
  open.pop_back();
  range.end = now();
  write(Type::range, range.begin, range);
}

// --- Device operations ----------------------------------------------------------------------------------------------

/// Returns the common part of an operation's record. The record's times are unset until write_ended() sets them.
OnDevice Recorder::on_device(const Enqueued& enqueued) {
  const OpenCall* open = open_call();
  const bool in_graph = enqueued.replayed_in != nullptr;
  const StreamIdentity& stream = streams_[in_graph ? enqueued.replayed_in : enqueued.stream];
  return {.correlation = open == nullptr ? 0 : open->call.correlation,
          .device = enqueued.gpu,
          .context = stream.context,
          .stream = stream.number,
          .graph_node = enqueued.graph_node};
}

recording::Copy Recorder::copy_of(const Enqueued& enqueued) {
  const Call& call = enqueued.call;
  const OpenCall* open = open_call();
  return {.on = on_device(enqueued),
          .bytes = call.bytes,
          .kind = *call.copy,
          .source = *call.copy == CopyKind::h2d ? call.host : recording::Memory::device,
          .destination = *call.copy == CopyKind::d2h ? call.host : recording::Memory::device,
          .channel = call.by,
          .peer = call.peer,
          .asynchronous = open != nullptr && open->asynchronous ? 1U : 0U};
}

void Recorder::enqueued(const Enqueued& enqueued) {
  const Call& call = enqueued.call;
  if (call.name.empty() || enqueued.operation->engine == EngineId::none) return;
  if (call.copy) {
    pending_.push_back({enqueued.operation, Type::copy, copy_of(enqueued)});
  } else if (call.row == Activity::Row::kernel) {
    const recording::Kernel kernel{
        .on = on_device(enqueued), .name = writer_.name(call.name), .grid = call.blocks, .block = kThreadsOfBlock};
    // Profilers report a kernel from its first instruction on, without the launch overhead.
    pending_.push_back({enqueued.operation, Type::kernel, kernel, enqueued.operation->overhead});
  } else {
    pending_.push_back({enqueued.operation, Type::fill, Fill{.on = on_device(enqueued), .bytes = call.bytes}});
  }
}

void Recorder::write_ended() {
  for (; !pending_.empty() && pending_.front().operation->done(); pending_.pop_front()) {
    Pending& ended = pending_.front();
    std::visit(
        [&](auto& record) {
          const Operation& o = *ended.operation;
          record.on.begin = time_of(std::min(o.started + ended.before, o.finished));
          record.on.end = time_of(o.finished);
          write(ended.type, record.on.begin, record);
        },
        ended.record);
  }
}

// --- Call scopes ----------------------------------------------------------------------------------------------------

RecordedCall::RecordedCall(Recorder* recorder, std::string_view name)
    : recorder_(recorder != nullptr && !name.empty() && recorder->begin_call(name) ? recorder : nullptr),
      exceptions_(std::uncaught_exceptions()) {}

RecordedCall::~RecordedCall() {
  if (recorder_ != nullptr) recorder_->end_call(std::uncaught_exceptions() > exceptions_ ? kUnknownError : 0);
}

}  // namespace xferbench::sim
