// Comparison of whole texts with files under version control ("golden files").
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace xferbench::test {

/// Fails the test unless the text equals the file golden/`name` next to the test's source file.
/// XFERBENCH_UPDATE_GOLDEN=1 writes the file instead: check its diff before committing it.
void expect_golden(const std::string& name, std::string_view text, const char* test_source = __builtin_FILE(),
                   int line = __builtin_LINE());

/// Whether the file has exactly this text; a failure shows the first line that differs.
testing::AssertionResult is_text_of(const std::filesystem::path& file, std::string_view text);

}  // namespace xferbench::test
