// Loading the MPI plug-in, and errors of MPI, with a fake plug-in whose behaviour each test sets.
#include "ranks/mpi_plugin.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "app/fleet/rank_session.hpp"
#include "core/error.hpp"
#include "mpi/table.h"
#include "ranks/gpu_probe.hpp"
#include "ranks/timed_collectives.hpp"
#include "support/files.hpp"
#include "tests/support/fake_mpi_plugin.h"

namespace xferbench {
namespace {

const Timeout kFakeTimeout{.seconds = 0.02};

/// Sets XFERBENCH_MPI to the fake plug-in and restores it afterwards.
class MpiPlugin : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* given = std::getenv("XFERBENCH_MPI")) before_ = given;
    name(XFERBENCH_FAKE_MPI_PLUGIN);
    library_ = dlopen(XFERBENCH_FAKE_MPI_PLUGIN, RTLD_NOW);
    ASSERT_NE(library_, nullptr) << dlerror();
    fake_ = static_cast<xferbench_fake_mpi*>(dlsym(library_, "xferbench_fake_mpi_behaviour"));
    ASSERT_NE(fake_, nullptr);
    *fake_ = {.version = XFERBENCH_MPI_VERSION,
              .initialise = 0,
              .begin = 0,
              .test = 0,
              .endless = 0,
              .finalised = 0,
              .operations = 0};
  }
  void TearDown() override {
    before_ ? name(before_->c_str()) : static_cast<void>(unsetenv("XFERBENCH_MPI"));
    if (library_ != nullptr) dlclose(library_);
  }
  static void name(const char* file) { setenv("XFERBENCH_MPI", file, 1); }
  static std::string refusal() {
    try {
      static_cast<void>(start_mpi());
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }

  xferbench_fake_mpi* fake_ = nullptr;

 private:
  std::optional<std::string> before_;
  void* library_ = nullptr;
};

TEST_F(MpiPlugin, IsMissing) {
  name("/nowhere/libxferbench-mpi.so");
  EXPECT_NE(refusal().find("/nowhere/libxferbench-mpi.so"), std::string::npos) << refusal();
}

TEST_F(MpiPlugin, IsNoLibrary) {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder / "no-library";
  test::write_file(file, "text\n");
  name(file.c_str());
  EXPECT_NE(refusal().find(file.string()), std::string::npos) << refusal();
}

TEST_F(MpiPlugin, IsALibraryOfSomethingElse) {
  Dl_info of_c{};
  ASSERT_NE(dladdr(reinterpret_cast<void*>(&std::getenv), &of_c), 0);
  name(of_c.dli_fname);
  EXPECT_NE(refusal().find(XFERBENCH_MPI_ENTRY), std::string::npos) << refusal();
}

TEST_F(MpiPlugin, IsOfAnotherVersion) {
  fake_->version = XFERBENCH_MPI_VERSION + 1;
  EXPECT_NE(refusal().find("version"), std::string::npos) << refusal();
}

TEST_F(MpiPlugin, StartsAndEnds) {
  {
    const std::unique_ptr<Communicator> ranks = start_mpi();
    EXPECT_EQ(ranks->size(), 1);
    EXPECT_EQ(ranks->library(), "Fake MPI 1");
    barrier(*ranks, kFakeTimeout, "all");
    EXPECT_EQ(fake_->finalised, 0);
  }
  EXPECT_EQ(fake_->finalised, 1);
  EXPECT_EQ(fake_->operations, 0);
}

TEST_F(MpiPlugin, DoesNotStart) {
  fake_->initialise = 17;
  try {
    static_cast<void>(start_mpi());
    FAIL() << "it started";
  } catch (const CommunicationError& error) {
    EXPECT_NE(std::string(error.what()).find("error number 17"), std::string::npos) << error.what();
  }
}

TEST_F(MpiPlugin, ErrorsAreInItsWords) {
  const std::unique_ptr<Communicator> ranks = start_mpi();
  const auto error_of_barrier = [&]() -> std::string {
    try {
      barrier(*ranks, kFakeTimeout, "all");
    } catch (const CommunicationError& error) {
      return error.what();
    }
    return "";
  };
  fake_->begin = 5;
  EXPECT_NE(error_of_barrier().find("error number 5"), std::string::npos) << error_of_barrier();
  fake_->begin = 0;
  fake_->test = 6;
  EXPECT_NE(error_of_barrier().find("error number 6"), std::string::npos) << error_of_barrier();
  EXPECT_EQ(fake_->operations, 0);
}

TEST_F(MpiPlugin, IsNotEndedWhereAnOperationWasGivenUp) {
  {
    const std::unique_ptr<Communicator> ranks = start_mpi();
    fake_->endless = 1;
    EXPECT_THROW(barrier(*ranks, kFakeTimeout, "all"), RankTimeoutError);
    fake_->endless = 0;
  }
  EXPECT_EQ(fake_->finalised, 0);
}

TEST_F(MpiPlugin, IsNotEndedOnTheWayOfAnException) {
  const auto fail = [] {
    const std::unique_ptr<Communicator> ranks = start_mpi();
    throw UsageError("something else");
  };
  EXPECT_THROW(fail(), UsageError);
  EXPECT_EQ(fake_->finalised, 0);
}

TEST_F(MpiPlugin, IsEndedWhereRanksAreRefused) {
  cli::RunCommand command;
  command.measuring.device.simulate = "h200";
  {
    const app::RankSession session = app::join_fleet(command, {.launcher = "Slurm", .rank = 3, .size = 4});
    EXPECT_EQ(session.refusal, static_cast<int>(ExitCode::usage)) << "MPI knows of one rank";
  }
  EXPECT_EQ(fake_->finalised, 1);
}

// --- Whether MPI accepts GPU memory ---------------------------------------------------------------------------------

TEST(GpuProbe, TellsAFailureFromAGpuThatNoSecondProcessCanUse) {
  const auto exited = [](int code) { return code << 8; };  // as waitpid() reports it
  EXPECT_EQ(probe_result(exited(0), ""), "");
  EXPECT_EQ(probe_result(exited(1), "received byte 7 is wrong"), "received byte 7 is wrong");
  EXPECT_EQ(probe_result(exited(1), ""), "the process that tested it ended with exit code 1");
  EXPECT_EQ(probe_result(SIGSEGV, ""), "the process that tested it was killed by signal 11");
  EXPECT_TRUE(probe_result(exited(3), "").starts_with("not tested, because a second process cannot use the GPU"));
}

}  // namespace
}  // namespace xferbench
