#include "results/suite_file.hpp"

#include <fmt/format.h>

#include <array>
#include <sstream>

#include "core/lists.hpp"
#include "results/json_codec.hpp"

namespace xferbench {

namespace {

using namespace json;

constexpr std::string_view kSuiteVersion1 = "xferbench-suite/1";
constexpr std::size_t kMostTurns = 100;

/// The shape of a command line, which is split at blanks; no value of a flag contains a blank.
constexpr Codec kRun{.expected = "a command line, such as \"memcpy --size 1M,64M\"", .take = [](Reader& in, void* run) {
                       std::istringstream words(in.as_raw_text());  // line breaks count as blanks
                       auto& into = as<std::vector<std::string>>(run);
                       for (std::string word; words >> word;) in.one_more(into, kMostEntries) = in.kept(word);
                       in.give_back_spare(into);
                       if (into.empty()) in.fail("found nothing, expected a command line");
                     }};

void check_runs(Reader& in, std::vector<std::vector<std::string>>& runs) {
  if (runs.empty()) in.fail("found none, expected command lines, such as \"memcpy --size 1M,64M\"");
}

using Flag = std::pair<std::string, std::string>;

/// The shape of a flag's value: a number, stored as on a command line.
constexpr Codec kFlagValue{.expected = "a number", .take = [](Reader& in, void* flag) {
                             as<Flag>(flag).second = fmt::format("{}", in.as_number());
                           }};

constexpr const Codec& kFlags = kEntriesOf<Flag, &Flag::first, kFlagValue>;

constexpr Codec kSampling{
    .expected = kFlags.expected,
    .is_object = true,
    .entry =
        [](Reader& in, void* flags, std::string_view name) {
          constexpr std::array<std::string_view, 4> kKnown{"ci", "budget", "min-samples", "max-samples"};
          if (!has_item(kKnown, name)) in.refuse_unknown("unknown field", name, kKnown);
          return kFlags.entry(in, flags, name);
        },
    .end = kFlags.end};

constexpr std::array kSuiteFields{
    part("schema", kSchema<kSuiteVersion1>),
    field<&Suite::description>("description"),
    field<&Suite::turns, kWhole<std::size_t, 1, kMostTurns>>("turns", Rule::optional),
    field<&Suite::processes, kWhole<std::size_t, 1, kMostTurns>>("processes", Rule::optional),
    field<&Suite::sampling, kSampling>("sampling", Rule::optional),
    field<&Suite::runs, kListOf<std::vector<std::string>, kRun, kMostEntries, check_runs>>("runs"),
};
constexpr Codec kSuite = strict(expecting(record(kSuiteFields), "an object with schema, description and runs"));

}  // namespace

Suite read_suite(const std::string& path) { return record_from_file<Suite>(path, kSuite); }

Suite parse_suite(std::string_view text, std::string_view name) { return record_from_text<Suite>(text, name, kSuite); }

}  // namespace xferbench
