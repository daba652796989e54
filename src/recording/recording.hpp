// The file format of recordings: what a program did with its GPUs. Recordings are written while it runs (src/inject, or
// the simulated device) and read afterwards (results/recording_file.hpp). docs/recording-format.md describes it.
//
// A recording is a folder with a file for each process. A file is a FileHeader followed by records, each a RecordHeader
// and its payload. Files grow by whole records, so a killed process leaves at most its last record incomplete. Numbers
// are little-endian, as on every host that supports CUDA.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "core/enum_text.hpp"

namespace xferbench::recording {

inline constexpr std::array<char, 8> kMagic{'x', 'f', 'r', 'e', 'c', '\r', '\n', '\x1a'};
inline constexpr std::uint32_t kVersion = 1;
/// Extension of the file of a process, for example "4711-1.xfrec". The second number distinguishes processes with the
/// same PID, such as those before and after exec.
inline constexpr std::string_view kExtension = ".xfrec";

/// Nanoseconds of CLOCK_MONOTONIC, or of the virtual clock of a simulated device. 0: unknown.
using Time = std::uint64_t;
/// Identifies a text, which a `name` record defines before its first use; 0: no text.
using NameId = std::uint32_t;

struct FileHeader {
  std::array<char, 8> magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t reserved = 0;
};

enum class Type : std::uint16_t {
  name = 1,
  process,
  device,
  stream,
  call,
  copy,
  kernel,
  fill,
  synchronization,
  event,
  range,
  migration,
  overhead,  ///< no longer written or read
  stack,
  note,
  lost,
  end,
  usage,
  workers,
  file_read,
  process_usage,
};

struct RecordHeader {
  Type type{};
  std::uint16_t reserved = 0;
  std::uint32_t bytes = 0;  ///< size of the payload that follows, a multiple of 8; readers skip unknown types
};

/// Defines a text. Followed by `length` bytes of UTF-8 and by zeros up to a multiple of 8.
struct Name {
  NameId id = 0;
  std::uint32_t length = 0;
};

enum class Backend : std::uint32_t { cuda, simulated };

/// The first record of each file, preceded only by the `name` records that it refers to.
struct Process {
  std::uint32_t pid = 0;
  std::uint32_t parent = 0;
  Time begin = 0;           ///< start of the process or its latest exec; `loaded` if unknown
  Time loaded = 0;          ///< when recording began in this process
  std::uint64_t clock = 0;  ///< wall clock at `loaded`: nanoseconds since 1970
  NameId executable = 0;
  NameId command = 0;  ///< command line, quoted for a shell
  NameId tool = 0;     ///< version of the recording program
  Backend backend = Backend::cuda;
  NameId profile = 0;  ///< profile of the simulated device
  std::uint32_t reserved = 0;
};

struct Device {
  std::uint32_t id = 0;  ///< identifies the device in the other records of this process
  NameId name = 0;
  NameId uuid = 0;                    ///< "GPU-..." as nvidia-smi shows it
  std::uint32_t multiprocessors = 0;  ///< number of multiprocessors; 0: unknown
};

enum class StreamFlag : std::uint32_t {
  unknown,
  blocking,      ///< from cudaStreamCreate: synchronizes with the legacy default stream
  non_blocking,  ///< made with cudaStreamNonBlocking
  legacy,        ///< the context's legacy default stream
};

struct Stream {
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  StreamFlag flag = StreamFlag::unknown;
  std::uint32_t device = 0;
};

/// A call of the CUDA runtime or driver. Driver calls that are made within runtime calls are recorded, too.
struct Call {
  Time begin = 0;
  Time end = 0;
  NameId name = 0;  ///< function name without a version suffix ("_v3020"), but with "_ptsz" and "_ptds"
  std::uint32_t thread = 0;
  std::uint32_t correlation = 0;  ///< links the call to the operations that it enqueued
  std::int32_t result = 0;        ///< CUDA's error code
  std::uint32_t stack = 0;        ///< Stack::id of the call stack; 0: none was recorded
  std::uint32_t reserved = 0;
};

/// Counters of the operating system at the begin and the end of a call that copies 64 KiB or more. Their differences
/// tell what the call, and the program before it, did with memory and files.
struct Usage {
  Time begin = 0;
  Time end = 0;
  std::uint32_t thread = 0;
  std::uint32_t correlation = 0;       ///< correlation id of the call
  std::uint64_t faults_before = 0;     ///< minor page faults of the thread until `begin`
  std::uint64_t faults_until_end = 0;  ///< minor page faults of the thread until `end`
  std::uint64_t read_before = 0;       ///< bytes that the thread read from files until `begin`; 0: not looked up
  std::uint64_t from_disk_before = 0;  ///< bytes that the thread read from storage devices until `begin`
  std::uint64_t cpu_before = 0;        ///< nanoseconds of CPU time that the thread used until `begin`
  NameId source_file = 0;              ///< the copy reads from this file, which is mapped into memory
  std::uint32_t reserved = 0;
};

/// Counters of the operating system for the whole process: before the first begin and after the ends of the requested
/// NVTX range.
struct ProcessUsage {
  Time time = 0;
  std::uint64_t faults = 0;     ///< minor page faults of all threads until `time`
  std::uint64_t read = 0;       ///< bytes that its system calls, and those of its ended children, read until `time`
  std::uint64_t from_disk = 0;  ///< bytes that storage devices delivered for them until `time`, mapped files included
};

/// CPU time of child processes and their descendants, which may prepare this process's data. Sampled each half second.
struct Workers {
  Time time = 0;
  std::uint64_t cpu = 0;       ///< nanoseconds until `time`, without what ended processes used after their last sample
  std::uint32_t children = 0;  ///< number of processes at `time`
  std::uint32_t reserved = 0;
};

/// A read of 64 KiB or more from a file, recorded if the program preloads the recording library.
struct FileRead {
  Time begin = 0;
  Time end = 0;
  std::uint64_t offset = 0;   ///< offset of the first byte in the file
  std::uint64_t bytes = 0;    ///< number of bytes read
  std::uint64_t version = 0;  ///< differs between files of the same path, and when a file was written to
  std::uint32_t thread = 0;
  NameId file = 0;  ///< path
};

enum class CopyKind : std::uint8_t { other, h2d, d2h, d2d, p2p, h2h };
constexpr auto texts_of(CopyKind) { return enum_texts("other", "h2d", "d2h", "d2d", "p2p", "h2h"); }
enum class Memory : std::uint8_t { unknown, pageable, pinned, device, array, managed };
constexpr auto texts_of(Memory) { return enum_texts("unknown", "pageable", "pinned", "device", "array", "managed"); }
/// The kind of hardware that carried out a copy.
enum class Channel : std::uint8_t { unknown, compute, copy_engine, other };

/// The common fields at the beginning of the records of all GPU operations.
struct OnDevice {
  Time begin = 0;
  Time end = 0;
  std::uint32_t correlation = 0;
  std::uint32_t device = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint64_t graph_node = 0;  ///< identifies the node of a CUDA graph; 0: not part of a graph
};

struct Copy {
  OnDevice on;
  std::uint64_t bytes = 0;
  CopyKind kind = CopyKind::other;
  Memory source = Memory::unknown;
  Memory destination = Memory::unknown;
  Channel channel = Channel::unknown;
  std::uint32_t channel_id = 0;
  std::uint32_t peer = 0;          ///< other device of a copy between devices
  std::uint32_t asynchronous = 0;  ///< 1: the call may return before the copy ends
};

struct Kernel {
  OnDevice on;
  NameId name = 0;          ///< name of the kernel, demangled, without arguments
  std::uint32_t grid = 0;   ///< number of blocks
  std::uint32_t block = 0;  ///< threads per block
  std::uint32_t reserved = 0;
};

struct Fill {
  OnDevice on;
  std::uint64_t bytes = 0;
};

enum class SyncKind : std::uint32_t { unknown, event, stream_wait_event, stream, context };

/// A wait: a host call waits for the GPU, or a stream waits for an event.
struct Synchronization {
  Time begin = 0;
  Time end = 0;
  std::uint32_t correlation = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  SyncKind kind = SyncKind::unknown;
  std::uint32_t event = 0;
  std::uint32_t reserved = 0;
  /// Event::record of the awaited cudaEventRecord(). 0: unknown; readers assume the event's last one before the wait.
  std::uint64_t event_record = 0;
};

struct Event {
  std::uint32_t correlation = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t event = 0;
  std::uint64_t record = 0;  ///< identifies this cudaEventRecord() among those of the event; 0: unknown
};

/// An NVTX range: from push to pop on a thread, or from start to end in the process.
struct Range {
  Time begin = 0;
  Time end = 0;  ///< 0: has not ended
  NameId name = 0;
  NameId domain = 0;
  std::uint32_t thread = 0;      ///< thread on which the range began
  std::uint32_t of_process = 0;  ///< 1: a start/end range, which may end on another thread
};

/// A migration of managed memory, or a group of page faults (see `fault_of_gpu`).
struct Migration {
  Time begin = 0;
  Time end = 0;
  std::uint64_t bytes = 0;
  std::uint32_t device = 0;
  CopyKind kind = CopyKind::other;
  std::uint8_t fault_of_gpu = 0;  ///< 1: a group of GPU page faults, without bytes
  std::uint16_t reserved = 0;
};

/// A call stack of the host. Followed by `frames` NameIds, innermost first, and by zeros up to a multiple of 8.
struct Stack {
  std::uint32_t id = 0;
  std::uint32_t frames = 0;
};

/// A remark about the recording for its reader, for example "CUPTI is used by another tool".
struct Note {
  NameId text = 0;
  std::uint32_t failure = 0;  ///< 1: the remark says why nothing, or not everything, could be recorded
};

/// Numbers of records that are missing in the file.
struct Lost {
  std::uint64_t dropped = 0;  ///< records that did not fit into the recorder's buffers
  std::uint64_t untimed = 0;  ///< operations that had no timestamps
};

enum class EndReason : std::uint32_t {
  exit,          ///< the process exited regularly
  max_records,   ///< the requested number of records was reached
  window,        ///< the requested time or range is over
  write_failed,  ///< the file could no longer be written, as on a full disk
};

/// The last record. If it is missing, the process was killed, crashed, or called _exit.
struct End {
  Time time = 0;
  EndReason reason = EndReason::exit;
  std::uint32_t error = 0;  ///< errno, if the reason is write_failed
};

template <class Record>
inline constexpr bool kIsPlain = std::is_trivially_copyable_v<Record> && sizeof(Record) % 8 == 0;
static_assert(kIsPlain<FileHeader> && kIsPlain<RecordHeader> && kIsPlain<Name> && kIsPlain<Process>);
static_assert(kIsPlain<Device> && kIsPlain<Stream> && kIsPlain<Call> && kIsPlain<Copy> && kIsPlain<Kernel>);
static_assert(kIsPlain<Fill> && kIsPlain<Synchronization> && kIsPlain<Event> && kIsPlain<Range>);
static_assert(kIsPlain<Migration> && kIsPlain<Stack> && kIsPlain<Note> && kIsPlain<Lost>);
static_assert(kIsPlain<End> && kIsPlain<Usage> && kIsPlain<Workers>);
static_assert(kIsPlain<FileRead> && kIsPlain<ProcessUsage>);

}  // namespace xferbench::recording
