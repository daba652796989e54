// Output files: an unwritable path is refused before the run, and a file is never half written.
#include "results/output_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/error.hpp"
#include "support/file_size_limit.hpp"
#include "unit/support.hpp"

namespace xferbench {
namespace {

namespace fs = std::filesystem;
using test::mentions;
using test::message_of;
using test::read_file;
using test::write_file;

std::string refusal(const fs::path& path) {
  return message_of<OutputError>([&] { ResultsFile{path.string()}; });
}

TextWriter of(std::string text) {
  return [text = std::move(text)](const Sink& sink) { sink(text); };
}

/// A new folder for each test, writable for all users.
class Output : public testing::Test {
 protected:
  void SetUp() override { fs::permissions(folder_.path(), fs::perms::all); }

  [[nodiscard]] fs::path file(const std::string& name = "results.json") const { return folder_ / name; }
  [[nodiscard]] std::ptrdiff_t files() const { return folder_.count(); }

 private:
  test::TemporaryFolder folder_;
};

/// Drops root to an unprivileged user while this object lives: root would pass every permission check.
class AsNobody {
 public:
  AsNobody() : root_(getuid() == 0), ok_(!root_ || setresuid(kNobody, kNobody, 0) == 0) {}
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
  ~AsNobody() {
    if (root_ && ok_ && setresuid(0, 0, 0) != 0) std::abort();
  }
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  static constexpr uid_t kNobody = 65534;
  bool root_;
  bool ok_;
};

// --- Before the run -------------------------------------------------------------------------------------------------

TEST_F(Output, RefusesWhereNoFileCanBe) {
  EXPECT_TRUE(mentions(refusal(file().parent_path()), "Is a directory"));
  EXPECT_TRUE(mentions(refusal(file("missing") / "results.json"), "there is no folder " + file("missing").string()));
  EXPECT_EQ(files(), 0);
  write_file(file("plain"), "");
  EXPECT_TRUE(mentions(refusal(file("plain") / "results.json"), "Not a directory"));
}

TEST_F(Output, RefusesAFileInAFolderThatTakesNone) {
  fs::create_directory(file("closed"));
  fs::permissions(file("closed"), fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_exec);
  const AsNobody nobody;
  if (!nobody.ok()) GTEST_SKIP() << "cannot give up the rights of root here";
  EXPECT_TRUE(mentions(refusal(file("closed") / "results.json"), "Permission denied"));
}

TEST_F(Output, RefusesAWriteProtectedFileThatCouldBeRenamedOver) {
  write_file(file(), "precious");
  fs::permissions(file(), fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
  {
    const AsNobody nobody;
    if (!nobody.ok()) GTEST_SKIP() << "cannot give up the rights of root here";
    EXPECT_TRUE(mentions(refusal(file()), "Permission denied"));
  }
  EXPECT_EQ(read_file(file()), "precious");
  EXPECT_EQ(files(), 1);
}

TEST_F(Output, ChangesNothingUntilThereAreResults) {
  const ResultsFile absent(file("absent").string());
  EXPECT_EQ(files(), 0);
  write_file(file(), "earlier results");
  ResultsFile results(file().string());
  EXPECT_EQ(read_file(file()), "earlier results");
  EXPECT_EQ(files(), 1);
}

// --- While running --------------------------------------------------------------------------------------------------

TEST_F(Output, HoldsTheLatestStateAndNothingElse) {
  ResultsFile results(file().string());
  results.update(of("a first state that is rather long"));
  EXPECT_EQ(read_file(file()), "a first state that is rather long");
  results.update(of("second"));
  EXPECT_EQ(read_file(file()), "second");
  results.finish("last\n");
  EXPECT_EQ(read_file(file()), "last\n");
  EXPECT_EQ(files(), 1) << "nothing is left beside it";
}

TEST_F(Output, ReplacesAFileWithoutEverChangingTheOldOne) {
  write_file(file(), "earlier results");
  std::ifstream reader(file(), std::ios::binary);  // a reader opened the old file
  ResultsFile results(file().string());
  results.finish("new");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(reader), {}), "earlier results");
  EXPECT_EQ(read_file(file()), "new");
}

TEST_F(Output, KeepsTheLastStateWhenTheNextCannotBeWritten) {
  ResultsFile results(file().string());
  results.update(of("good state"));
  std::string message;
  {
    const test::FileSizeLimit limit(1000);
    message = message_of<OutputError>([&] { results.update(of(std::string(100'000, 'x'))); });
  }
  EXPECT_TRUE(mentions(message, "cannot write"));
  EXPECT_EQ(read_file(file()), "good state");
  EXPECT_EQ(files(), 1) << "nothing is left beside it";
}

TEST_F(Output, FollowsALinkToTheFileItNames) {
  fs::create_directory(file("elsewhere"));
  const fs::path target = file("elsewhere") / "target.json";
  write_file(target, "earlier results");
  fs::create_symlink(target, file());
  ResultsFile results(file().string());
  EXPECT_EQ(read_file(target), "earlier results");
  results.finish("new");
  EXPECT_TRUE(fs::is_symlink(file()));
  EXPECT_EQ(read_file(target), "new");
}

TEST_F(Output, KeepsBytesAsTheyAreInHoweverManyPiecesTheyCome) {
  const std::string bytes("a\r\n\0b\xFF\n", 7);
  ResultsFile(file().string()).finish([&](const Sink& sink) {
    for (const char byte : bytes) sink({&byte, 1});
  });
  EXPECT_EQ(read_file(file()), bytes);
}

// --- Previous files ------------------------------------------------------------------------------------------------

TEST_F(Output, KeepsThePreviousFileOnceAndOnlyWhereItIsTold) {
  write_file(file(), "earlier results");
  {
    ResultsFile results(file().string(), Previous::kept);
    EXPECT_TRUE(results.exists());
    EXPECT_EQ(files(), 1) << "until there is something to put in its place";
    results.update(of("first"));
    results.update(of("second"));
  }
  EXPECT_EQ(read_file(file("results.json~")), "earlier results");
  EXPECT_EQ(read_file(file()), "second");
  ResultsFile(file().string()).finish("third");
  EXPECT_EQ(read_file(file("results.json~")), "earlier results");
  EXPECT_EQ(files(), 2);
}

TEST_F(Output, KeepsThePreviousFileInThePlaceOfAnOlderOneAndNotThroughALink) {
  write_file(file("somebody's"), "somebody's");
  fs::create_symlink(file("somebody's"), file("results.json~"));
  write_file(file(), "earlier results");
  ResultsFile(file().string(), Previous::kept).finish("new");
  EXPECT_EQ(read_file(file("somebody's")), "somebody's");
  EXPECT_FALSE(fs::is_symlink(file("results.json~")));
  EXPECT_EQ(read_file(file("results.json~")), "earlier results");
}

TEST_F(Output, GoesOnWhereAProcessWasKilledWhileItKeptThePreviousFile) {
  write_file(file(), "earlier results");
  fs::create_hard_link(file(), file("results.json~"));
  ResultsFile(file().string(), Previous::kept).finish("new");
  EXPECT_EQ(read_file(file()), "new");
  EXPECT_EQ(read_file(file("results.json~")), "earlier results");
  EXPECT_EQ(files(), 2);
}

TEST_F(Output, RefusesToPartHardLinks) {
  write_file(file(), "one file of two names");
  fs::create_hard_link(file(), file("other"));
  EXPECT_TRUE(mentions(refusal(file()), "hard links"));
}

TEST_F(Output, RefusesToTakeAFileFromItsOwner) {
  if (getuid() != 0) GTEST_SKIP() << "only root can have a file of somebody else here";
  write_file(file(), "root's");
  fs::permissions(file(), fs::perms::all);
  const AsNobody nobody;
  if (!nobody.ok()) GTEST_SKIP() << "cannot give up the rights of root here";
  EXPECT_TRUE(mentions(refusal(file()), "another user"));
}

TEST_F(Output, LeavesOwnerAndPermissionsButNoRightToActAsTheOwner) {
  write_file(file(), "earlier results");
  fs::permissions(file(), fs::perms::owner_all | fs::perms::group_read | fs::perms::set_uid);
  constexpr uid_t kSomebody = 4711;
  const bool is_root = getuid() == 0;
  if (is_root) {
    ASSERT_EQ(chown(file().c_str(), kSomebody, kSomebody), 0);
    fs::permissions(file(), fs::perms::owner_all | fs::perms::group_read | fs::perms::set_uid);
  }
  ResultsFile(file().string()).finish("new");
  struct stat status {};
  ASSERT_EQ(stat(file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0740U);
  if (is_root) {
    EXPECT_EQ(status.st_uid, kSomebody);
  }
}

TEST_F(Output, FollowsALinkThatLeadsToNothingYet) {
  fs::create_symlink("target.json", file());
  ResultsFile(file().string()).finish("new");
  EXPECT_TRUE(fs::is_symlink(file()));
  EXPECT_EQ(read_file(file("target.json")), "new");
}

TEST_F(Output, RefusesLinksThatLeadInACircle) {
  fs::create_symlink(file("b"), file("a"));
  fs::create_symlink(file("a"), file("b"));
  EXPECT_TRUE(mentions(refusal(file("a")), "symbolic links"));
}

// Regression: the temporary file had a predictable name, so anyone with write access to the folder could plant a link
// there.
TEST_F(Output, TouchesNoFileOfANameThatATemporaryOneMightHave) {
  write_file(file("somebody's"), "somebody's");
  for (const char* name : {"results.json.partial", "results.json.tmp", ".results.json", "results.json.new"}) {
    fs::create_symlink(file("somebody's"), file(name));
  }
  ResultsFile results(file().string());
  results.update(of("state"));
  results.finish("new");
  EXPECT_EQ(read_file(file("somebody's")), "somebody's");
  EXPECT_TRUE(fs::is_symlink(file("results.json.partial")));
}

// --- The lock -------------------------------------------------------------------------------------------------------

TEST_F(Output, IsWrittenByOneOnlyFromTheFirstStateOn) {
  write_file(file(), "earlier results");
  ResultsFile first(file().string());
  EXPECT_TRUE(mentions(refusal(file()), "another xferbench is writing it"));
  first.update(of("state"));
  EXPECT_TRUE(mentions(refusal(file()), "another xferbench is writing it")) << "the new file is locked, too";
}

TEST_F(Output, OfTwoThatWouldMakeTheFileOnlyOneDoes) {
  ResultsFile first(file().string());
  ResultsFile second(file().string());
  first.update(of("first"));
  EXPECT_TRUE(mentions(message_of<OutputError>([&] { second.update(of("second")); }), "just created it"));
  EXPECT_EQ(read_file(file()), "first");
  EXPECT_EQ(files(), 1);
}

TEST_F(Output, IsFreeAgainWhenItsWriterIsGone) {
  { ResultsFile(file().string()).finish("first"); }
  ResultsFile(file().string()).finish("second");
  EXPECT_EQ(read_file(file()), "second");
}

TEST_F(Output, IsSetAsideUnderItsOtherName) {
  write_file(file(), "earlier results");
  set_aside(file().string());
  EXPECT_FALSE(fs::exists(file()));
  EXPECT_EQ(read_file(file("results.json~")), "earlier results");
  set_aside(file().string());
  EXPECT_EQ(files(), 1) << "where there is none, nothing is done";
}

// --- Devices and pipes ----------------------------------------------------------------------------------------------

TEST_F(Output, ThatCannotBeReplacedIsWrittenOnceAtTheEnd) {
  ResultsFile full("/dev/full");
  EXPECT_NO_THROW(full.update(of("a state"))) << "nothing is written yet";
  EXPECT_TRUE(mentions(message_of<OutputError>([&] { full.finish("results"); }), "No space left on device"));
  EXPECT_TRUE(fs::is_character_file("/dev/full")) << "not renamed over";
}

TEST_F(Output, OfADashAndOfDevStdoutIsStandardOutput) {
  for (const char* name : {"-", "/dev/stdout"}) {
    testing::internal::CaptureStdout();
    ResultsFile results(name);
    EXPECT_TRUE(results.is_standard_output()) << name;
    results.update(of("a state"));
    results.finish("results\n");
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "results\n") << name;
  }
  EXPECT_FALSE(fs::exists("-"));
  EXPECT_FALSE(ResultsFile(file().string()).is_standard_output());
}

}  // namespace
}  // namespace xferbench
