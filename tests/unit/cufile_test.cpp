// The process of cuFile with a stand-in for the library: exact bytes, every way to fail, and nothing remains.
#include "scenarios/storage/cufile_process.hpp"
#include "scenarios/storage/parts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include "cli/command.hpp"
#include "core/error.hpp"
#include "core/on_exit.hpp"
#include "device/real_files.hpp"
#include "scenarios/scenarios.hpp"
#include "scenarios/storage/stored_file.hpp"
#include "support/files.hpp"

namespace xferbench::test {

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class CufileTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("FAKE_CUFILE_LIBRARY", XFERBENCH_FAKE_CUFILE, 1);
    unsetenv("FAKE_CUFILE");
    unsetenv("FAKE_CUFILE_ID");
  }
  /// No child may be left, not even one that has ended.
  void TearDown() override { EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1); }

  static void misbehave(const char* how) { setenv("FAKE_CUFILE", how, 1); }

  void make_file(std::size_t bytes) {
    bytes_.resize(bytes);
    for (std::size_t i = 0; i < bytes; ++i) bytes_[i] = static_cast<std::byte>((i * 2654435761U) >> 13U);
    file_ = files_->make_temporary(folder_.path(), bytes);
    file_->write_at(bytes_, 0);
  }
  static std::size_t requests_of(const StorageCase& c) {
    return PartTable(0, {c.size}, false).chunks(c.chunk_bytes()).size();
  }
  [[nodiscard]] StorageCase case_with(std::size_t threads, std::size_t request) const {
    StorageCase c;
    c.size = bytes_.size();
    c.way = StorageWay::cufile;
    c.request = request;
    c.threads = threads;
    return c;
  }
  /// Starts the process; `timeout` in seconds.
  std::unique_ptr<CufileProcess> started(double timeout = 60, std::size_t threads = 2) {
    if (!file_) make_file(300'001);
    return std::make_unique<CufileProcess>(case_with(threads, 64 << 10), file_->descriptor(), 0,
                                           CufileSetting{XFERBENCH_CUFILE_CHILD, timeout});
  }
  /// Loads into filled memory and returns what is then there.
  std::vector<std::byte> loaded(CufileProcess& process) {
    process.fill(std::byte{0xA5});
    const auto begun = std::chrono::steady_clock::now();
    times_ = process.load();
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    std::vector<std::byte> found(bytes_.size());
    process.fetch(found, 0);
    return found;
  }
  /// Why a whole load is not possible.
  std::string reason(const char* how, double timeout = 60) {
    misbehave(how);
    try {
      const auto process = started(timeout);
      static_cast<void>(loaded(*process));
    } catch (const UnavailableError& error) {
      return error.what();
    }
    return "no error";
  }

  const TemporaryFolder folder_;
  std::unique_ptr<Files> files_ = make_real_files();
  std::unique_ptr<DataFile> file_;
  std::vector<std::byte> bytes_;
  WorkTimes times_;
  double seconds_ = 0;  // that the load took here
};

TEST_F(CufileTest, LoadsEveryByte) {
  for (const std::size_t size : {1UL, 4095UL, 1'000'001UL, 70'000'001UL}) {
    make_file(size);
    for (const std::size_t threads : {1U, 3U}) {
      const auto process = started(60, threads);
      EXPECT_TRUE(loaded(*process) == bytes_) << size << " " << threads;
      EXPECT_GT(times_.moving, 0);
      EXPECT_GT(times_.cpu, 0);
      EXPECT_GT(times_.first, 0);
      EXPECT_LE(times_.first, seconds_);
      EXPECT_TRUE(process->device_bytes()) << "/proc/self/io";
      EXPECT_EQ(process->paths()->posix, requests_of(case_with(threads, 64 << 10)));
      EXPECT_EQ(process->paths()->nvfs + process->paths()->p2p, 0U);
      EXPECT_EQ(folder_.count(), 0) << "the name that cuFile needs for a moment is gone";
    }
  }
}

TEST_F(CufileTest, GoesOnAfterShortReadsAndDoesNotHideWrongBytes) {
  misbehave("short");
  EXPECT_TRUE(loaded(*started()) == bytes_);
  misbehave("wrong");
  EXPECT_FALSE(loaded(*started()) == bytes_);
}

TEST_F(CufileTest, TheCheckOfTheScenarioFindsAWrongByte) {
  StorageCase c = case_with(2, 64 << 10);
  c.path = folder_.path();
  c.size = 70'000'001;
  StoredFile stored(*files_, c, 7, true);
  const auto file = stored.open_again(FileRoute::cached);
  for (const char* how : {"", "wrong"}) {
    misbehave(how);
    CufileProcess process(c, file->descriptor(), 0, CufileSetting{XFERBENCH_CUFILE_CHILD});
    process.load();
    const auto check = [&] {
      stored.check(
          0, stored.size(), [&](std::span<std::byte> to, std::uint64_t offset) { process.fetch(to, offset); },
          "the file");
    };
    if (*how == '\0') {
      EXPECT_NO_THROW(check());
    } else {
      EXPECT_THROW(check(), VerificationError);
    }
  }
}

