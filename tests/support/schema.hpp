// Validation against the JSON schemas in docs/, with Python's jsonschema.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace xferbench::test {

/// Whether the file follows the schema and has no unknown field; a failure says why.
testing::AssertionResult keeps_to(const std::string& schema, const std::filesystem::path& file);
/// The same for the text of a file.
testing::AssertionResult text_keeps_to(const std::string& schema, const std::string& text);

}  // namespace xferbench::test
