// The JSON format of comparisons.
#include <array>

#include "report/compare/compare_report.hpp"
#include "results/json.hpp"
#include "results/json_codec.hpp"

namespace xferbench {

namespace {

using namespace json;
using namespace compare;
using compare::Source;
using enum Rule;

constexpr std::string_view kVersion1 = "xferbench-compare/1";

/// The shape of the field `mode`, which distinguishes comparisons of two sides from those of several files side by
/// side.
template <const std::string_view& mode>
constexpr Codec kMode{.give = [](const void*) -> Single { return mode; },
                      .words = [] { return std::vector<std::string_view>{mode}; }};

constexpr std::array<std::string_view, 2> kIntervals{"hodges-lehmann", "bootstrap"};
constexpr Codec kIntervalOf{
    .give = [](const void* options) -> Single { return kIntervals[as<Options>(options).bootstrap ? 1 : 0]; },
    .words = words_of<kIntervals>};
constexpr std::array kOptionsFields{
    field<&Options::threshold>("threshold", "Threshold as a share: 0.03 is 3 %."),
    part("interval", kIntervalOf),
    field<&Options::metric, kText>("metric", omit_empty),
    field<&Options::only>("only"),
    field<&Options::strict>("strict", optional),
    field<&Options::assumed_spread>("assumed_spread", optional,
                                    "Assumed spread between processes, as a share; 0: none was assumed."),
};
constexpr Codec kOptions = on_one_line(record(kOptionsFields));
constexpr std::size_t kOfAcross = 4;  // the first 4 options also apply to a comparison of files side by side
constexpr Codec kAcrossOptions = on_one_line(record(std::span(kOptionsFields).first(kOfAcross)));

constexpr std::array kSourceFields{
    field<&Source::name, kText>("file"),
    field<&Source::started_at, kText>("started_at"),
    field<&Source::gpu, kText>("gpu"),
    field<&Source::version, kText>("version"),
    field<&Source::verified>("verified", optional, "False if the run used --no-verify."),
    field<&Source::fault>("fault_injected", omit_empty, "Fault that was injected on purpose."),
};
constexpr Codec kSource = named("source", record(kSourceFields));
constexpr const Codec& kSources = kListOf<Source, kSource>;

constexpr std::array<std::string_view, 3> kBetters{"lower", "higher", "unknown"};
constexpr Codec kBetter{
    .give = [](const void* from) -> Single { return kBetters[static_cast<std::size_t>(as<Better>(from))]; },
    .words = words_of<kBetters>};

// --- Two sides ------------------------------------------------------------------------------------------------------

constexpr Codec kSummary{.is_object = true,
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

constexpr Codec kExitCode{
    .give = [](const void* code) -> Single { return static_cast<std::uint64_t>(as<ExitCode>(code)); },
    .types = {"integer"}};
constexpr std::array kOutcomeFields{
    field<&Outcome::code, kExitCode>("exit_code"),
    field<&Outcome::because, kText>("because", "Reason of the exit code."),
    field<&Outcome::detectable_slowdown, kNumber>(
        "least_slowdown", omit_empty,
        "Smallest slow-down that would have been detected, median over the cases: 0.06 is 6 %."),
};
constexpr Codec kOutcome = record(kOutcomeFields);

constexpr std::array kDifferenceFields{field<&Difference::what, kText>("what"), field<&Difference::base, kText>("base"),
                                       field<&Difference::new_side, kText>("new")};
constexpr Codec kDifference = record(kDifferenceFields);

constexpr std::array kSideFields{field<&Side::n>("n", "Number of samples, or of files if a side has several."),
                                 field<&Side::median, kNumber>("median")};
constexpr Codec kSide = named("side", record(kSideFields));

/// Describes a field that is present only in rows for which `has` returns true.
template <auto member, bool (*has)(const Row&)>
constexpr Field field_where(std::string_view name, std::string_view help) {
  Field only = field<member>(name, omit_empty, help);
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
    field<&Row::place>("place", omit_empty, "For fleets: where it was measured, as text."),
    field<&Row::measured, kText>(
        "measured", "Name of the compared number; empty for a case that fails now and had no number in base."),
    field<&Row::unit, kText>("unit"),
    field<&Row::better, kBetter>("better"),
    field<&Row::verdict>("verdict"),
    field<&Row::failed>("failed", omit_empty, "The case fails in new, but not in base."),
    field<&Row::base, kSide>("base", omit_empty),
    field<&Row::new_side, kSide>("new", omit_empty),
    field<&Row::ratio, kNumber>("ratio", omit_empty, "New median over base median."),
    field<&Row::interval, kInterval>("ratio_ci95", omit_empty,
                                     "95 % confidence interval of the ratio, with the spread between processes."),
    field<&Row::within, kInterval>("ratio_ci95_within", omit_empty,
                                   "The same interval from the samples alone, for one process a side."),
    field_where<&Row::test, was_tested>("test", "Statistical test; absent if there are too few numbers."),
    field<&Row::p>("p", omit_empty, "Two-sided p-value of the test."),
    field<&Row::p_holm>("p_holm", omit_empty, "p-value adjusted for the number of tests (Holm)."),
    field<&Row::spread>("spread", omit_empty, "Spread between processes that the verdict uses: 0.01 is about 1 %."),
    field<&Row::observed_spread>("spread_seen", omit_empty, "Spread between the compared processes alone."),
    field_where<&Row::spread_from, has_spread>(
        "spread_from", "Source of the spread. known: a spread file. measured: several processes."),
    field<&Row::detectable_ratios, kInterval>("least_found", omit_empty,
                                              "Ratios nearest to 1 that these runs would have detected."),
    field<&Row::identical>("identical", omit_empty, "Both sides have identical samples."),
    field<&Row::reason>("reason", omit_empty, "Reason of the verdict; absent if it is same."),
    field<&Row::notes>("notes"),
};
constexpr Codec kRow = on_one_line(record(kRowFields));

constexpr std::string_view kCompare = "compare";
constexpr std::array kComparisonFields{
    part("schema", kSchema<kVersion1>),
    part("mode", kMode<kCompare>),
    field<&Comparison::simulated, kText>("simulated", omit_empty, "Profile, if a side is simulated."),
    field<&Comparison::match>("matched_by", omit_empty, "For fleets: what the ranks were matched by."),
    field<&Comparison::options, kOptions>("options"),
    field<&Comparison::base, kSources>("base"),
    field<&Comparison::new_side, kSources>("new"),
    part("summary", kSummary, required, "Number of cases with each verdict. not_compared: no number on either side."),
    field<&Comparison::outcome, kOutcome>("outcome", optional),
    field<&Comparison::differences, kListOf<Difference, kDifference>>("differences"),
    field<&Comparison::warnings>("warnings"),
    field<&Comparison::failing, kTexts>("failing_on_both_sides", omit_empty,
                                        "Cases that fail on both sides, each with its reason."),
    field<&Comparison::rows, kListOf<Row, kRow>>("cases"),
};
constexpr Codec kComparison = named("comparison", record(kComparisonFields));

// --- Side by side ---------------------------------------------------------------------------------------------------

constexpr std::array kCellFields{
    field<&Across::Cell::median, kNumber>("median"), field<&Across::Cell::ci95, kInterval>("ci95", omit_empty),
    field<&Across::Cell::best>("best",
                               "True for the best number, and for those whose interval overlaps its interval.")};
constexpr Codec kCell = [] {
  Codec cell = record(kCellFields);
  cell.types = {"null"};
  return cell;
}();

constexpr Codec kNoCell{.give = [](const void*) -> Single { return nullptr; }};
constexpr Codec kCells{.each =
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
constexpr Codec kAcrossRow = on_one_line(record(kAcrossRowFields));

constexpr std::string_view kAcrossMode = "across";
constexpr std::array kAcrossFields{
    part("schema", kSchema<kVersion1>),
    part("mode", kMode<kAcrossMode>),
    field<&Across::simulated, kText>("simulated", omit_empty, "Profile, if a side is simulated."),
    field<&Across::options, kAcrossOptions>("options"),
    field<&Across::columns>("columns"),
    field<&Across::sources, kSources>("sources"),
    field<&Across::warnings>("warnings"),
    field<&Across::rows, kListOf<Across::Row, kAcrossRow>>("cases"),
};
constexpr Codec kAcross = named("across", record(kAcrossFields));

}  // namespace

std::string to_json(const Comparison& comparison) { return text_of(kComparison, &comparison); }
std::string to_json(const Across& across) { return text_of(kAcross, &across); }

std::string compare_schema() {
  return schema_of({&kComparison, &kAcross},
                   "File that xferbench compare --json writes, version 1. Fields are added, never renamed, removed or "
                   "given another meaning. Unknown values are absent. compare.md explains the verdicts.");
}

}  // namespace xferbench
