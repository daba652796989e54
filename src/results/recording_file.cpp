#include "results/recording_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"

namespace xferbench::recording {

namespace {

/// Reads a file in blocks, with one block in memory at a time.
class Blocks {
 public:
  explicit Blocks(const std::string& path) : path_(path), file_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (!file_) throw InputError(fmt::format("cannot read {}: {}", path_, std::strerror(errno)));
    struct stat status {};
    if (fstat(file_.number(), &status) != 0 || !S_ISREG(status.st_mode)) {
      throw InputError(fmt::format("{} is not a regular file, as a recording must be", path_));
    }
  }

  /// Returns the next `bytes` bytes, valid until the next call; fewer at the end of the file.
  std::span<const std::byte> take(std::size_t bytes) {
    if (end_ - begin_ < bytes) fill(bytes);
    const std::span<const std::byte> taken{block_.data() + begin_, std::min(bytes, end_ - begin_)};
    begin_ += taken.size();
    offset_ += taken.size();
    return taken;
  }
  [[nodiscard]] std::uint64_t offset() const { return offset_; }

 private:
  void fill(std::size_t bytes) {
    constexpr std::size_t kBlock = 1U << 20U;
    block_.erase(block_.begin(), block_.begin() + static_cast<std::ptrdiff_t>(begin_));
    end_ -= begin_;
    begin_ = 0;
    block_.resize(std::max(bytes, kBlock));
    while (end_ < bytes) {
      const ssize_t got = read(file_.number(), block_.data() + end_, block_.size() - end_);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw InputError(fmt::format("cannot read {}: {}", path_, std::strerror(errno)));
      if (got == 0) return;
      end_ += static_cast<std::size_t>(got);
    }
  }

  const std::string& path_;
  Descriptor file_;
  std::vector<std::byte> block_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t offset_ = 0;
};

/// Largest accepted record in bytes; names, stacks and records of real programs are shorter.
constexpr std::size_t kLongestRecord = 1U << 20U;
/// Latest accepted time: 146 years in nanoseconds. No machine runs longer, and differences of times fit into a signed
/// number.
constexpr Time kLastTime = Time{1} << 62U;

class Reader {
 public:
  explicit Reader(const std::string& path) : blocks_(path) { r_.file = path; }

