// Where results go: refused before the run where nothing can be written, and never half written.
#include "results/output_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "core/error.hpp"
#include "unit/support.hpp"

namespace xferbench {
namespace {

namespace fs = std::filesystem;
using test::mentions;
using test::message_of;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

std::string refusal(const fs::path& path) {
  return message_of<OutputError>([&] { ResultsFile{path.string()}; });
}

/// Writes that text.
TextWriter of(std::string text) {
  return [text = std::move(text)](const Sink& sink) { sink(text); };
}

/// A folder of its own for each test, which anyone may write to.
class Output : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "xferbench-output-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    fs::permissions(folder_, fs::perms::all);
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] fs::path file(const std::string& name = "results.json") const { return folder_ / name; }
  [[nodiscard]] std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }

 private:
  fs::path folder_;
};

/// Root may write anywhere, so a test of permissions becomes someone else for a while.
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

/// No file may grow beyond `bytes`: the nearest thing to a full disk that a test can have.
class FilesLimitedTo {
 public:
  explicit FilesLimitedTo(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  FilesLimitedTo(const FilesLimitedTo&) = delete;
  FilesLimitedTo& operator=(const FilesLimitedTo&) = delete;
  ~FilesLimitedTo() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

// --- Before the run -------------------------------------------------------------------------------------------------

TEST_F(Output, RefusesWhereNoFileCanBe) {
  EXPECT_TRUE(mentions(refusal(file().parent_path()), "Is a directory"));
  EXPECT_TRUE(mentions(refusal(file("missing") / "results.json"), "there is no folder " + file("missing").string()));
  EXPECT_EQ(files(), 0);
  write(file("plain"), "");
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
  write(file(), "precious");
  fs::permissions(file(), fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
  {
    const AsNobody nobody;
    if (!nobody.ok()) GTEST_SKIP() << "cannot give up the rights of root here";
    EXPECT_TRUE(mentions(refusal(file()), "Permission denied"));
  }
  EXPECT_EQ(read(file()), "precious");
  EXPECT_EQ(files(), 1);
}

TEST_F(Output, ChangesNothingUntilThereAreResults) {
  const ResultsFile absent(file("absent").string());
  EXPECT_EQ(files(), 0);
  write(file(), "earlier results");
  const ResultsFile results(file().string());
  EXPECT_EQ(read(file()), "earlier results");
  EXPECT_EQ(files(), 1);
}

// --- While running --------------------------------------------------------------------------------------------------

TEST_F(Output, HoldsTheLatestStateAndNothingElse) {
  const ResultsFile results(file().string());
  results.update(of("a first state that is rather long"));
  EXPECT_EQ(read(file()), "a first state that is rather long");
  results.update(of("second"));
  EXPECT_EQ(read(file()), "second");
  results.finish("last\n");
  EXPECT_EQ(read(file()), "last\n");
  EXPECT_EQ(files(), 1) << "no .partial is left";
}

TEST_F(Output, ReplacesAFileWithoutEverChangingTheOldOne) {
  write(file(), "earlier results");
  std::ifstream reader(file(), std::ios::binary);  // someone who has it open
  const ResultsFile results(file().string());
  results.finish("new");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(reader), {}), "earlier results");
  EXPECT_EQ(read(file()), "new");
}

TEST_F(Output, KeepsTheLastStateWhenTheNextCannotBeWritten) {
  const ResultsFile results(file().string());
  results.update(of("good state"));
  std::string message;
  {
    const FilesLimitedTo limit(1000);
    message = message_of<OutputError>([&] { results.update(of(std::string(100'000, 'x'))); });
  }
  EXPECT_TRUE(mentions(message, "cannot write"));
  EXPECT_EQ(read(file()), "good state");
  EXPECT_EQ(files(), 1) << "no .partial is left";
}

TEST_F(Output, FollowsALinkToTheFileItNames) {
  fs::create_directory(file("elsewhere"));
  const fs::path target = file("elsewhere") / "target.json";
  write(target, "earlier results");
  fs::create_symlink(target, file());
  const ResultsFile results(file().string());
  EXPECT_EQ(read(target), "earlier results");
  results.finish("new");
  EXPECT_TRUE(fs::is_symlink(file()));
  EXPECT_EQ(read(target), "new");
}

TEST_F(Output, KeepsBytesAsTheyAreInHoweverManyPiecesTheyCome) {
  const std::string bytes("a\r\n\0b\xFF\n", 7);
  ResultsFile(file().string()).finish([&](const Sink& sink) {
    for (const char byte : bytes) sink({&byte, 1});
  });
  EXPECT_EQ(read(file()), bytes);
}

// --- What is no ordinary file ---------------------------------------------------------------------------------------

TEST_F(Output, ThatCannotBeReplacedIsWrittenOnceAtTheEnd) {
  const ResultsFile full("/dev/full");
  EXPECT_NO_THROW(full.update(of("a state"))) << "nothing is written yet";
  EXPECT_TRUE(mentions(message_of<OutputError>([&] { full.finish("results"); }), "No space left on device"));
  EXPECT_TRUE(fs::is_character_file("/dev/full")) << "not renamed over";
}

TEST_F(Output, OfADashAndOfDevStdoutIsStandardOutput) {
  for (const char* name : {"-", "/dev/stdout"}) {
    testing::internal::CaptureStdout();
    const ResultsFile results(name);
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
