// The comparison with golden files can fail: otherwise every golden test would pass.
#include "support/golden.hpp"

#include "unit/support.hpp"

namespace xferbench::test {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(XFERBENCH_SOURCE_DIR) / "tests/unit/golden";

TEST(Golden, IsComparedWhole) {
  EXPECT_TRUE(is_text_of(kFolder / "golden.txt", "one\ntwo\n"));
  expect_golden("golden.txt", "one\ntwo\n");
}

TEST(Golden, SaysWhichLineDiffersFirst) {
  const auto difference = [](const char* text) {
    return std::string(is_text_of(kFolder / "golden.txt", text).message());
  };
  EXPECT_TRUE(mentions(difference("one\n2\n3\n"), "in line 2\n  expected: \"two\\n\"\n  found:    \"2\\n\"\n"));
  EXPECT_TRUE(mentions(difference("one\n"), "in line 2\n  expected: \"two\\n\"\n  found:    (the text has ended)\n"));
  EXPECT_TRUE(mentions(difference("one\ntwo\nthree\n"), "in line 3\n  expected: (the text has ended)\n  found: "));
  EXPECT_TRUE(mentions(difference("one\ntwo"), "in line 2\n  expected: \"two\\n\"\n  found:    \"two\"\n"));
}

TEST(Golden, ThatIsMissingIsADifference) {
  EXPECT_TRUE(mentions(is_text_of(kFolder / "missing.txt", "").message(), "does not exist"));
}

}  // namespace
}  // namespace xferbench::test
