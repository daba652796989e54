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
    field<&Options::threshold>("threshold", "Threshold as a share: 0.03 is 3 %."),
    part("interval", kIntervalOf),
    field<&Options::metric, kText>("metric", if_known),
    field<&Options::only>("only"),
    field<&Options::strict>("strict", optional),
    field<&Options::assumed_spread>("assumed_spread", optional,
                                    "Assumed spread between processes, as a share; 0: none was assumed."),
};
constexpr Shape kOptions = on_one_line(record(kOptionsFields));
constexpr std::size_t kOfAcross = 4;  // number of options that `across` has, from the first on
constexpr Shape kAcrossOptions = on_one_line(record(std::span(kOptionsFields).first(kOfAcross)));

constexpr std::array kSourceFields{
    field<&Source::name, kText>("file"),
    field<&Source::started_at, kText>("started_at"),
    field<&Source::gpu, kText>("gpu"),
    field<&Source::version, kText>("version"),
    field<&Source::verified>("verified", optional, "False if the run used --no-verify."),
    field<&Source::fault>("fault_injected", if_known, "Fault that was injected on purpose."),
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
    field<&Outcome::because, kText>("because", "Reason of the exit code."),
    field<&Outcome::least_slowdown, kNumber>(
        "least_slowdown", if_known,
        "Smallest slow-down that would have been detected, median over the cases: 0.06 is 6 %."),
};
constexpr Shape kOutcome = record(kOutcomeFields);

constexpr std::array kDifferenceFields{field<&Difference::what, kText>("what"), field<&Difference::base, kText>("base"),
                                       field<&Difference::next, kText>("new")};
constexpr Shape kDifference = record(kDifferenceFields);

constexpr std::array kSideFields{field<&Side::n>("n", "Number of samples, or of files if a side has several."),
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
    field<&Row::key, kText>("key",
                            "Key of the case; for fleets followed by the pace, and by the rank or the GPU's UUID."),
    field<&Row::place>("place", if_known, "For fleets: where it was measured, as text."),
    field<&Row::measured, kText>(
        "measured", "Name of the compared number; empty for a case that fails now and had no number in base."),
    field<&Row::unit, kText>("unit"),
    field<&Row::better, kBetter>("better"),
    field<&Row::verdict>("verdict"),
    field<&Row::failed>("failed", if_known, "The case fails in new, but not in base."),
    field<&Row::base, kSide>("base", if_known),
    field<&Row::next, kSide>("new", if_known),
    field<&Row::ratio, kNumber>("ratio", if_known, "New median over base median."),
    field<&Row::interval, kInterval>("ratio_ci95", if_known,
                                     "95 % confidence interval of the ratio, with the spread between processes."),
    field<&Row::within, kInterval>("ratio_ci95_within", if_known,
                                   "The same interval from the samples alone, for one process a side."),
    field_where<&Row::test, was_tested>("test", "Statistical test; absent if there are too few numbers."),
    field<&Row::p>("p", if_known, "Two-sided p-value of the test."),
    field<&Row::p_holm>("p_holm", if_known, "p-value adjusted for the number of tests (Holm)."),
    field<&Row::spread>("spread", if_known, "Spread between processes that the verdict uses: 0.01 is about 1 %."),
    field<&Row::spread_seen>("spread_seen", if_known, "Spread between the compared processes alone."),
    field_where<&Row::spread_from, has_spread>(
        "spread_from", "Source of the spread. known: a spread file. measured: several processes."),
    field<&Row::least_found, kInterval>("least_found", if_known,
                                        "Ratios nearest to 1 that these runs would have detected."),
    field<&Row::identical>("identical", if_known, "Both sides have identical samples."),
    field<&Row::reason>("reason", if_known, "Reason of the verdict; absent if it is same."),
    field<&Row::notes>("notes"),
};
constexpr Shape kRow = on_one_line(record(kRowFields));

constexpr std::string_view kCompare = "compare";
constexpr std::array kComparisonFields{
    part("schema", kSchema<kVersion1>),
    part("mode", kMode<kCompare>),
    field<&Comparison::simulated, kText>("simulated", if_known, "Profile, if a side is simulated."),
    field<&Comparison::match>("matched_by", if_known, "For fleets: what the ranks were matched by."),
    field<&Comparison::options, kOptions>("options"),
    field<&Comparison::base, kSources>("base"),
    field<&Comparison::next, kSources>("new"),
    part("summary", kSummary, required, "Number of cases with each verdict. not_compared: no number on either side."),
    field<&Comparison::outcome, kOutcome>("outcome", optional),
    field<&Comparison::differences, kListOf<Difference, kDifference>>("differences"),
    field<&Comparison::warnings>("warnings"),
    field<&Comparison::failing, kTexts>("failing_on_both_sides", if_known,
                                        "Cases that fail on both sides, each with its reason."),
    field<&Comparison::rows, kListOf<Row, kRow>>("cases"),
};
constexpr Shape kComparison = named("comparison", record(kComparisonFields));

// --- Side by side ---------------------------------------------------------------------------------------------------

constexpr std::array kCellFields{
    field<&Across::Cell::median, kNumber>("median"), field<&Across::Cell::ci95, kInterval>("ci95", if_known),
    field<&Across::Cell::best>("best",
                               "True for the best number, and for those whose interval overlaps its interval.")};
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
    field<&Across::Row::cells, kCells>("cells", "One entry for each column; null if the file has no number."),
};
constexpr Shape kAcrossRow = on_one_line(record(kAcrossRowFields));

constexpr std::string_view kAcrossMode = "across";
constexpr std::array kAcrossFields{
    part("schema", kSchema<kVersion1>),
    part("mode", kMode<kAcrossMode>),
    field<&Across::simulated, kText>("simulated", if_known, "Profile, if a side is simulated."),
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
                   "File that xferbench compare --json writes, version 1. Fields are added, never renamed, removed or "
                   "given another meaning. Unknown values are absent. compare.md explains the verdicts.");
}

}  // namespace xferbench
