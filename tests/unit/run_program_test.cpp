// Running another program: its arguments and environment, its exit code or signal.
#include "app/explain/run_program.hpp"

#include <csignal>
#include <filesystem>

#include "app/explain/temporary_folder.hpp"
#include "core/error.hpp"
#include "unit/support.hpp"

namespace xferbench::app {
namespace {

ProgramEnd shell(const std::string& script, const Variables& variables = {}) {
  return run_program({"/bin/sh", "-c", script}, variables);
}

TEST(RunProgram, KnowsHowItEnded) {
  EXPECT_EQ(shell("exit 7").exit_code, 7);
  EXPECT_EQ(shell("exit 7").code(), 7);
  const ProgramEnd killed = shell("kill -SEGV $$");
  EXPECT_EQ(killed.signal, SIGSEGV);
  EXPECT_EQ(killed.code(), 128 + SIGSEGV);
}

TEST(RunProgram, TakesItsTime) {
  const ProgramEnd end = shell("sleep 0.1");
  EXPECT_GE(end.seconds(), 0.1);
  EXPECT_LT(end.seconds(), 5);
  EXPECT_GT(end.pid, 0);
}

TEST(RunProgram, GivesItTheVariablesAndTheWordsAsTheyAre) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "said").string();
  const ProgramEnd end = run_program(
      {"/bin/sh", "-c", R"(printf '%s|%s|%s' "$1" "$2" "$MADE_UP" > "$3")", "sh", "--json", "a  b\n$HOME", file},
      {{"MADE_UP", "x y"}});
  EXPECT_EQ(end.code(), 0);
  EXPECT_EQ(test::read_file(file), "--json|a  b\n$HOME|x y");
  EXPECT_EQ(std::getenv("MADE_UP"), nullptr) << "the variables are the program's alone";
}

TEST(RunProgram, LooksForItWhereAShellDoes) {
  EXPECT_EQ(run_program({"true"}, {}).code(), 0);
  const auto said = [](const std::string& program) {
    return test::message_of<UsageError>([&] { run_program({program}, {}); });
  };
  EXPECT_EQ(said("./not-here"), "cannot run ./not-here: No such file or directory");
  EXPECT_EQ(said("/tmp"), "cannot run /tmp: Permission denied");
  EXPECT_TRUE(test::mentions(said("no-program-has-this-name"), "No such file or directory"));
}

TEST(RunProgram, WithDefaultSignalsWhateverThisProcessMadeOfThem) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  const ProgramEnd end = shell("kill -PIPE $$; exit 0");
  std::signal(SIGPIPE, before);
  EXPECT_EQ(end.signal, SIGPIPE);
}

TEST(RunProgram, IsNotGivenUpByASignalThatNobodySent) {
  const ProgramEnd end = shell("exit 3");
  EXPECT_EQ(end.interrupted, 0);
  EXPECT_EQ(end.given_up(), 0);
}

TEST(RunProgram, PassesOnWhatAsksThisProcessToEnd) {
  const ProgramEnd end = shell("trap 'exit 9' TERM; kill -TERM $PPID; while :; do sleep 0.01; done");
  EXPECT_EQ(end.code(), 9);
  EXPECT_EQ(end.interrupted, SIGTERM);
  EXPECT_EQ(end.given_up(), SIGTERM);
}

TEST(RunProgram, IsNotGivenUpWhereItGoesOnToAnEndInOrder) {
  const ProgramEnd end = shell("trap '' INT; kill -INT $PPID; exit 0");
  EXPECT_EQ(end.interrupted, SIGINT) << "and this process was not ended by it";
  EXPECT_EQ(end.given_up(), 0);
}

TEST(TemporaryFolder, IsThereForAWhileAndNobodyElses) {
  std::filesystem::path path;
  {
    const TemporaryFolder folder;
    path = folder.path();
    EXPECT_TRUE(path.is_absolute());
    EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms::owner_all);
    test::write_file(path / "x", "y");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace xferbench::app
