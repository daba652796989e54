// Whether files keep to the schemas of docs/, by Python's jsonschema.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace xferbench::test {

/// Whether the file keeps to that schema of docs/, and has no field that the schema does not name; if not, why.
testing::AssertionResult keeps_to(const std::string& schema, const std::filesystem::path& file);
/// The same of the text of a file.
testing::AssertionResult text_keeps_to(const std::string& schema, const std::string& text);

}  // namespace xferbench::test
