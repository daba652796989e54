// The JSON format of comparisons.
#include <array>

#include "report/compare/compare_report.hpp"
#include "results/json.hpp"
#include "results/json_shape.hpp"

namespace xferbench {

namespace {

using namespace json;
using namespace compare;
using compare::Source;
using enum Rule;

constexpr std::string_view kVersion1 = "xferbench-compare/1";

/// The field `mode`, which distinguishes the two kinds of file.
template <const std::string_view& mode>
constexpr Shape kMode{.give = [](const void*) -> Single { return mode; },
                      .words = [] { return std::vector<std::string_view>{mode}; }};

constexpr std::array<std::string_view, 2> kIntervals{"hodges-lehmann", "bootstrap"};
constexpr Shape kIntervalOf{
    .give = [](const void* options) -> Single { return kIntervals[as<Options>(options).bootstrap ? 1 : 0]; },
    .words = words_of<kIntervals>};
constexpr std::array kOptionsFields{
    field<&Options::threshold>("threshold", "A share: 0.03 is 3 %."),
    part("interval", kIntervalOf),
    field<&Options::metric, kText>("metric", if_known),
    field<&Options::only>("only"),
    field<&Options::strict>("strict", optional),
    field<&Options::assumed_spread>("assumed_spread", optional, "Between processes, a share; 0: nothing was assumed."),
};
constexpr Shape kOptions = on_one_line(record(kOptionsFields));
constexpr std::size_t kOfAcross = 4;  // number of options that `across` has, from the first on
constexpr Shape kAcrossOptions = on_one_line(record(std::span(kOptionsFields).first(kOfAcross)));

constexpr std::array kSourceFields{
    field<&Source::name, kText>("file"),
    field<&Source::started_at, kText>("started_at"),
    field<&Source::gpu, kText>("gpu"),
    field<&Source::version, kText>("version"),
    field<&Source::verified>("verified", optional, "False where the file was measured with --no-verify."),
    field<&Source::fault>("fault_injected", if_known, "The fault that its device was given on purpose."),
};
constexpr Shape kSource = named("source", record(kSourceFields));
constexpr const Shape& kSources = kListOf<Source, kSource>;

constexpr std::array<std::string_view, 3> kBetters{"lower", "higher", "unknown"};
constexpr Shape kBetter{
    .give = [](const void* from) -> Single { return kBetters[static_cast<std::size_t>(as<Better>(from))]; },
    .words = words_of<kBetters>};

// --- Two sides ------------------------------------------------------------------------------------------------------

constexpr Shape kSummary{.is_object = true,
                         .each =
                             [](const void* from, const Visit& visit) {
                               const auto& comparison = as<Comparison>(from);
                               for (const Verdict verdict : kVerdicts) {
                                 const std::size_t count = comparison.count(verdict);
                                 visit(to_text(verdict), kWhole<std::size_t>, &count);
                               }
                               visit("not_compared", kWhole<std::size_t>, &comparison.not_compared);
                             },
                         .values = &kWhole<std::size_t>};

constexpr Shape kExitCode{
    .give = [](const void* code) -> Single { return static_cast<std::uint64_t>(as<ExitCode>(code)); },
    .types = {"integer"}};
constexpr std::array kOutcomeFields{
    field<&Outcome::code, kExitCode>("exit_code"),
    field<&Outcome::because, kText>("because", "Why the exit code is what it is."),
    field<&Outcome::least_slowdown, kNumber>("least_slowdown", if_known,
                                             "That would have been called, in the middle of the cases: 0.06 is 6 %."),
};
constexpr Shape kOutcome = record(kOutcomeFields);

constexpr std::array kDifferenceFields{field<&Difference::what, kText>("what"), field<&Difference::base, kText>("base"),
                                       field<&Difference::next, kText>("new")};
constexpr Shape kDifference = record(kDifferenceFields);

constexpr std::array kSideFields{field<&Side::n>("n", "Samples; with several files a side, files."),
                                 field<&Side::median, kNumber>("median")};
constexpr Shape kSide = named("side", record(kSideFields));

/// A field that is present only in rows for which `has` returns true.
template <auto member, bool (*has)(const Row&)>
constexpr Field field_where(std::string_view name, std::string_view help) {
  Field only = field<member>(name, if_known, help);
  only.from = [](const void* row, bool) -> const void* {
    return has(as<Row>(row)) ? &(as<Row>(row).*member) : nullptr;
  };
  return only;
}
bool was_tested(const Row& row) { return row.test != TestUsed::none; }
bool has_spread(const Row& row) { return row.spread.has_value(); }

constexpr std::array kRowFields{
    field<&Row::key, kText>("key", "Of the case; of fleets with the pace and the rank or the GPU's UUID behind it."),
    field<&Row::place>("place", if_known, "Of fleets, where it was measured: for people."),
    field<&Row::measured, kText>("measured", "Empty for a case that fails now and had no number in base."),
    field<&Row::unit, kText>("unit"),
    field<&Row::better, kBetter>("better"),
    field<&Row::verdict>("verdict"),
    field<&Row::failed>("failed", if_known, "It fails in new and did not in base."),
    field<&Row::base, kSide>("base", if_known),
    field<&Row::next, kSide>("new", if_known),
    field<&Row::ratio, kNumber>("ratio", if_known, "New over base."),
    field<&Row::interval, kInterval>("ratio_ci95", if_known, "With the spread between processes."),
    field<&Row::within, kInterval>("ratio_ci95_within", if_known, "Of one process a side: by their samples alone."),
    field_where<&Row::test, was_tested>("test", "What decided; absent where there are too few numbers for any test."),
    field<&Row::p>("p", if_known, "Two-sided, of that test."),
    field<&Row::p_holm>("p_holm", if_known, "Adjusted for all cases that were tested."),
    field<&Row::spread>("spread", if_known, "Between processes, as it is taken: 0.01 is about 1 %."),
    field<&Row::spread_seen>("spread_seen", if_known, "The same, as several processes alone show it."),
    field_where<&Row::spread_from, has_spread>("spread_from", "known: from a file. measured: by several processes."),
    field<&Row::least_found, kInterval>("least_found", if_known, "Ratios next to 1 that these runs would have called."),
    field<&Row::identical>("identical", if_known, "The very same samples on both sides."),
    field<&Row::reason>("reason", if_known, "Why the verdict is what it is; absent where it is same."),
    field<&Row::notes>("notes"),
};
constexpr Shape kRow = on_one_line(record(kRowFields));

constexpr std::string_view kCompare = "compare";
constexpr std::array kComparisonFields{
    part("schema", kSchema<kVersion1>),
    part("mode", kMode<kCompare>),
    field<&Comparison::simulated, kText>("simulated", if_known, "The profile, where a side is simulated."),
    field<&Comparison::match>("matched_by", if_known, "Of fleets: what told their ranks apart."),
    field<&Comparison::options, kOptions>("options"),
    field<&Comparison::base, kSources>("base"),
    field<&Comparison::next, kSources>("new"),
    part("summary", kSummary, required, "Cases of each verdict, and not_compared: with a number on neither side."),
    field<&Comparison::outcome, kOutcome>("outcome", optional),
    field<&Comparison::differences, kListOf<Difference, kDifference>>("differences"),
    field<&Comparison::warnings>("warnings"),
    field<&Comparison::failing, kTexts>("failing_on_both_sides", if_known, "Cases, each with its reason."),
    field<&Comparison::rows, kListOf<Row, kRow>>("cases"),
};
constexpr Shape kComparison = named("comparison", record(kComparisonFields));

// --- Side by side ---------------------------------------------------------------------------------------------------

constexpr std::array kCellFields{
    field<&Across::Cell::median, kNumber>("median"), field<&Across::Cell::ci95, kInterval>("ci95", if_known),
    field<&Across::Cell::best>("best", "The best, or its interval overlaps that of the best.")};
constexpr Shape kCell = [] {
  Shape cell = record(kCellFields);
  cell.types = {"null"};
  return cell;
}();

constexpr Shape kNoCell{.give = [](const void*) -> Single { return nullptr; }};
constexpr Shape kCells{.each =
                           [](const void* cells, const Visit& visit) {
                             for (const auto& cell : as<std::vector<std::optional<Across::Cell>>>(cells)) {
                               visit({}, cell ? kCell : kNoCell, cell ? &*cell : nullptr);
                             }
                           },
                       .values = &kCell};

constexpr std::array kAcrossRowFields{
    field<&Across::Row::key, kText>("key"),
    field<&Across::Row::measured, kText>("measured"),
    field<&Across::Row::unit, kText>("unit"),
    field<&Across::Row::better, kBetter>("better"),
    field<&Across::Row::cells, kCells>("cells", "One for each column; null where that file has no number."),
};
constexpr Shape kAcrossRow = on_one_line(record(kAcrossRowFields));

constexpr std::string_view kAcrossMode = "across";
constexpr std::array kAcrossFields{
    part("schema", kSchema<kVersion1>),
    part("mode", kMode<kAcrossMode>),
    field<&Across::simulated, kText>("simulated", if_known, "The profile, where a side is simulated."),
    field<&Across::options, kAcrossOptions>("options"),
    field<&Across::columns>("columns"),
    field<&Across::sources, kSources>("sources"),
    field<&Across::warnings>("warnings"),
    field<&Across::rows, kListOf<Across::Row, kAcrossRow>>("cases"),
};
constexpr Shape kAcross = named("across", record(kAcrossFields));

}  // namespace

std::string to_json(const Comparison& comparison) { return text_of(kComparison, &comparison); }
std::string to_json(const Across& across) { return text_of(kAcross, &across); }

std::string compare_schema() {
  return schema_of({&kComparison, &kAcross},
                   "What xferbench compare --json writes, version 1. Fields are added, never renamed, removed or given "
                   "another meaning. What is unknown is absent. compare.md says how it is judged.");
}

}  // namespace xferbench