TEST_F(CufileTest, AnErrorIsToldWithItsMeaning) {
  EXPECT_THAT(reason("driver=5001"), HasSubstr("cuFileDriverOpen failed with error 5001: the kernel module nvidia-fs"));
  EXPECT_THAT(reason("file=5027"), HasSubstr("in a container mount /run/udev"));
  EXPECT_THAT(reason("file=5999"), HasSubstr("cuFileHandleRegister failed with error 5999; for cuFile's own log"));
  EXPECT_THAT(reason("read=5011"), HasSubstr("cuFileRead of 65536 bytes at offset"));
  EXPECT_THAT(reason("read=1"), HasSubstr("cuFileRead of 65536 bytes at offset"));
  setenv("FAKE_CUFILE_LIBRARY", "libcufile-that-is-missing.so", 1);
  EXPECT_THAT(reason(""), HasSubstr("cuFile cannot be loaded (libcufile-that-is-missing.so"));
}

TEST_F(CufileTest, AFileThatBecameShorterIsToldAndTheProcessServesOn) {
  const std::string path = folder_ / "data";
  write_file(path, std::string(300'000, 'x'));
  file_ = files_->open(path, FileRoute::cached);
  bytes_.resize(300'000);
  const auto process = started();
  fs::resize_file(path, 1000);
  EXPECT_THROW(process->load(), UnavailableError);
  fs::resize_file(path, 300'000);
  EXPECT_NO_THROW(process->load());
}

TEST_F(CufileTest, WhatHangsIsKilledAndSaysSo) {
  make_file(1000);
  EXPECT_THAT(reason("hang", 3), HasSubstr("the process of cuFile took longer than 3 s to load the file"));
}

TEST_F(CufileTest, AnEndIsToldAndEveryLaterCallSaysTheSame) {
  misbehave("crash");
  const auto process = started();
  for (int i = 0; i < 2; ++i) {
    try {
      process->load();
      FAIL();
    } catch (const UnavailableError& error) {
      EXPECT_THAT(error.what(), HasSubstr("the process of cuFile was killed by signal 11 (Segmentation fault) when it "
                                          "was to load the file"));
    }
  }
  EXPECT_THROW(CufileProcess(case_with(1, 4096), file_->descriptor(), 0, CufileSetting{"/bin/true"}), UnavailableError);
}

TEST_F(CufileTest, ClosedStandardInputAndLogsDoNoHarm) {
  const fs::path before = fs::current_path();
  const OnExit back([&] { fs::current_path(before); });
  fs::current_path(folder_.path());
  misbehave("stdin log");
  EXPECT_TRUE(loaded(*started()) == bytes_);
  EXPECT_EQ(folder_.count(), 0) << "no cufile.log";
}

/// Whether a process still runs; one that has ended may wait for its parent.
bool still_runs(const std::string& id) {
  const std::string facts = read_file("/proc/" + id + "/stat");
  const std::size_t name = facts.rfind(") ");
  return name != std::string::npos && facts[name + 2] != 'Z';
}

TEST_F(CufileTest, NothingRemainsWhenTheParentIsKilledInTheMiddleOfARead) {
  const std::string id_file = folder_ / "id";
  setenv("FAKE_CUFILE_ID", id_file.c_str(), 1);
  misbehave("hang");
  make_file(1000);
  const pid_t parent = fork();
  if (parent == 0) {
    started()->load();
    _exit(1);
  }
  const auto eventually = [](const auto& holds) {
    for (int i = 0; i < 3000 && !holds(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return holds();
  };
  EXPECT_TRUE(eventually([&] { return fs::exists(id_file); }));
  const std::string child = read_file(id_file);
  EXPECT_TRUE(still_runs(child));
  kill(parent, SIGKILL);
  EXPECT_EQ(waitpid(parent, nullptr, 0), parent);
  EXPECT_TRUE(eventually([&] { return !still_runs(child); })) << child;
}

TEST_F(CufileTest, OnlyCountsProveThePath) {
  const auto path_of = [this](const char* how) {
    misbehave(how);
    const auto process = started(60, 1);
    static_cast<void>(loaded(*process));
    return cufile_path_text(process->paths());
  };
  EXPECT_EQ(path_of(""), "POSIX reads and copies (compatibility mode)");
  EXPECT_EQ(path_of("nvfs"), "GPUDirect Storage (nvidia-fs)");
  EXPECT_EQ(path_of("p2p"), "GPUDirect (P2PDMA)");
  EXPECT_EQ(path_of("nvfs p2p"),
            "GPUDirect Storage (nvidia-fs) for 40.0 % of reads, GPUDirect (P2PDMA) for 60.0 % of "
            "reads");
  EXPECT_EQ(path_of("nvfs odd"), "not proved") << "the structure is another one";
  EXPECT_THAT(cufile_path_doubt(CufilePaths{.posix = 3}), HasSubstr("not GPUDirect Storage"));
  EXPECT_THAT(cufile_path_doubt(std::nullopt), HasSubstr("does not tell which path"));
  EXPECT_EQ(cufile_path_doubt(CufilePaths{.nvfs = 3, .posix = 1}), "");
}

TEST_F(CufileTest, TheHiddenCommandIsForTheProgramItself) {
  const auto parsed = [](const std::vector<std::string>& words) { return cli::parse(words, scenarios()); };
  EXPECT_EQ(std::get<cli::CufileCommand>(parsed({kCufileArgument, "3"})).gpu, 3);
  EXPECT_THROW(parsed({kCufileArgument, "x"}), UsageError);
}

}  // namespace

}  // namespace xferbench::test
