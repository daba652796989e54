#include "fuzz/recordings.hpp"

#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "recording/recording_writer.hpp"
#include "support/files.hpp"
#include "support/synthetic_recording.hpp"

namespace xferbench::fuzz {

using namespace recording;

namespace {

// --- Valid recordings -----------------------------------------------------------------------------------------------

/// Adds the record types that SyntheticRecording does not write.
void write_the_rest(RecordingWriter& writer, Time at) {
  const NameId name = writer.name("main");
  const OnDevice on{.begin = at, .end = at + 5000, .correlation = 1, .context = 1, .stream = 7, .graph_node = 3};
  const std::uint32_t stack = writer.stack(std::array{name, name});
  writer.add(Type::call, Call{.begin = at, .end = at + 1000, .name = name, .thread = 2, .stack = stack});
  writer.add(Type::fill, Fill{.on = on, .bytes = 4096});
  writer.add(Type::kernel, recording::Kernel{.on = on, .name = name, .grid = 1, .block = 32});
  writer.add(Type::migration, Migration{.begin = at, .end = at + 100, .bytes = 65536, .kind = CopyKind::h2d});
  writer.add(Type::usage, Usage{.begin = at, .end = at + 100, .faults_before = 1, .faults_until_end = 2});
  writer.add(Type::workers, Workers{.time = at, .cpu = 500, .children = 2});
  writer.add(Type::file_read, FileRead{.begin = at, .end = at + 100, .offset = 4096, .bytes = 4096, .file = name});
  writer.add(Type::process_usage, ProcessUsage{.time = at, .faults = 1, .read = 4096});
  writer.add(Type::note, Note{.text = name});
  writer.add(Type::lost, Lost{.dropped = 1});
}

std::string written(const Recording& made) {
  const test::TemporaryFolder folder;
  const auto the_rest = [&made](RecordingWriter& writer) { write_the_rest(writer, made.calls.front().begin); };
  return test::read_file(write_recording(made, folder.path(), the_rest));
}

/// Steps on three streams, one of them the legacy default stream, ordered by events.
Recording program(SyntheticRecording::Memory memory, bool asynchronous) {
  SyntheticRecording m;
  const std::array streams{m.stream(StreamFlag::legacy), m.stream(StreamFlag::blocking),
                           m.stream(StreamFlag::non_blocking)};
  m.begin_range("steps");
  for (std::uint32_t step = 0; step < 6; ++step) {
    const std::uint32_t stream = streams[step % streams.size()];
    m.work(10e-6);
    m.copy(CopyKind::h2d, memory, std::uint64_t{1} << (10 + 2 * step), stream, asynchronous);
    m.record(step, stream);
    m.make_wait(streams[0], step);
    m.kernel("kernel", 20e-6, streams[0]);
    m.switch_thread(step);
    m.copy(CopyKind::d2h, memory, 4096, streams[0], asynchronous);
    step % 2 == 0 ? m.wait(streams[0]) : m.wait_device();
  }
  m.end_range();
  m.call("cudaHostAlloc", 1e-3);
  return m.finish();
}

// --- Damages --------------------------------------------------------------------------------------------------------

/// A file, split into its header and its records, each with its record header.
struct Pieces {
  std::string header;
  std::vector<std::string> records;
};

Pieces pieces_of(const std::string& bytes) {
  Pieces pieces{bytes.substr(0, sizeof(FileHeader)), {}};
  for (std::size_t at = sizeof(FileHeader); at < bytes.size();) {
    RecordHeader header;
    std::memcpy(&header, bytes.data() + at, sizeof header);
    pieces.records.push_back(bytes.substr(at, sizeof header + header.bytes));
    at += sizeof header + header.bytes;
  }
  return pieces;
}

constexpr auto kNumbers = std::to_array<std::uint64_t>(
    {0, 1, 2, 7, 8, 255, 65535, 1'000'000'000, 1'000'000'001, 1ULL << 31U, std::numeric_limits<std::uint32_t>::max(),
     1ULL << 63U, std::numeric_limits<std::uint64_t>::max(), std::numeric_limits<std::uint64_t>::max() - 1});

/// Changes a field of 1, 4 or 8 bytes: to a special number, or by 2 at most.
void change_field(Mutator& mutator, std::string& record) {
  constexpr std::array<std::size_t, 3> kSizes{1, 4, 8};
  const std::size_t size = kSizes[mutator.below(kSizes.size())];
  if (record.size() < size) return;  // the record was cut before
  const std::size_t at = size * mutator.below(record.size() / size);
  std::uint64_t value = 0;
  std::memcpy(&value, record.data() + at, size);
  value = mutator.below(2) == 0 ? kNumbers[mutator.below(kNumbers.size())] : value + mutator.below(5) - 2;
  std::memcpy(record.data() + at, &value, size);
}

void damage(Mutator& mutator, Pieces& pieces, const Pieces& other) {
  std::vector<std::string>& records = pieces.records;
  if (records.empty()) return;
  const std::size_t one = mutator.below(records.size());
  const auto place = records.begin() + static_cast<std::ptrdiff_t>(one);
  const std::string& taken = other.records[mutator.below(other.records.size())];
  switch (mutator.below(10)) {
    case 0: records.erase(place); break;
    case 1: records.insert(place, std::string(*place)); break;
    case 2: std::swap(*place, records[mutator.below(records.size())]); break;
    case 3: records.insert(place, taken); break;
    case 4: place->resize(mutator.below(place->size() + 1)); break;
    default: change_field(mutator, *place);
  }
  if (mutator.below(50) == 0) change_field(mutator, pieces.header);
}

}  // namespace

std::vector<std::string> recordings() {
  return {written(program(Memory::pageable, true)), written(program(Memory::pinned, true)),
          written(program(Memory::pinned, false))};
}

std::string damaged_recording(Mutator& mutator, const std::string& valid, const std::string& other) {
  Pieces pieces = pieces_of(valid);
  const Pieces from = pieces_of(other);
  for (std::size_t damages = 1 + mutator.below(8); damages > 0; --damages) damage(mutator, pieces, from);
  std::string bytes = pieces.header;
  for (const std::string& record : pieces.records) bytes += record;
  return bytes;
}

}  // namespace xferbench::fuzz
