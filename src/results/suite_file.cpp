#include "results/suite_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/error.hpp"

namespace xferbench {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema = "xferbench-suite/1";
constexpr std::size_t kMostTurns = 100;
constexpr std::size_t kMostRuns = 10'000;
constexpr int kDeepest = 8;

/// One suite file and how messages speak of it.
class SuiteReader {
 public:
  SuiteReader(std::string_view text, std::string name) : name_(std::move(name)), json_(parse(text)) {}

  Suite read() const {
    expect(json_.is_object(), "the file", "an object with schema, description and runs");
    only_known();
    for (const char* field : {"schema", "description", "runs"}) {
      if (!json_.contains(field)) fail(fmt::format("the field \"{}\" is missing", field));
    }
    expect(json_["schema"] == std::string(kSchema), "schema", fmt::format("\"{}\"", kSchema));
    Suite suite;
    suite.description = description();
    suite.turns = turns();
    suite.sampling = sampling();
    suite.runs = runs();
    return suite;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { throw InputError(fmt::format("{}: {}", name_, message)); }

  void expect(bool holds, const std::string& where, const std::string& what) const {
    if (!holds) fail(fmt::format("{} must be {}", where, what));
  }

  /// Nothing nests deeply in a suite; what does is no suite, and is not followed to its end.
  Json parse(std::string_view text) const {
    const auto shallow = [this](int depth, Json::parse_event_t, Json&) {
      if (depth > kDeepest) fail("it nests too deeply for a suite");
      return true;
    };
    try {
      return Json::parse(text, shallow);
    } catch (const Json::parse_error& error) {
      const auto before = text.substr(0, std::min(error.byte, text.size()));
      fail(fmt::format("line {} is no JSON", 1 + std::ranges::count(before, '\n')));
    } catch (const Json::exception&) {  // as of a number that is too large
      fail("it has a value that is out of range");
    }
  }

  void only_known() const {
    constexpr std::array<std::string_view, 5> known{"schema", "description", "turns", "sampling", "runs"};
    for (const auto& [field, value] : json_.items()) {
      if (std::ranges::find(known, field) == known.end()) {
        fail(fmt::format("there is no field \"{}\" in a suite; there are {}", field, fmt::join(known, ", ")));
      }
    }
  }

  std::string description() const {
    const bool text = json_["description"].is_string();
    expect(text && !json_["description"].get<std::string>().empty(), "description", "a text");
    return json_["description"];
  }

  std::size_t turns() const {
    if (!json_.contains("turns")) return 1;
    const Json& turns = json_["turns"];
    const bool legal = turns.is_number_unsigned() && turns >= 1 && turns <= kMostTurns;
    expect(legal, "turns", fmt::format("a whole number from 1 to {}", kMostTurns));
    return turns;
  }

  std::vector<std::pair<std::string, std::string>> sampling() const {
    constexpr std::array<std::string_view, 4> known{"ci", "budget", "min-samples", "max-samples"};
    std::vector<std::pair<std::string, std::string>> flags;
    if (!json_.contains("sampling")) return flags;
    expect(json_["sampling"].is_object(), "sampling", fmt::format("an object of {}", fmt::join(known, ", ")));
    for (const auto& [flag, value] : json_["sampling"].items()) {
      if (std::ranges::find(known, flag) == known.end()) {
        fail(fmt::format("sampling has no \"{}\"; it has {}", flag, fmt::join(known, ", ")));
      }
      expect(value.is_number(), "sampling." + flag, "a number");
      flags.emplace_back(flag, value.dump());
    }
    return flags;
  }

  std::vector<std::vector<std::string>> runs() const {
    const bool some = json_["runs"].is_array() && !json_["runs"].empty();
    expect(some, "runs", "a list of command lines, such as \"memcpy --size 1M,64M\"");
    expect(json_["runs"].size() <= kMostRuns, "runs", fmt::format("at most {} command lines", kMostRuns));
    std::vector<std::vector<std::string>> runs;
    for (std::size_t i = 0; i < json_["runs"].size(); ++i) runs.push_back(words(json_["runs"][i], i));
    return runs;
  }

  /// A text is split at its blanks: no value of a flag has any.
  std::vector<std::string> words(const Json& run, std::size_t index) const {
    expect(run.is_string(), fmt::format("runs[{}]", index), "a text, such as \"memcpy --size 1M,64M\"");
    std::istringstream text(run.get<std::string>());
    std::vector<std::string> words;
    for (std::string word; text >> word;) words.push_back(word);
    expect(!words.empty(), fmt::format("runs[{}]", index), "a command line; this one is empty");
    return words;
  }

  std::string name_;
  Json json_;
};

}  // namespace

Suite parse_suite(std::string_view text, const std::string& name) { return SuiteReader(text, name).read(); }

}  // namespace xferbench
