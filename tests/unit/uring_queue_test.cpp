// Reads by io_uring on the files of this system: exact bytes on both routes, and every call that can fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "core/units.hpp"
#include "device/host_runtime.hpp"
#include "device/pages.hpp"
#include "unit/real_files_fixture.hpp"

namespace xferbench::test {

namespace {

using testing::HasSubstr;

struct Part {
  std::size_t bytes;
  std::size_t offset;
};

constexpr std::byte kMark{0xA5};

/// Memory of which each slot begins `shift` bytes behind a page or later.
class SlotMemory {
 public:
  SlotMemory(std::size_t slots, std::size_t slot_bytes, std::size_t shift = 0)
      : slot_bytes_(slot_bytes), pages_(slots * slot_bytes + shift), all_(pages_.data() + shift, slots * slot_bytes) {
    mark();
  }
  void mark() { std::ranges::fill(all_, kMark); }
  [[nodiscard]] bool is_marked() const {
    return std::ranges::all_of(all_, [](std::byte one) { return one == kMark; });
  }
  [[nodiscard]] std::span<std::byte> all() const { return all_; }
  [[nodiscard]] std::span<std::byte> slot(std::size_t number) const {
    return all_.subspan(number * slot_bytes_, slot_bytes_);
  }

 private:
  std::size_t slot_bytes_;
  Pages pages_;
  std::span<std::byte> all_;
};

/// Whether the slot has the bytes, and no others but up to the end of their last block.
bool holds(std::span<const std::byte> slot, const Bytes& all, const Part& part) {
  const std::size_t block_end = std::min(slot.size(), (part.bytes + 4095) / 4096 * 4096);
  return std::ranges::equal(slot.first(part.bytes), std::span(all).subspan(part.offset, part.bytes)) &&
         std::ranges::all_of(slot.subspan(block_end), [](std::byte one) { return one == kMark; });
}

/// Reads all parts at the same time, each into a slot of its own.
void expect_parts(DataFile& file, const Bytes& all, const std::vector<Part>& parts, QueueCopies copies,
                  std::size_t shift = 0) {
  const SlotMemory memory(parts.size(), 20 * KiB, shift);
  const auto queue = file.make_queue(memory.all(), parts.size(), copies);
  for (std::size_t i = 0; i < parts.size(); ++i) queue->start(i, parts[i].bytes, parts[i].offset);
  std::set<std::size_t> ended;
  for (std::size_t i = 0; i < parts.size(); ++i) ended.insert(queue->finish());
  EXPECT_EQ(ended.size(), parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    EXPECT_TRUE(holds(memory.slot(i), all, parts[i])) << parts[i].bytes << " bytes at " << parts[i].offset;
  }
}

/// Reads a whole file by `slots` requests at a time. Throws FileError.
void read_whole(DataFile& file, const Bytes& all, std::size_t request, std::size_t slots, SlotMemory& memory,
                QueueCopies copies = QueueCopies::by_workers) {
  const auto queue = file.make_queue(memory.all(), slots, copies);
  std::map<std::size_t, Part> reading;
  std::size_t next = 0;
  const auto start = [&](std::size_t slot) {
    if (next == all.size()) return;
    const Part part{std::min(request, all.size() - next), next};
    next += part.bytes;
    reading[slot] = part;
    queue->start(slot, part.bytes, part.offset);
  };
  for (std::size_t i = 0; i < slots; ++i) start(i);
  while (!reading.empty()) {
    const std::size_t slot = queue->finish();
    const auto part = reading.extract(slot).mapped();
    EXPECT_TRUE(
        std::ranges::equal(memory.slot(slot).first(part.bytes), std::span(all).subspan(part.offset, part.bytes)))
        << part.bytes << " bytes at " << part.offset;
    start(slot);
  }
}

/// Skips tests where a filter of system calls, as of some containers, forbids io_uring, or this user may lock little
/// memory.
class ReadQueues : public testing::Test {
 protected:
  void SetUp() override {
    const Pages memory(32 * MiB);
    put(folder_ / "probe", 1);
    const std::string error = file_error_of([&] {
      const auto file = make_real_files()->open(folder_ / "probe", FileRoute::cached);
      static_cast<void>(file->make_queue({memory.data(), memory.size()}, 1, kCopies));
      return 0;
    });
    if (error != "no error") GTEST_SKIP() << error;
  }

