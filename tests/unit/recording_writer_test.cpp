// RecordingWriter: whole records, full disks, lost descriptors and forked processes.
#include "recording/recording_writer.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "support/files.hpp"

namespace xferbench::recording {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kWriterPid = 4711;

class Folder : public test::TemporaryFolder {
 public:
  [[nodiscard]] std::string file(int life) const {
    return *this / (std::to_string(kWriterPid) + "-" + std::to_string(life) + ".xfrec");
  }
};

struct Piece {
  Type type{};
  std::string payload;
};

/// The records of the file; fails if it does not consist of whole records.
std::vector<Piece> pieces_of(const std::string& path) {
  const std::string text = test::read_file(path);
  FileHeader header;
  if (text.size() < sizeof header) {
    ADD_FAILURE() << path << " has " << text.size() << " bytes";
    return {};
  }
  std::memcpy(&header, text.data(), sizeof header);
  EXPECT_EQ(header.magic, kMagic);
  EXPECT_EQ(header.version, kVersion);
  std::vector<Piece> pieces;
  std::size_t at = sizeof header;
  while (at < text.size()) {
    RecordHeader record;
    const bool fits = text.size() - at >= sizeof record;
    if (fits) std::memcpy(&record, text.data() + at, sizeof record);
    if (!fits || record.bytes % 8 != 0 || text.size() - at - sizeof record < record.bytes) {
      ADD_FAILURE() << path << " is torn at " << at << " of " << text.size();
      return pieces;
    }
    pieces.push_back({record.type, text.substr(at + sizeof record, record.bytes)});
    at += sizeof record + record.bytes;
  }
  return pieces;
}

template <class Record>
Record as(const Piece& piece) {
  Record record{};
  EXPECT_GE(piece.payload.size(), sizeof record);
  std::memcpy(&record, piece.payload.data(), std::min(sizeof record, piece.payload.size()));
  return record;
}

Fill fill_of(std::uint64_t bytes) { return {.on = {}, .bytes = bytes}; }

/// Limits the size of files, which imitates a full disk. A write beyond it would also raise SIGXFSZ, which ends a
/// process that does not handle it.
class LimitedSize {
 public:
  explicit LimitedSize(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  LimitedSize(const LimitedSize&) = delete;
  LimitedSize& operator=(const LimitedSize&) = delete;
  ~LimitedSize() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST(RecordingWriter, WritesAHeaderAndWholeRecords) {
  const Folder folder;
  RecordingWriter writer(folder.path(), kWriterPid);
  writer.add(Type::fill, fill_of(5));
  EXPECT_TRUE(writer.flush());
  writer.add(Type::fill, fill_of(6));
  const std::vector<Piece> first = pieces_of(folder.file(1));
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].type, Type::fill);
  EXPECT_EQ(as<Fill>(first[0]).bytes, 5U);
  EXPECT_TRUE(writer.flush());
  EXPECT_EQ(pieces_of(folder.file(1)).size(), 2U);
  EXPECT_EQ(writer.records(), 2U);
  EXPECT_EQ(writer.error(), 0);
}

TEST(RecordingWriter, NamesATextOnceAndPadsItWithZeros) {
  const Folder folder;
  RecordingWriter writer(folder.path(), kWriterPid);
  EXPECT_EQ(writer.name(""), 0U);
  EXPECT_EQ(writer.name("step"), 1U);
  EXPECT_EQ(writer.name("eight by"), 2U);
  EXPECT_EQ(writer.name("step"), 1U);
  writer.flush();
  const std::vector<Piece> pieces = pieces_of(folder.file(1));
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(as<Name>(pieces[0]).length, 4U);
  EXPECT_EQ(pieces[0].payload.substr(sizeof(Name)), std::string("step\0\0\0\0", 8));
  EXPECT_EQ(as<Name>(pieces[1]).id, 2U);
  EXPECT_EQ(pieces[1].payload.substr(sizeof(Name)), "eight by");
  EXPECT_EQ(writer.records(), 0U);
}

TEST(RecordingWriter, PadsStacksAndNumbersThem) {
  const Folder folder;
  RecordingWriter writer(folder.path(), kWriterPid);
  const std::vector<NameId> frames{writer.name("a"), writer.name("b"), writer.name("c")};
  EXPECT_EQ(writer.stack(frames), 1U);
  EXPECT_EQ(writer.stack(frames), 2U);
  writer.flush();
  const std::vector<Piece> pieces = pieces_of(folder.file(1));
  ASSERT_EQ(pieces.size(), 5U);
  EXPECT_EQ(as<Stack>(pieces[3]).frames, 3U);
  EXPECT_EQ(pieces[3].payload.size(), sizeof(Stack) + 4 * sizeof(NameId));
}

TEST(RecordingWriter, WritesByItselfWhenThereIsMuch) {
  const Folder folder;
  RecordingWriter writer(folder.path(), kWriterPid);
  for (std::uint64_t i = 0; i < 10'000; ++i) writer.add(Type::fill, fill_of(i));
  const std::vector<Piece> pieces = pieces_of(folder.file(1));
  EXPECT_GT(pieces.size(), 5000U);
  EXPECT_LT(pieces.size(), 10'000U);
}

TEST(RecordingWriter, EndsWithItsEnd) {
  const Folder folder;
  RecordingWriter writer(folder.path(), kWriterPid);
  writer.add(Type::fill, fill_of(1));
  writer.end({.time = 7, .reason = EndReason::window});
  writer.add(Type::fill, fill_of(2));
  EXPECT_EQ(writer.name("late"), 0U);
  EXPECT_FALSE(writer.flush());
  writer.end({.time = 8});
  const std::vector<Piece> pieces = pieces_of(folder.file(1));
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(as<End>(pieces[1]).time, 7U);
  EXPECT_EQ(as<End>(pieces[1]).reason, EndReason::window);
}

TEST(RecordingWriter, GivesEachLifeOfAProcessNumberAFileOfItsOwn) {
  const Folder folder;
  RecordingWriter first(folder.path(), kWriterPid);
  RecordingWriter second(folder.path(), kWriterPid);
  EXPECT_EQ(first.number(), 1);
  EXPECT_EQ(second.number(), 2);
  first.name("first");
  second.name("second");
  first.flush();
  second.flush();
  EXPECT_EQ(pieces_of(folder.file(1)).at(0).payload.substr(sizeof(Name), 5), "first");
  EXPECT_EQ(pieces_of(folder.file(2)).at(0).payload.substr(sizeof(Name), 6), "second");
}

TEST(RecordingWriter, TakesNoRecordsWhereItCannotCreateItsFile) {
  errno = EDOM;
  RecordingWriter writer("/nowhere/at/all", kWriterPid);
  EXPECT_EQ(writer.error(), ENOENT);
  EXPECT_EQ(writer.number(), 0);
  EXPECT_EQ(writer.name("step"), 0U);
  writer.add(Type::fill, fill_of(1));
  EXPECT_EQ(writer.records(), 0U);
  EXPECT_FALSE(writer.flush());
  writer.end({});
  EXPECT_EQ(errno, EDOM);
}

std::atomic<int>& signals() {
  static std::atomic<int> count = 0;
  return count;
}

TEST(RecordingWriter, StopsOnAFullDiskBehindTheLastRecordThatFitsAndWithoutASignal) {
  const Folder folder;
  RecordingWriter writer(folder.path(), kWriterPid);
  struct sigaction before {};
  struct sigaction counting {};
  counting.sa_handler = [](int) { ++signals(); };
  sigaction(SIGXFSZ, &counting, &before);
  {
    const LimitedSize full(1001);
    for (std::uint64_t i = 0; i < 100; ++i) writer.add(Type::fill, fill_of(i));
    errno = EDOM;
    EXPECT_FALSE(writer.flush());
    EXPECT_EQ(errno, EDOM);
    EXPECT_EQ(writer.error(), EFBIG);
  }
  EXPECT_EQ(signals(), 0);
  struct sigaction after {};
  sigaction(SIGXFSZ, &before, &after);
  EXPECT_EQ(after.sa_handler, counting.sa_handler);
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  EXPECT_EQ(sigismember(&blocked, SIGXFSZ), 0);
  const std::vector<Piece> pieces = pieces_of(folder.file(1));
  constexpr std::size_t kEnd = sizeof(RecordHeader) + sizeof(End);
  EXPECT_EQ(pieces.size(), (1001 - sizeof(FileHeader) - kEnd) / (sizeof(RecordHeader) + sizeof(Fill)) + 1);
  EXPECT_EQ(as<Fill>(pieces.at(pieces.size() - 2)).bytes, pieces.size() - 2);
  EXPECT_EQ(as<End>(pieces.back()).reason, EndReason::write_failed);
}

TEST(RecordingWriter, LeavesNoFileWhereThereIsNotEvenRoomForItsHeader) {
  const Folder folder;
  RecordingWriter writer(folder.path(), kWriterPid);
  writer.add(Type::fill, fill_of(1));
  {
    const LimitedSize full(15);
    EXPECT_FALSE(writer.flush());
  }
  EXPECT_FALSE(fs::exists(folder.file(1)));
}

TEST(RecordingWriter, SaysInTheFileThatTheDiskWasFull) {
  const Folder folder;
  RecordingWriter writer(folder.path(), kWriterPid);
  writer.add(Type::fill, fill_of(1));
  ASSERT_TRUE(writer.flush());
  const auto length = fs::file_size(folder.file(1));
  const std::uintmax_t end = sizeof(RecordHeader) + sizeof(End);
  {
    const LimitedSize full(length + end + 3);
    for (std::uint64_t i = 0; i < 100; ++i) writer.add(Type::fill, fill_of(i));
    EXPECT_FALSE(writer.flush());
  }
  writer.add(Type::fill, fill_of(3));
  EXPECT_FALSE(writer.flush()) << "it is over, though there is space again";
  const std::vector<Piece> pieces = pieces_of(folder.file(1));
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(as<End>(pieces[1]).reason, EndReason::write_failed);
  EXPECT_EQ(as<End>(pieces[1]).error, static_cast<std::uint32_t>(EFBIG));
}

TEST(RecordingWriter, LeavesASignalThatWasPendingPending) {
  const Folder folder;
  RecordingWriter writer(folder.path(), kWriterPid);
  sigset_t xfsz;
  sigset_t before;
  sigemptyset(&xfsz);
  sigaddset(&xfsz, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &xfsz, &before);
  pthread_kill(pthread_self(), SIGXFSZ);
  EXPECT_TRUE(writer.flush());
  const timespec now{0, 0};
  EXPECT_EQ(sigtimedwait(&xfsz, nullptr, &now), SIGXFSZ);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// The file descriptor open on this path, from /proc/self/fd; -1 if there is none.
int descriptor_of(const std::string& path) {
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code none;
    if (fs::read_symlink(entry.path(), none) == path) return std::stoi(entry.path().filename().string());
  }
  return -1;
}

TEST(RecordingWriter, WritesIntoNoFileOfTheProgramThatClosesEveryDescriptor) {
  const Folder folder;
  RecordingWriter writer(folder.path(), kWriterPid);
  writer.flush();
  const int ours = descriptor_of(folder.file(1));
  ASSERT_GT(ours, 99) << "programs expect low numbers for their own files";
  const std::string theirs = folder / "theirs";
  const int opened = open(theirs.c_str(), O_WRONLY | O_CREAT, 0644);
  ASSERT_EQ(dup2(opened, ours), ours);  // the program closed our descriptor and reused its number
  writer.add(Type::fill, fill_of(1));
  EXPECT_TRUE(writer.flush());
  EXPECT_EQ(fs::file_size(theirs), 0U);
  EXPECT_EQ(pieces_of(folder.file(1)).size(), 1U);
  EXPECT_EQ(close(ours), 0) << "theirs was closed";
  close(opened);
}

TEST(RecordingWriter, GivesUpWhereItsFileIsGone) {
  const Folder folder;
  RecordingWriter writer(folder.path(), kWriterPid);
  writer.flush();
  close(descriptor_of(folder.file(1)));
  fs::remove(folder.file(1));
  EXPECT_FALSE(writer.flush());
  EXPECT_EQ(writer.error(), ENOENT);
}

TEST(RecordingWriter, TakesRecordsOfManyThreads) {
  const Folder folder;
  RecordingWriter writer(folder.path(), kWriterPid);
  constexpr std::uint64_t kEach = 5000;
  const auto work = [&](std::uint64_t thread) {
    for (std::uint64_t i = 0; i < kEach; ++i) {
      writer.name(std::to_string(i % 10));
      writer.add(Type::fill, fill_of(thread * kEach + i));
    }
  };
  std::vector<std::jthread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) threads.emplace_back(work, t);
  threads.clear();
  writer.flush();
  std::vector<std::uint64_t> found;
  for (const Piece& piece : pieces_of(folder.file(1))) {
    if (piece.type == Type::fill) found.push_back(as<Fill>(piece).bytes);
  }
  std::ranges::sort(found);
  ASSERT_EQ(found.size(), 4 * kEach);
  for (std::uint64_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], i);
}

}  // namespace
}  // namespace xferbench::recording
