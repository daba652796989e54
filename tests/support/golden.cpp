#include "support/golden.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

namespace xferbench::test {

namespace {

namespace fs = std::filesystem;

/// Splits into lines with their ends, so that a missing final line feed is a difference too.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return lines;
}

/// The line as a C++ literal, which shows blanks at its end, escapes and a missing line feed.
std::string shown(const std::vector<std::string>& lines, std::size_t i) {
  return i < lines.size() ? testing::PrintToString(lines[i]) : "(the text has ended)";
}

void write(const fs::path& file, std::string_view text) {
  fs::create_directories(file.parent_path());
  std::ofstream out(file, std::ios::binary);
  out << text;
  EXPECT_TRUE(out.flush().good()) << "cannot write " << file;
}

}  // namespace

testing::AssertionResult is_text_of(const fs::path& file, std::string_view text) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return testing::AssertionFailure() << file << " does not exist";
  const std::string expected{std::istreambuf_iterator<char>(in), {}};
  if (text == expected) return testing::AssertionSuccess();
  const std::vector<std::string> wanted = lines_of(expected);
  const std::vector<std::string> found = lines_of(text);
  const auto first = static_cast<std::size_t>(std::ranges::mismatch(wanted, found).in1 - wanted.begin());
  return testing::AssertionFailure() << "differs from " << file << " in line " << first + 1
                                     << "\n  expected: " << shown(wanted, first)
                                     << "\n  found:    " << shown(found, first) << "\nall that was found:\n"
                                     << text;
}

void expect_golden(const std::string& name, std::string_view text, const char* test_source, int line) {
  // Only the folder's name is taken from the source path, which builds may shorten.
  const fs::path folder = fs::path(test_source).parent_path().filename();
  const fs::path file = fs::path(XFERBENCH_SOURCE_DIR) / "tests" / folder / "golden" / name;
  const char* update = std::getenv("XFERBENCH_UPDATE_GOLDEN");
  if (update != nullptr && std::string_view(update) == "1") {
    write(file, text);
  } else if (const testing::AssertionResult same = is_text_of(file, text); !same) {
    ADD_FAILURE_AT(test_source, line)
        << same.message() << "If that is intended, run the test with XFERBENCH_UPDATE_GOLDEN=1 and commit the file.";
  }
}

}  // namespace xferbench::test