  Recording read() {
    const auto header = as<FileHeader>(blocks_.take(sizeof(FileHeader)), "a header");
    if (header.magic != kMagic) fail("this is not a recording: its first bytes differ");
    if (header.version != kVersion) {
      fail(fmt::format("found recording version {}, expected {}", header.version, kVersion));
    }
    while (next()) {
    }
    if (r_.process.pid == 0) fail("expected a record of the process");
    sort();
    return std::move(r_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(fmt::format("{}, at byte {}: {}", r_.file, at_, what));
  }

  template <class Record>
  Record as(std::span<const std::byte> bytes, const char* what) const {
    if (bytes.size() != sizeof(Record)) {
      fail(fmt::format("found {} bytes, expected {} of {}", bytes.size(), what, sizeof(Record)));
    }
    Record record;
    std::memcpy(&record, bytes.data(), sizeof record);
    return record;
  }

  /// Reads the next record. Returns false at the end of the file.
  bool next() {
    at_ = blocks_.offset();
    const auto head = blocks_.take(sizeof(RecordHeader));
    if (head.empty()) return false;
    if (head.size() < sizeof(RecordHeader)) return torn();
    const auto header = as<RecordHeader>(head, "a record's header");
    if (header.bytes % 8 != 0 || header.bytes > kLongestRecord) {
      fail(fmt::format("found a record of {} bytes, expected a multiple of 8 up to {}", header.bytes, kLongestRecord));
    }
    const auto payload = blocks_.take(header.bytes);
    if (payload.size() < header.bytes) return torn();
    if (r_.end) fail("found more data after the record that ends the recording");
    take(header.type, payload);
    return true;
  }

  bool torn() {
    r_.torn = true;
    return false;
  }

  void take(Type type, std::span<const std::byte> payload) {
    if (r_.process.pid == 0 && type != Type::process && type != Type::name) fail("expected the process's record first");
    switch (type) {
      case Type::name: return take_name(payload);
      case Type::process: return take_process(as<Process>(payload, "a process"));
      case Type::device: return take_device(as<Device>(payload, "a device"));
      case Type::stream: return take_stream(as<Stream>(payload, "a stream"));
      case Type::call: return take_call(as<Call>(payload, "a call"));
      case Type::copy: return take_copy(as<Copy>(payload, "a copy"));
      case Type::kernel: return take_kernel(as<Kernel>(payload, "a kernel"));
      case Type::fill: return put(r_.fills, as<Fill>(payload, "a fill"));
      case Type::synchronization: return take_synchronization(as<Synchronization>(payload, "a synchronization"));
      case Type::event: return r_.events.push_back(as<Event>(payload, "an event"));
      case Type::range: return take_range(as<Range>(payload, "a range"));
      case Type::migration: return take_migration(as<Migration>(payload, "a migration"));
      case Type::overhead: return;
      case Type::stack: return take_stack(payload);
      case Type::note: return take_note(as<Note>(payload, "a note"));
      case Type::lost: return take_lost(as<Lost>(payload, "lost records"));
      case Type::end: return take_end(as<End>(payload, "an end"));
      case Type::usage: return take_usage(as<Usage>(payload, "a usage"));
      case Type::workers: return take_workers(as<Workers>(payload, "workers"));
      case Type::file_read: return take_file_read(as<FileRead>(payload, "a read"));
      case Type::process_usage: return take_process_usage(as<ProcessUsage>(payload, "a process's usage"));
    }
    // Records of unknown types, from newer versions, are ignored.
  }

  // --- Checks of references, times and enumerators ---

  NameId known(NameId id) const {
    if (id >= r_.names.size()) fail(fmt::format("found name {}, which is not defined before", id));
    return id;
  }

  void possible(Time time) const {
    if (time > kLastTime) fail(fmt::format("found an invalid time of {} ns", time));
  }

  void in_order(Time begin, Time end) const {
    possible(end);
    if (end < begin) fail(fmt::format("found an end ({}) before its begin ({})", end, begin));
  }

  template <class Enumeration>
  void at_most(Enumeration found, Enumeration last, const char* what) const {
    if (found > last) fail(fmt::format("found {} as {}, which is unknown", static_cast<unsigned>(found), what));
  }

  void take_name(std::span<const std::byte> payload) {
    if (payload.size() < sizeof(Name)) fail("found a name without its length");
    const auto name = as<Name>(payload.first(sizeof(Name)), "a name");
    if (name.id != r_.names.size()) fail(fmt::format("found name {}, expected {}", name.id, r_.names.size()));
    if (name.length > payload.size() - sizeof(Name)) fail("found a name that is longer than its record");
    const auto text = payload.subspan(sizeof(Name), name.length);
    r_.names.push_back(printable({reinterpret_cast<const char*>(text.data()), text.size()}));
  }

  void take_stack(std::span<const std::byte> payload) {
    if (payload.size() < sizeof(Stack)) fail("found a stack without its length");
    const auto stack = as<Stack>(payload.first(sizeof(Stack)), "a stack");
    if (stack.id != r_.stacks.size()) fail(fmt::format("found stack {}, expected {}", stack.id, r_.stacks.size()));
    if (stack.frames > (payload.size() - sizeof(Stack)) / sizeof(NameId)) fail("found a stack longer than its record");
    std::vector<NameId>& frames = r_.stacks.emplace_back(stack.frames);
    if (frames.empty()) return;
    std::memcpy(frames.data(), payload.data() + sizeof(Stack), stack.frames * sizeof(NameId));
    for (const NameId frame : frames) known(frame);
  }

  // --- Records ---

  void take_process(const Process& process) {
    if (r_.process.pid != 0) fail("found a second record of the process");
    if (process.pid == 0) fail("found a process without a number");
    at_most(process.backend, Backend::simulated, "backend");
    possible(process.begin);
    possible(process.loaded);
    for (const NameId id : {process.executable, process.command, process.tool, process.profile}) known(id);
    r_.process = process;
  }

  void take_device(const Device& device) {
    known(device.name);
    known(device.uuid);
    r_.devices.push_back(device);
  }

  void take_stream(const Stream& stream) {
    at_most(stream.flag, StreamFlag::legacy, "kind of stream");
    r_.streams.push_back(stream);
  }

  void take_call(const Call& call) {
    in_order(call.begin, call.end);
    known(call.name);
    if (call.stack >= r_.stacks.size()) fail(fmt::format("found stack {}, which is not defined before", call.stack));
    r_.calls.push_back(call);
  }

  /// Adds the record of an operation; an operation without times is only counted, in `untimed`.
  template <class Record>
  void put(std::vector<Record>& list, const Record& record) {
    if (record.on.begin == 0 || record.on.end == 0) {
      ++r_.untimed;
      return;
    }
    in_order(record.on.begin, record.on.end);
    list.push_back(record);
  }

  void take_copy(const Copy& copy) {
    at_most(copy.kind, CopyKind::h2h, "kind of copy");
    at_most(copy.source, Memory::managed, "memory");
    at_most(copy.destination, Memory::managed, "memory");
    at_most(copy.channel, Channel::other, "channel");
    put(r_.copies, copy);
  }

  void take_kernel(const Kernel& kernel) {
    known(kernel.name);
    put(r_.kernels, kernel);
  }

  void take_synchronization(const Synchronization& sync) {
    in_order(sync.begin, sync.end);
    at_most(sync.kind, SyncKind::context, "kind of wait");
    r_.synchronizations.push_back(sync);
  }

  void take_range(const Range& range) {
    in_order(range.begin, range.end == 0 ? range.begin : range.end);
    known(range.name);
    known(range.domain);
    r_.ranges.push_back(range);
  }

  void take_migration(const Migration& migration) {
    in_order(migration.begin, migration.end);
    at_most(migration.kind, CopyKind::h2h, "kind of copy");
    r_.migrations.push_back(migration);
  }

  void take_usage(const Usage& usage) {
    in_order(usage.begin, usage.end);
    in_order(usage.faults_before, usage.faults_until_end);
    possible(usage.cpu_before);
    known(usage.source_file);
    r_.usages.push_back(usage);
  }

  void take_workers(const Workers& workers) {
    for (const Time time : {workers.time, workers.cpu}) possible(time);
    r_.workers.push_back(workers);
  }

  void take_process_usage(const ProcessUsage& usage) {
    possible(usage.time);
    r_.process_usages.push_back(usage);
  }

  void take_file_read(const FileRead& read) {
    in_order(read.begin, read.end);
    if (std::max(read.offset, read.bytes) > kLastTime) {  // so that their sum fits, too
      fail(fmt::format("found a read of {} bytes at {}, more than a file can hold", read.bytes, read.offset));
    }
    known(read.file);
    r_.file_reads.push_back(read);
  }

  void take_note(const Note& note) {
    r_.notes.push_back(r_.names[known(note.text)]);
    r_.failed = r_.failed || note.failure != 0;
  }

  void take_lost(const Lost& lost) {
    r_.dropped += lost.dropped;
    r_.untimed += lost.untimed;
  }

  void take_end(const End& end) {
    at_most(end.reason, EndReason::write_failed, "reason of an end");
    possible(end.time);
    r_.end = end;
  }

  // --- Sorting by time ---

  void sort() {
    const auto by_begin = [](auto& list) {
      list.shrink_to_fit();
      std::ranges::stable_sort(list, {}, [](const auto& record) {
        if constexpr (requires { record.on; }) {
          return record.on.begin;
        } else {
          return record.begin;
        }
      });
    };
    by_begin(r_.calls);
    by_begin(r_.copies);
    by_begin(r_.kernels);
    by_begin(r_.fills);
    by_begin(r_.synchronizations);
    by_begin(r_.ranges);
    by_begin(r_.migrations);
    by_begin(r_.usages);
    by_begin(r_.file_reads);
    std::ranges::stable_sort(r_.workers, {}, &Workers::time);
    std::ranges::stable_sort(r_.process_usages, {}, &ProcessUsage::time);
  }

  Blocks blocks_;
  Recording r_;
  std::uint64_t at_ = 0;
};

}  // namespace

}  // namespace xferbench::recording

namespace xferbench {

Recording read_recording(const std::string& path) { return recording::Reader(path).read(); }

}  // namespace xferbench