  static constexpr QueueCopies kCopies = QueueCopies::by_workers;
  TemporaryFolder folder_;
};

TEST_F(ReadQueues, DeliverExactBytesAtAnyOffsetOnBothRoutes) {
  TemporaryFolder memory("/dev/shm");
  const auto files = make_real_files();
  for (TemporaryFolder* folder : {&folder_, &memory}) {
    for (const std::size_t size : {1U, 511U, 4096U, 70'003U, 1'049'353U}) {
      const Bytes all = put(*folder / "data", size);
      std::vector<Part> parts;
      for (const std::size_t offset : {0UL, 1UL, 511UL, 512UL, 4096UL, 8191UL, size - 1, size / 2}) {
        for (const std::size_t bytes : {1UL, 513UL, 4096UL, 20 * KiB}) {
          if (offset < size) parts.push_back({std::min(bytes, size - offset), offset});
        }
      }
      for (const auto& file : on_both_routes(*files, *folder / "data")) {
        for (const std::size_t shift : {0U, 1U, 512U}) expect_parts(*file, all, parts, QueueCopies::by_caller, shift);
        expect_parts(*file, all, parts, QueueCopies::by_workers);
      }
    }
  }
}

TEST_F(ReadQueues, LeaveWhatFollowsASlotAsItIs) {
  constexpr std::size_t kSlot = 5'001;  // less than the blocks that direct reads need for it
  const Bytes all = put(folder_ / "data", 16 * KiB);
  for (const auto& file : on_both_routes(*make_real_files(), folder_ / "data")) {
    const SlotMemory memory(2, kSlot);
    const auto queue = file->make_queue(memory.slot(0), 1, kCopies);
    queue->start(0, kSlot, 0);
    EXPECT_EQ(queue->finish(), 0U);
    EXPECT_TRUE(std::ranges::equal(memory.slot(0), std::span(all).first(kSlot)));
    EXPECT_TRUE(std::ranges::all_of(memory.slot(1), [](std::byte one) { return one == kMark; }));
  }
}

TEST_F(ReadQueues, SubmitWhatWasStartedAlsoIfAnotherReadHasEndedBefore) {
  put(folder_ / "data", 16 * KiB);
  std::size_t submissions = 0;
  FaultyCalls counting([&](const std::string& call, std::size_t&) {
    submissions += call == "io_uring_enter" ? 1U : 0U;
    return 0;
  });
  const auto file = make_real_files(counting)->open(folder_ / "data", FileRoute::cached);
  const SlotMemory memory(3, 4 * KiB);
  const auto queue = file->make_queue(memory.all(), 3, QueueCopies::by_caller);
  queue->start(0, 4 * KiB, 0);
  queue->start(1, 4 * KiB, 4 * KiB);
  static_cast<void>(queue->finish());  // both have ended, as the page cache has them
  EXPECT_EQ(submissions, 1U);
  queue->start(2, 4 * KiB, 8 * KiB);
  static_cast<void>(queue->finish());
  EXPECT_EQ(submissions, 2U);
}

TEST_F(ReadQueues, UseSlotsAgainAndReadColdFilesToo) {
  const auto files = make_real_files();
  const Bytes all = put(folder_ / "data", 3'000'001);
  for (const auto& file : on_both_routes(*files, folder_ / "data")) {
    for (const std::size_t slots : {1U, 3U, 64U}) {
      for (const QueueCopies copies : {QueueCopies::by_caller, QueueCopies::by_workers}) {
        file->make_cold();
        SlotMemory memory(slots, 64 * KiB);
        read_whole(*file, all, 64 * KiB, slots, memory, copies);
      }
    }
  }
}

TEST_F(ReadQueues, GoOnAfterShortAndInterruptedReads) {
  const Bytes all = put(folder_ / "data", 300'005);
  for (const int error : {0, EINTR, EAGAIN}) {
    std::size_t ended = 0;
    FaultyCalls faulty([&](const std::string& call, std::size_t& bytes) {
      if (call != "io_uring completion") return 0;
      ++ended;
      if (error == 0) bytes = bytes / 3;
      return error;
    });
    for (const auto& file : on_both_routes(*make_real_files(faulty), folder_ / "data")) {
      SlotMemory memory(4, 16 * KiB);
      read_whole(*file, all, 16 * KiB, 4, memory);
    }
    EXPECT_GE(ended, all.size() / (16 * KiB)) << error;
  }
}

TEST_F(ReadQueues, SayThatAFileBecameShorter) {
  const auto files = make_real_files();
  const Bytes all = put(folder_ / "data", 20'000);
  for (const auto& file : on_both_routes(*files, folder_ / "data")) {
    std::filesystem::resize_file(folder_ / "data", 9'000);
    SlotMemory memory(2, 16 * KiB);
    EXPECT_THAT(file_error_of([&] { return read_whole(*file, all, 16 * KiB, 1, memory), 0; }),
                HasSubstr("data ended at 9000 bytes, expected 20000"));
    const auto queue = file->make_queue(memory.all(), 2, kCopies);
    EXPECT_THAT(file_error_of([&] { return queue->start(0, 2, 19'999), 0; }), HasSubstr("stay within them"));
    put(folder_ / "data", 20'000);
  }
}

TEST_F(ReadQueues, SayWhatKeepsTheSystemFromMakingThem) {
  put(folder_ / "data", 4096);
  const auto message = [&](const std::string& failing, int error) {
    FaultyCalls faulty([&](const std::string& call, std::size_t&) { return call == failing ? error : 0; });
    const auto file = make_real_files(faulty)->open(folder_ / "data", FileRoute::cached);
    const SlotMemory memory(3, 1 * MiB);
    return file_error_of([&] { return file->make_queue(memory.all(), 3, kCopies); });
  };
  EXPECT_THAT(message("io_uring_setup", ENOSYS), HasSubstr("this kernel has no io_uring"));
  EXPECT_THAT(message("io_uring_setup", EPERM), HasSubstr("kernel.io_uring_disabled"));
  EXPECT_THAT(message("io_uring_register buffers", ENOMEM),
              testing::AllOf(HasSubstr("3 MiB are needed"), HasSubstr("(ulimit -l)")));
  EXPECT_THAT(message("io_uring_register buffers", EOPNOTSUPP), HasSubstr("another --slot-memory"));
  EXPECT_THAT(message("io_uring_register files", EBADF), HasSubstr((folder_ / "data").string() + ": Bad file"));
}

TEST_F(ReadQueues, SurviveEveryFaultInEveryCall) {
  const Bytes all = put(folder_ / "data", 100'005);
  for (const int error : {EIO, EINVAL, ENOMEM, EPERM, EINTR, EAGAIN, 0}) {
    std::size_t failed = 0;
    for (std::size_t n = 1;; ++n) {
      std::size_t calls = 0;
      std::string faulty_call;
      FaultyCalls faulty([&](const std::string& call, std::size_t& bytes) {
        if (!call.starts_with("io_uring") || ++calls != n) return 0;
        faulty_call = call;
        if (error == 0) bytes /= 2;
        return error;
      });
      for (const auto& file : on_both_routes(*make_real_files(faulty), folder_ / "data")) {
        SlotMemory memory(3, 16 * KiB);
        const std::string message = file_error_of([&] { return read_whole(*file, all, 16 * KiB, 3, memory), 0; });
        if (message == "no error") continue;
        ++failed;
        EXPECT_THAT(message, HasSubstr("of " + (folder_ / "data").string() + ": "));
        // EAGAIN is final where a queue is made, and asks for another try elsewhere.
        const bool makes_queue = faulty_call == "io_uring_setup" || faulty_call.starts_with("io_uring_register");
        EXPECT_TRUE(error != EAGAIN || makes_queue) << faulty_call << ": " << message;
      }
      if (calls < n) break;
      ASSERT_LT(n, 200U);
    }
    const bool goes_on = error == EINTR || error == 0;
    EXPECT_TRUE(goes_on ? failed == 0 : error == EAGAIN ? failed >= 3 : failed > 20) << error << " " << failed;
  }
}

TEST_F(ReadQueues, LeaveNoReadBehindThatWritesToMemoryLater) {
  const Bytes all = put(folder_ / "data", 16 * MiB);
  for (const auto& file : on_both_routes(*make_real_files(), folder_ / "data")) {
    SlotMemory memory(16, 1 * MiB);
    file->make_cold();
    {
      const auto queue = file->make_queue(memory.all(), 16, QueueCopies::by_workers);
      for (std::size_t i = 0; i < 16; ++i) queue->start(i, 1 * MiB, i * MiB);
      static_cast<void>(queue->finish());
    }
    memory.mark();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_TRUE(memory.is_marked());
  }
}

TEST_F(ReadQueues, KnowTheCpuTimeOfTheSystemsWorkers) {
  const Bytes all = put(folder_ / "data", 32 * MiB);
  const auto file = make_real_files()->open(folder_ / "data", FileRoute::cached);
  const SlotMemory memory(8, 4 * MiB);
  const auto queue = file->make_queue(memory.all(), 8, QueueCopies::by_workers);
  const RealHost host;
  const double own = host.cpu_now();
  const double together = queue->cpu_now();
  for (std::size_t i = 0; i < 8; ++i) queue->start(i, 4 * MiB, i * 4 * MiB);
  for (std::size_t i = 0; i < 8; ++i) static_cast<void>(queue->finish());
  EXPECT_GT(queue->cpu_now() - together, 2 * (host.cpu_now() - own));
}

}  // namespace

}  // namespace xferbench::test
