#include "results/suite_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "results/json_shape.hpp"

namespace xferbench {

namespace {

using namespace json;

constexpr std::string_view kSuiteVersion1 = "xferbench-suite/1";
constexpr std::size_t kMostTurns = 100;

/// A command line, split at its blanks: no value of a flag has any.
constexpr Shape kRun{.expected = "a command line, such as \"memcpy --size 1M,64M\"",
                     .text = [](Reader& in, void* run, std::string& text) {
                       std::istringstream words(text);
                       auto& into = as<std::vector<std::string>>(run);
                       for (std::string word; words >> word;) into.push_back(word);
                       if (into.empty()) in.fail("found no words, expected a command line");
                     }};

void check_runs(Reader& in, std::vector<std::vector<std::string>>& runs) {
  if (runs.empty()) in.fail("found none, expected command lines, such as \"memcpy --size 1M,64M\"");
}

using Flag = std::pair<std::string, std::string>;

/// The value of a flag as the command line has it.
constexpr Shape kFlagValue{
    .expected = "a number",
    .whole = [](Reader&, void* flag, std::uint64_t value) { as<Flag>(flag).second = fmt::format("{}", value); },
    .number = [](Reader&, void* flag, double value) { as<Flag>(flag).second = fmt::format("{}", value); }};

constexpr const Shape& kFlags = kEntriesOf<Flag, &Flag::first, kFlagValue>;

constexpr Shape kSampling{.expected = kFlags.expected,
                          .is_object = true,
                          .entry =
                              [](Reader& in, void* flags, std::string_view name) {
                                const std::array<std::string, 4> known{"ci", "budget", "min-samples", "max-samples"};
                                if (std::ranges::find(known, name) == known.end()) {
                                  in.refuse_unknown("unknown field", name, known);
                                }
                                return kFlags.entry(in, flags, name);
                              },
                          .end = kFlags.end};

constexpr std::array kSuiteFields{
    part("schema", kSchema<kSuiteVersion1>),
    field<&Suite::description>("description"),
    field<&Suite::turns, kWhole<std::size_t, 1, kMostTurns>>("turns", Rule::optional),
    field<&Suite::sampling, kSampling>("sampling", Rule::optional),
    field<&Suite::runs, kListOf<std::vector<std::string>, kRun, kMostEntries, check_runs>>("runs"),
};
constexpr Shape kSuite{.expected = "an object with schema, description and runs",
                       .is_object = true,
                       .fields = kSuiteFields,
                       .strict = true};

}  // namespace

Suite read_suite(const std::string& path) {
  Suite suite;
  read_file(path, {&kSuite, &suite});
  return suite;
}

Suite parse_suite(std::string_view text, std::string_view name) {
  Suite suite;
  read_text(text, name, {&kSuite, &suite});
  return suite;
}

}  // namespace xferbench
