// The files of this system: exact bytes on both routes, the page cache, mappings of files that become shorter, and
// every call of the system that can fail.
#include "device/real_files.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <thread>
#include <vector>

#include "core/units.hpp"
#include "device/mapping_guard.hpp"
#include "unit/real_files_fixture.hpp"

namespace xferbench::test {

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// Reads with what surrounds the bytes, which must not change.
void expect_exact(DataFile& file, const Bytes& all, std::size_t offset, std::size_t bytes, std::size_t shift) {
  Bytes room(bytes + shift + 8192, std::byte{0xA5});
  const std::size_t begin = 4096 - reinterpret_cast<std::uintptr_t>(room.data()) % 4096 + shift;
  file.read_at({room.data() + begin, bytes}, offset);
  const auto first = room.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto last = first + static_cast<std::ptrdiff_t>(bytes);
  EXPECT_TRUE(std::equal(first, last, all.begin() + static_cast<std::ptrdiff_t>(offset))) << offset << " " << bytes;
  const auto is_mark = [](std::byte one) { return one == std::byte{0xA5}; };
  EXPECT_TRUE(std::all_of(room.begin(), first, is_mark) && std::all_of(last, room.end(), is_mark)) << offset;
}

TEST(RealFiles, DeliverExactBytesAtAnyOffsetOnBothRoutes) {
  const TemporaryFolder folder;
  const auto files = make_real_files();
  for (const std::size_t size : {1U, 511U, 4096U, 70'003U, 1'049'353U}) {
    const Bytes all = put(folder / "data", size);
    for (const auto& file : on_both_routes(*files, folder / "data")) {
      EXPECT_EQ(file->size(), size);
      for (const std::size_t offset : {0U, 1U, 511U, 512U, 4096U, 8191U, 69'632U}) {
        for (const std::size_t bytes : {0UL, 1UL, 513UL, 4096UL, 65'536UL, size}) {
          if (offset > size) continue;
          for (const std::size_t shift : {0U, 1U, 511U}) {
            expect_exact(*file, all, offset, std::min(bytes, size - offset), shift);
          }
        }
      }
    }
  }
}

TEST(RealFiles, GoOnAfterShortAndInterruptedCalls) {
  const TemporaryFolder folder;
  std::size_t calls = 0;
  FaultyCalls faulty([&](const std::string&, std::size_t& bytes) {
    bytes = (bytes + 1) / 2;
    return ++calls % 3 == 0 ? EINTR : 0;
  });
  const Bytes all = made_bytes(100'001);
  const auto file = make_real_files(faulty)->make_temporary(folder.path(), all.size());
  file->write_at(all, 0);
  expect_exact(*file, all, 7, all.size() - 7, 3);
}

TEST(RealFiles, SayThatAFileBecameShorterWhileItWasRead) {
  const TemporaryFolder folder;
  const auto files = make_real_files();
  put(folder / "data", 20'000);
  const auto opened = on_both_routes(*files, folder / "data");
  fs::resize_file(folder / "data", 9'000);
  Bytes to(20'000);
  for (const auto& file : opened) {
    EXPECT_THAT(file_error_of([&] { file->read_at(to, 0); }),
                HasSubstr("data ended at 9000 bytes, expected 20000: it became shorter while it was read"));
    EXPECT_THAT(file_error_of([&] { file->read_at(to, 1); }), HasSubstr("it has 20000 bytes; stay within them"));
  }
}

TEST(RealFiles, RefuseWhatIsNoFileAndNeverWriteToOneOfTheUser) {
  const TemporaryFolder folder;
  const auto files = make_real_files();
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  const auto open = [&](const fs::path& path) {
    return file_error_of([&] { return files->open(path, FileRoute::cached); });
  };
  EXPECT_THAT(open(folder.path()), HasSubstr("is a folder, expected a file"));
  EXPECT_THAT(open(folder / "pipe"), HasSubstr("pipe is a pipe, expected a file"));
  EXPECT_THAT(open("/dev/null"), HasSubstr("/dev/null is a character device, expected a file"));
  EXPECT_THAT(open(folder / "missing"), HasSubstr("missing: No such file or directory"));
  put(folder / "data", 100);
  const auto file = files->open(folder / "data", FileRoute::cached);
  EXPECT_THAT(file_error_of([&] { file->write_at(made_bytes(9), 0); }), HasSubstr("data: it is open for reading only"));
  EXPECT_THAT(file_error_of([&] { return files->make_temporary(folder / "data", 1); }),
              HasSubstr("data is a file, expected a folder"));
  EXPECT_TRUE(files->is_folder(folder.path()));
  EXPECT_FALSE(files->is_folder(folder / "data"));
  put(folder / "empty", 0);
  EXPECT_TRUE(files->open(folder / "empty", FileRoute::cached)->map()->bytes().empty());
}

TEST(RealFiles, KnowTheirPlace) {
  const TemporaryFolder folder;
  const auto files = make_real_files();
  EXPECT_THAT(file_error_of([&] { return files->place_of(folder / "missing"); }), HasSubstr("look at"));
  const FilePlace place = files->place_of(folder.path());
  EXPECT_NE(place.file_system, "");
  EXPECT_THAT(file_error_of([&] { return files->make_temporary(folder.path(), place.free_bytes - 1); }),
              HasSubstr("are to stay free; choose a smaller --size or another --path"));
  EXPECT_EQ(place.device.empty(), place.largest_request == 0);
  EXPECT_EQ(place.scheduler.find('['), std::string::npos);
  const TemporaryFolder memory("/dev/shm");
  const Bytes all = put(memory / "data", 10'000);
  EXPECT_TRUE(files->place_of(memory / "data").in_memory);
  expect_exact(*files->open(memory / "data", FileRoute::cached), all, 11, 9'000, 1);
  EXPECT_THAT(file_error_of([&] { return files->open(memory / "data", FileRoute::direct); }),
              HasSubstr("tmpfs has no disk behind it: direct reads mean nothing here"));
}

TEST(TemporaryFiles, LeaveNothingAndAreReadByTheOtherRoute) {
  const TemporaryFolder folder;
  for (const int unsupported : {0, EOPNOTSUPP}) {
    std::size_t opened = 0;
    FaultyCalls faulty([&](const std::string& call, std::size_t&) {
      if (call == "fallocate" || call == "statx") return unsupported;
      return call == "open" && ++opened == 1 ? unsupported : 0;
    });
    const auto files = make_real_files(faulty);
    const Bytes all = made_bytes(300'000);
    const auto file = files->make_temporary(folder.path(), all.size());
    EXPECT_EQ(file->size(), all.size());
    const bool has_device = !file->place().device.empty();
    EXPECT_TRUE(!has_device || file->first_hole() == 0U);
    file->write_at(std::span(all).first(100'000), 0);
    const auto again = files->reopen(*file, FileRoute::cached);
    again->write_at(std::span(all).subspan(100'000), 100'000);
    again->sync();
    EXPECT_EQ(file->first_hole(), std::nullopt);
    expect_exact(*file, all, 0, all.size(), 0);
    EXPECT_EQ(folder.count(), 0);
    if (!has_device) continue;
    const auto direct = files->reopen(*file, FileRoute::direct);
    EXPECT_GT(direct->place().direct_offset_alignment, 0U);
    expect_exact(*direct, all, 3, all.size() - 3, 1);
    EXPECT_THAT(file_error_of([&] { direct->write_at(std::span(all).first(3), 1); }),
                HasSubstr("need memory aligned to"));
  }
}

TEST(PageCache, IsLeftAndReadingComesFromTheDevice) {
  const TemporaryFolder folder;
  const auto files = make_real_files();
  const Bytes all = put(folder / "data", 2 * MiB + 5);
  const auto file = files->open(folder / "data", FileRoute::cached);
  const auto before = file->residency();
  if (!before || file->place().device.empty()) GTEST_SKIP() << "the system does not tell what is cached";
  EXPECT_GE(before->cached, all.size());
  file->make_cold();
  EXPECT_EQ(file->residency()->cached, 0U);
  EXPECT_EQ(file->residency()->dirty, 0U);
  EXPECT_EQ(file->first_hole(), std::nullopt);
  const std::uint64_t read_before = files->bytes_from_device().value_or(0);
  const std::optional<DeviceTraffic> traffic = files->traffic_of(file->place());
  expect_exact(*file, all, 0, all.size(), 0);
  EXPECT_GE(files->bytes_from_device().value_or(2 * MiB), read_before + 2 * MiB);
  if (traffic) {
    const DeviceTraffic now = *files->traffic_of(file->place());
    EXPECT_GE(now.bytes_read, traffic->bytes_read + 2 * MiB);
    EXPECT_GT(now.reads, traffic->reads);
  }
  FaultyCalls old([](const std::string& call, std::size_t&) { return call == "cachestat" ? ENOSYS : 0; });
  const auto there = make_real_files(old)->open(folder / "data", FileRoute::cached);
  EXPECT_EQ(there->residency()->cached, file->residency()->cached);
  there->make_cold();
  EXPECT_EQ(there->residency()->cached, 0U);
}

TEST(Mappings, OfFilesThatBecomeShorterGiveZerosAndAnError) {
  for (const char* parent : {"/tmp", "/dev/shm"}) {
    const TemporaryFolder folder(parent);
    const Bytes all = put(folder / "data", 1 * MiB);
    const auto mapping = make_real_files()->open(folder / "data", FileRoute::cached)->map();
    EXPECT_TRUE(std::ranges::equal(mapping->bytes(), all));
    mapping->require_intact();
    fs::resize_file(folder / "data", 1 * MiB - 100);  // within the last page, which gives no signal
    EXPECT_EQ(mapping->bytes().back(), std::byte{0});
    EXPECT_THAT(file_error_of([&] { mapping->require_intact(); }),
                HasSubstr("data ended at 1048476 bytes, expected 1048576"));
    fs::resize_file(folder / "data", 5'000);
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < 4; ++i) {
      threads.emplace_back([rest = mapping->bytes().subspan((250 - 60 * i) * 4096)] {
        EXPECT_TRUE(std::ranges::all_of(rest, [](std::byte one) { return one == std::byte{0}; }));
      });
    }
    threads.clear();
    EXPECT_EQ(mapping->bytes()[4'000], all[4'000]);
    fs::resize_file(folder / "data", 1 * MiB);
    EXPECT_THAT(file_error_of([&] { mapping->require_intact(); }), HasSubstr("was shorter for a time"));
  }
}

TEST(Mappings, LeaveOtherSignalsToTheHandlerThatWasThere) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a new process, whose handler is not there yet
  const TemporaryFolder folder;
  const auto fault_elsewhere = [&](void (*handler)(int)) {
    std::signal(SIGBUS, handler);
    put(folder / "data", 8'192);
    const auto mapping = make_real_files()->open(folder / "data", FileRoute::cached)->map();
    static_cast<void>(make_real_files()->open(folder / "data", FileRoute::cached)->map());  // at the next one's address
    const int file = open((folder / "data").c_str(), O_RDONLY);
    const void* other = mmap(nullptr, 8'192, PROT_READ, MAP_SHARED, file, 0);
    fs::resize_file(folder / "data", 0);
    fs::remove_all(folder.path());  // which the end of this process would leave
    static_cast<void>(*static_cast<const volatile char*>(other));
  };
  EXPECT_EXIT(fault_elsewhere(SIG_DFL), testing::KilledBySignal(SIGBUS), "");
  EXPECT_EXIT(fault_elsewhere(SIG_IGN), testing::KilledBySignal(SIGBUS), "");
  EXPECT_EXIT(fault_elsewhere([](int) { _exit(7); }), testing::ExitedWithCode(7), "");
}

TEST(Mappings, AreLimitedInNumber) {
  const Bytes somewhere(1);
  std::vector<std::unique_ptr<MappingGuard>> guards(1000);
  const auto make_all = [&] {
    for (auto& guard : guards) guard = std::make_unique<MappingGuard>(somewhere);
  };
  EXPECT_THROW(make_all(), std::system_error);
  guards.clear();
  EXPECT_FALSE(MappingGuard(somewhere).broken());
}

/// Everything that can be done with files, once. Throws FileError.
void use_all(Files& files, const TemporaryFolder& folder, const Bytes& all) {
  const auto file = files.open(folder / "data", FileRoute::cached);
  expect_exact(*file, all, 5, all.size() - 5, 1);
  const auto mapping = file->map();
  EXPECT_TRUE(std::ranges::equal(mapping->bytes(), all));
  mapping->require_intact();
  const auto temporary = files.make_temporary(folder.path(), all.size());
  temporary->write_at(all, 0);
  temporary->sync();
  temporary->make_cold();
  EXPECT_LE(temporary->residency().value_or(Residency{}).cached, 24'576U);
  EXPECT_EQ(temporary->first_hole(), std::nullopt);
  static_cast<void>(files.place_of(folder.path()));
  if (!temporary->place().device.empty()) {
    expect_exact(*files.reopen(*temporary, FileRoute::direct), all, 5, all.size() - 5, 0);
  }
  expect_exact(*files.reopen(*temporary, FileRoute::cached), all, 0, all.size(), 0);
}

TEST(RealFiles, SurviveEveryFaultInEveryCall) {
  const TemporaryFolder folder;
  const Bytes all = put(folder / "data", 20'005);
  for (const int error : {EIO, EINVAL, ENOSPC, EINTR, ENOSYS, 0}) {
    std::size_t failed = 0;
    for (std::size_t n = 1;; ++n) {
      std::size_t calls = 0;
      bool writing = false;
      FaultyCalls faulty([&](const std::string& call, std::size_t& bytes) {
        if (++calls != n) return 0;
        writing = call == "pwrite" || call == "fdatasync" || call == "fallocate";
        if (error == 0 && bytes >= 8192) bytes = bytes / 2 / 4096 * 4096;  // direct reads stay aligned
        return error;
      });
      const std::string message = file_error_of([&] { use_all(*make_real_files(faulty), folder, all); });
      if (message != "no error") {
        ++failed;
        EXPECT_THAT(message, HasSubstr(folder.path().string()));
        EXPECT_EQ(writing && error == ENOSPC, message.find("--size") != std::string::npos) << message;
      }
      EXPECT_EQ(folder.count(), 1);
      if (calls < n) break;
      ASSERT_LT(n, 200U);
    }
    EXPECT_TRUE(error == EINTR || error == 0 ? failed <= 1 : failed > 15) << error << " " << failed;
    EXPECT_TRUE(std::ranges::equal(read_file(folder / "data"), all, {}, [](char c) { return std::byte(c); }));
  }
}

}  // namespace

}  // namespace xferbench::test
