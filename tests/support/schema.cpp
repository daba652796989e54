#include "support/schema.hpp"

#include <cstdlib>

#include "support/files.hpp"

namespace xferbench::test {

namespace {

constexpr const char* kValidate = R"(
import json, sys, jsonschema
def closed(one):
    if isinstance(one, dict):
        if 'properties' in one: one.setdefault('additionalProperties', False)
        for part in one.values(): closed(part)
    return one
schema = closed(json.load(open(sys.argv[1])))
jsonschema.Draft202012Validator.check_schema(schema)
found = list(jsonschema.Draft202012Validator(schema).iter_errors(json.load(open(sys.argv[2]))))
print(*(one.message[:200] for one in found), sep='\n')
sys.exit(len(found) > 0)
)";

}  // namespace

testing::AssertionResult keeps_to(const std::string& schema, const std::filesystem::path& file) {
  const TemporaryFolder folder;
  write_file(folder / "validate.py", kValidate);
  const std::string command = "/usr/bin/python3 '" + (folder / "validate.py").string() +
                              "' '" XFERBENCH_SOURCE_DIR "/docs/" + schema + "' '" + file.string() + "' > '" +
                              (folder / "said").string() + "' 2>&1";
  if (std::system(command.c_str()) == 0) return testing::AssertionSuccess();
  return testing::AssertionFailure() << file << " by " << schema << ": " << read_file(folder / "said");
}

testing::AssertionResult text_keeps_to(const std::string& schema, const std::string& text) {
  const TemporaryFolder folder;
  write_file(folder / "file.json", text);
  return keeps_to(schema, folder / "file.json");
}

}  // namespace xferbench::test
