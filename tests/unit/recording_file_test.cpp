// Reading recordings: every field, torn files, and refusal of damaged ones.
#include "results/recording_file.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "support/files.hpp"

namespace xferbench::recording {
namespace {

constexpr std::uint32_t kPid = 7;
/// Field values are distinct powers of two, so that mixed-up fields are noticed.
constexpr Copy kCopy{.on = {.begin = 100, .end = 200, .correlation = 1, .device = 2, .context = 4, .stream = 8},
                     .bytes = 4096,
                     .kind = CopyKind::d2h,
                     .source = Memory::device,
                     .destination = Memory::pinned,
                     .channel = Channel::copy_engine,
                     .channel_id = 16,
                     .asynchronous = 1};

/// Builds a file byte for byte, independent of the real writer.
class Bytes {
 public:
  explicit Bytes(const FileHeader& header = {}) { put(&header, sizeof header); }

  template <class Record>
  Bytes& add(Type type, const Record& record, std::string_view behind = {}) {
    const std::size_t padding = (8 - behind.size() % 8) % 8;
    const RecordHeader header{type, 0, static_cast<std::uint32_t>(sizeof record + behind.size() + padding)};
    put(&header, sizeof header);
    put(&record, sizeof record);
    text_ += behind;
    text_.append(padding, '\0');
    return *this;
  }
  Bytes& name(NameId id, std::string_view text) {
    return add(Type::name, Name{id, static_cast<std::uint32_t>(text.size())}, text);
  }
  Bytes& process() { return add(Type::process, Process{.pid = kPid, .loaded = 50}); }
  Bytes& stack(std::uint32_t id, const std::vector<NameId>& frames) {
    return add(Type::stack, Stack{id, static_cast<std::uint32_t>(frames.size())},
               {reinterpret_cast<const char*>(frames.data()), frames.size() * sizeof(NameId)});
  }
  Bytes& append(std::string_view text) {
    text_ += text;
    return *this;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void put(const void* data, std::size_t bytes) { text_.append(static_cast<const char*>(data), bytes); }
  std::string text_;
};

class RecordingFile : public testing::Test {
 protected:
  Recording read(std::string_view text) {
    test::write_file(path_, text);
    return read_recording(path_);
  }
  Recording read(const Bytes& bytes) { return read(bytes.text()); }
  void expect_refused(std::string_view text, std::string_view why) {
    try {
      read(text);
      ADD_FAILURE() << "was read, expected: " << why;
    } catch (const InputError& error) {
      const std::string_view said = error.what();
      EXPECT_NE(said.find(why), std::string_view::npos) << said;
      EXPECT_NE(said.find(path_), std::string_view::npos) << said;
    }
  }
  void expect_refused(const Bytes& bytes, std::string_view why) { expect_refused(bytes.text(), why); }

  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "7-1.xfrec";
};

// --- Reading --------------------------------------------------------------------------------------------------------

TEST_F(RecordingFile, IsReadAsItIsLaidOut) {
  Bytes file;
  file.name(1, "cudaMemcpyAsync").name(2, "NVIDIA H200").name(3, "main").process();
  file.add(Type::device, Device{.id = 2, .name = 2});
  file.add(Type::stream, Stream{.context = 4, .stream = 8, .flag = StreamFlag::legacy, .device = 2});
  file.stack(1, {3, 1});
  file.add(Type::call,
           Call{.begin = 90, .end = 95, .name = 1, .thread = 32, .correlation = 1, .result = -1, .stack = 1});
  file.add(Type::copy, kCopy);
  file.add(Type::note, Note{.text = 3});
  file.add(Type::end, End{.time = 300, .reason = EndReason::write_failed, .error = 28});
  const Recording r = read(file);
  EXPECT_EQ(r.process.pid, kPid);
  ASSERT_EQ(r.devices.size(), 1U);
  EXPECT_EQ(r.name(r.devices[0].name), "NVIDIA H200");
  ASSERT_EQ(r.streams.size(), 1U);
  EXPECT_EQ(r.streams[0].flag, StreamFlag::legacy);
  ASSERT_EQ(r.calls.size(), 1U);
  EXPECT_EQ(r.name(r.calls[0].name), "cudaMemcpyAsync");
  EXPECT_EQ(r.calls[0].result, -1);
  EXPECT_EQ(r.stacks.at(r.calls[0].stack), (std::vector<NameId>{3, 1}));
  ASSERT_EQ(r.copies.size(), 1U);
  EXPECT_EQ(r.copies[0].on.stream, kCopy.on.stream);
  EXPECT_EQ(r.copies[0].bytes, kCopy.bytes);
  EXPECT_EQ(r.copies[0].destination, Memory::pinned);
  EXPECT_EQ(r.copies[0].asynchronous, 1U);
  EXPECT_EQ(r.notes, std::vector<std::string>{"main"});
  ASSERT_TRUE(r.end);
  EXPECT_EQ(r.end->error, 28U);
  EXPECT_FALSE(r.torn);
}

TEST_F(RecordingFile, IsInTheOrderOfTime) {
  Bytes file;
  file.process();
  for (const std::uint32_t moment : {5U, 1U, 3U, 1U}) {
    file.add(Type::call, Call{.begin = moment, .end = 9, .thread = moment});
    file.add(Type::event, Event{.event = moment});
  }
  file.add(Type::call, Call{.begin = 1, .end = 9, .thread = 99});
  const Recording r = read(file);
  std::vector<std::uint32_t> threads;
  for (const Call& call : r.calls) threads.push_back(call.thread);
  EXPECT_EQ(threads, (std::vector<std::uint32_t>{1, 1, 99, 3, 5}));
  std::vector<std::uint32_t> events;
  for (const Event& event : r.events) events.push_back(event.event);
  EXPECT_EQ(events, (std::vector<std::uint32_t>{5U, 1U, 3U, 1U}));
}

TEST_F(RecordingFile, CountsWhatHasNoTimes) {
  Bytes file;
  file.process();
  file.add(Type::kernel, Kernel{.on = {.begin = 0, .end = 7}});
  file.add(Type::kernel, Kernel{.on = {.begin = 7, .end = 0}});
  file.add(Type::fill, Fill{.on = {.begin = 3, .end = 7}});
  file.add(Type::lost, Lost{.dropped = 10, .untimed = 20});
  file.add(Type::lost, Lost{.dropped = 1, .untimed = 2});
  const Recording r = read(file);
  EXPECT_TRUE(r.kernels.empty());
  EXPECT_EQ(r.fills.size(), 1U);
  EXPECT_EQ(r.dropped, 11U);
  EXPECT_EQ(r.untimed, 24U);
}

TEST_F(RecordingFile, ReadsOverWhatItDoesNotKnow) {
  Bytes file;
  file.process();
  file.add(static_cast<Type>(4000), Lost{.dropped = 10});
  file.append(std::string_view("\xff\xff\0\0\0\0\0\0", 8));  // a record of unknown type without a payload
  file.add(Type::copy, kCopy);
  const Recording r = read(file);
  EXPECT_EQ(r.copies.size(), 1U);
  EXPECT_EQ(r.dropped, 0U);
}

TEST_F(RecordingFile, IsReadWhereverItIsTorn) {
  Bytes begin;
  begin.process();
  Bytes file = begin;
  file.name(1, "a name of some length").add(Type::copy, kCopy);
  for (std::size_t length = begin.text().size(); length <= file.text().size(); ++length) {
    const Recording r = read(std::string_view(file.text()).substr(0, length));
    const bool is_whole = length == begin.text().size() || length == file.text().size() ||
                          length == file.text().size() - sizeof(RecordHeader) - sizeof(Copy);
    EXPECT_EQ(r.torn, !is_whole) << length;
    EXPECT_EQ(r.copies.size(), length == file.text().size() ? 1U : 0U) << length;
  }
}

TEST_F(RecordingFile, LeavesNothingInNamesThatATerminalWouldObey) {
  const Recording r = read(Bytes().name(1, "ker\x1b[2Jnel\n").name(2, "\xff\xfe").name(3, "").process());
  EXPECT_EQ(r.name(1), "ker?[2Jnel?");
  EXPECT_EQ(r.name(2), "??");
  EXPECT_EQ(r.name(3), "");
}

TEST_F(RecordingFile, IsReadInBlocksThatItsRecordsDoNotFit) {
  Bytes file;
  file.process();
  constexpr std::size_t kMany = 50'000;  // records of 72 bytes: more than 3 MB
  for (std::size_t i = 0; i < kMany; ++i) {
    Copy copy = kCopy;
    copy.bytes = i;
    file.add(Type::copy, copy);
  }
  const Recording r = read(file);
  ASSERT_EQ(r.copies.size(), kMany);
  for (std::size_t i = 0; i < kMany; ++i) ASSERT_EQ(r.copies[i].bytes, i);
}

// --- Files that are refused -----------------------------------------------------------------------------------------

TEST_F(RecordingFile, OfAnotherKindIsRefused) {
  expect_refused("", "a header");
  expect_refused("{}", "a header");
  expect_refused("{\"a\": \"results file, and no recording\"}", "its first bytes differ");
  expect_refused(Bytes({.version = 2}), "found recording version 2, expected 1");
  EXPECT_THROW(read_recording(folder_.path().string()), InputError);
  EXPECT_THROW(read_recording((folder_ / "none.xfrec").string()), InputError);
}

TEST_F(RecordingFile, OfNoProcessIsRefused) {
  expect_refused(Bytes(), "the process");
  expect_refused(Bytes().name(1, "name"), "the process");
  expect_refused(Bytes().add(Type::copy, kCopy).process(), "the process's record first");
  expect_refused(Bytes().add(Type::process, Process{}), "without a number");
  expect_refused(Bytes().process().process(), "second");
}

TEST_F(RecordingFile, WithRecordsOfOtherSizesIsRefused) {
  expect_refused(Bytes().process().add(Type::copy, Lost{}), "expected a copy of 64");
  expect_refused(Bytes().process().add(Type::lost, kCopy), "expected lost records of 16");
  expect_refused(Bytes().process().append(std::string_view("\5\0\0\0\x07\0\0\0", 8)), "multiple of 8");
  expect_refused(Bytes().process().append(std::string_view("\xff\xff\0\0\xf8\xff\xff\xff", 8)), "multiple of 8 up to");
  expect_refused(Bytes().process().append(std::string_view("\1\0\0\0\0\0\0\0", 8)), "a name without its length");
  expect_refused(Bytes().process().append(std::string_view("\x0e\0\0\0\0\0\0\0", 8)), "a stack without its length");
}

TEST_F(RecordingFile, WithNamesThatAreNotInOrderIsRefused) {
  expect_refused(Bytes().name(2, "second").process(), "found name 2, expected 1");
  expect_refused(Bytes().name(0, "none").process(), "found name 0, expected 1");
  expect_refused(Bytes().add(Type::name, Name{1, 9}, "eight   "), "longer than its record");
  expect_refused(Bytes().add(Type::name, Name{1, 0xffffffff}, "eight   "), "longer than its record");
  const auto with = [](auto type, const auto& record) { return Bytes().process().add(type, record).name(1, "late"); };
  expect_refused(with(Type::call, Call{.begin = 1, .end = 2, .name = 1}), "name 1, which is not defined before");
  expect_refused(with(Type::kernel, Kernel{.on = {.begin = 1, .end = 2}, .name = 1}), "not defined before");
  expect_refused(with(Type::range, Range{.begin = 1, .name = 1}), "not defined before");
  expect_refused(with(Type::range, Range{.begin = 1, .domain = 1}), "not defined before");
  expect_refused(with(Type::device, Device{.name = 1}), "not defined before");
  expect_refused(with(Type::device, Device{.uuid = 1}), "not defined before");
  expect_refused(with(Type::note, Note{.text = 0xffffffff}), "not defined before");
  expect_refused(Bytes().add(Type::process, Process{.pid = kPid, .profile = 3}), "not defined before");
}

TEST_F(RecordingFile, WithStacksThatAreNotInOrderIsRefused) {
  expect_refused(Bytes().process().stack(2, {}), "found stack 2, expected 1");
  expect_refused(Bytes().process().stack(1, {1}), "name 1, which is not defined before");
  expect_refused(Bytes().process().add(Type::stack, Stack{1, 0xffffffff}), "longer than its record");
  expect_refused(Bytes().process().add(Type::call, Call{.begin = 1, .end = 2, .stack = 1}), "stack 1, which is not");
  EXPECT_EQ(read(Bytes().process().stack(1, {})).stacks.size(), 2U);
}

TEST_F(RecordingFile, ThatEndsBeforeItBeginsIsRefused) {
  const auto refused = [this](auto type, const auto& record) {
    expect_refused(Bytes().process().add(type, record), "found an end (4) before its begin (5)");
  };
  refused(Type::call, Call{.begin = 5, .end = 4});
  refused(Type::copy, Copy{.on = {.begin = 5, .end = 4}});
  refused(Type::kernel, Kernel{.on = {.begin = 5, .end = 4}});
  refused(Type::fill, Fill{.on = {.begin = 5, .end = 4}});
  refused(Type::synchronization, Synchronization{.begin = 5, .end = 4});
  refused(Type::range, Range{.begin = 5, .end = 4});
  refused(Type::migration, Migration{.begin = 5, .end = 4});
  refused(Type::usage, Usage{.begin = 5, .end = 4});
  refused(Type::usage, Usage{.begin = 4, .end = 5, .faults_before = 5, .faults_until_end = 4});
  EXPECT_EQ(read(Bytes().process().add(Type::range, Range{.begin = 5, .end = 0})).ranges.size(), 1U);
}

TEST_F(RecordingFile, OfTimesThatAreNoneIsRefused) {
  constexpr Time kNever = std::numeric_limits<Time>::max();
  expect_refused(Bytes().process().add(Type::call, Call{.begin = 5, .end = kNever}), "found an invalid time");
  expect_refused(Bytes().process().add(Type::copy, Copy{.on = {.begin = 5, .end = kNever}}), "found an invalid time");
  expect_refused(Bytes().process().add(Type::range, Range{.begin = kNever}), "found an invalid time");
  expect_refused(Bytes().process().add(Type::end, End{.time = kNever}), "found an invalid time");
  expect_refused(Bytes().add(Type::process, Process{.pid = kPid, .begin = kNever}), "found an invalid time");
  expect_refused(Bytes().add(Type::process, Process{.pid = kPid, .loaded = kNever}), "found an invalid time");
}

TEST_F(RecordingFile, WithKindsThatNobodyKnowsIsRefused) {
  const auto refused = [this](auto type, auto record, const std::function<void(decltype(record)&)>& change) {
    change(record);
    expect_refused(Bytes().process().add(type, record), "which is unknown");
  };
  refused(Type::copy, kCopy, [](Copy& c) { c.kind = static_cast<CopyKind>(6); });
  refused(Type::copy, kCopy, [](Copy& c) { c.source = static_cast<Memory>(6); });
  refused(Type::copy, kCopy, [](Copy& c) { c.destination = static_cast<Memory>(255); });
  refused(Type::copy, kCopy, [](Copy& c) { c.channel = static_cast<Channel>(4); });
  refused(Type::stream, Stream{}, [](Stream& s) { s.flag = static_cast<StreamFlag>(4); });
  refused(Type::synchronization, Synchronization{}, [](Synchronization& s) { s.kind = static_cast<SyncKind>(5); });
  refused(Type::migration, Migration{}, [](Migration& m) { m.kind = static_cast<CopyKind>(6); });
  refused(Type::end, End{}, [](End& e) { e.reason = static_cast<EndReason>(4); });
  expect_refused(Bytes().add(Type::process, Process{.pid = kPid, .backend = static_cast<Backend>(2)}), "unknown");
}

TEST_F(RecordingFile, ThatGoesOnBehindItsEndIsRefused) {
  expect_refused(Bytes().process().add(Type::end, End{}).add(Type::copy, kCopy), "found more data after");
}

}  // namespace
}  // namespace xferbench::recording
