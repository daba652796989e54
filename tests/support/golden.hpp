// Texts that are compared whole with files under version control ("golden files"), for all test programs.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace xferbench::test {

/// Fails the test unless the text is that of the file `golden/name` beside the test's own source file.
/// XFERBENCH_UPDATE_GOLDEN=1 writes the file instead: look at its difference before committing it.
void expect_golden(const std::string& name, std::string_view text, const char* test_source = __builtin_FILE(),
                   int line = __builtin_LINE());

/// Whether the file has exactly this text; if not, where the two part: the first line that differs, as both have it.
testing::AssertionResult is_text_of(const std::filesystem::path& file, std::string_view text);

}  // namespace xferbench::test
