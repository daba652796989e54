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

/// Which of the two kinds of file it is.
template <const std::string_view& mode>
constexpr Shape kMode{.give = [](const void*) -> Single { return mode; }};

constexpr Shape kIntervalOf{.give = [](const void* options) -> Single {
  return as<Options>(options).bootstrap ? std::string_view("bootstrap") : std::string_view("hodges-lehmann");
}};
constexpr std::array kAcrossOptionsFields{
    field<&Options::threshold>("threshold"),
    part("interval", kIntervalOf),
    field<&Options::metric>("metric"),
    field<&Options::only>("only"),
};
constexpr Shape kAcrossOptions = on_one_line(record(kAcrossOptionsFields));
constexpr std::array kOptionsFields{
    field<&Options::threshold>("threshold"), part("interval", kIntervalOf),
    field<&Options::metric>("metric"),       field<&Options::only>("only"),
    field<&Options::strict>("strict"),       field<&Options::assumed_spread>("assumed_spread"),
};
constexpr Shape kOptions = on_one_line(record(kOptionsFields));

constexpr std::array kSourceFields{
    field<&Source::name>("file"),         field<&Source::started_at>("started_at"),
    field<&Source::gpu>("gpu"),           field<&Source::version>("version"),
    field<&Source::verified>("verified"), field<&Source::fault>("fault_injected", if_known),
};
constexpr Shape kSource = record(kSourceFields);
constexpr const Shape& kSources = kListOf<Source, kSource>;

constexpr Shape kBetter{.give = [](const void* from) -> Single {
  return as<Better>(from) == Better::neither ? "unknown" : to_text(as<Better>(from));
}};

// --- Two sides ------------------------------------------------------------------------------------------------------

constexpr Shape kSummary{.is_object = true, .each = [](const void* from, const Visit& visit) {
                           const auto& comparison = as<Comparison>(from);
                           for (const Verdict verdict : kVerdicts) {
                             const std::size_t count = comparison.count(verdict);
                             visit(to_text(verdict), kWhole<std::size_t>, &count);
                           }
                           visit("not_compared", kWhole<std::size_t>, &comparison.not_compared);
                         }};

constexpr Shape kExitCode{
    .give = [](const void* code) -> Single { return static_cast<std::uint64_t>(as<ExitCode>(code)); }};
constexpr std::array kOutcomeFields{
    field<&Outcome::code, kExitCode>("exit_code"),
    field<&Outcome::because>("because"),
    field<&Outcome::least_slowdown>("least_slowdown"),
};
constexpr Shape kOutcome = record(kOutcomeFields);

constexpr std::array kDifferenceFields{field<&Difference::what>("what"), field<&Difference::base>("base"),
                                       field<&Difference::next>("new")};
constexpr Shape kDifference = record(kDifferenceFields);

constexpr std::array kSideFields{field<&Side::n>("n"), field<&Side::median>("median")};
constexpr Shape kSide = record(kSideFields);

/// A field of rows that have what it speaks of.
template <auto member, bool (*has)(const Row&)>
constexpr Field field_where(std::string_view name) {
  Field only = field<member>(name, if_known);
  only.from = [](const void* row, bool) -> const void* {
    return has(as<Row>(row)) ? &(as<Row>(row).*member) : nullptr;
  };
  return only;
}
bool was_tested(const Row& row) { return row.test != TestUsed::none; }
bool has_spread(const Row& row) { return row.spread.has_value(); }

constexpr std::array kRowFields{
    field<&Row::key>("key"),
    field<&Row::place>("place", if_known),
    field<&Row::measured>("measured"),
    field<&Row::unit>("unit"),
    field<&Row::better, kBetter>("better"),
    field<&Row::verdict>("verdict"),
    field<&Row::failed>("failed", if_known),
    field<&Row::base, kSide>("base"),
    field<&Row::next, kSide>("new"),
    field<&Row::ratio>("ratio"),
    field<&Row::interval, kInterval>("ratio_ci95"),
    field<&Row::within, kInterval>("ratio_ci95_within"),
    field_where<&Row::test, was_tested>("test"),
    field<&Row::p>("p"),
    field<&Row::p_holm>("p_holm"),
    field<&Row::spread>("spread"),
    field<&Row::spread_seen>("spread_seen"),
    field_where<&Row::spread_from, has_spread>("spread_from"),
    field<&Row::least_found, kInterval>("least_found"),
    field<&Row::identical>("identical", if_known),
    field<&Row::reason>("reason", if_known),
    field<&Row::notes>("notes"),
};
constexpr Shape kRow = on_one_line(record(kRowFields));

constexpr std::string_view kCompare = "compare";
constexpr std::array kComparisonFields{
    part("schema", kSchema<kVersion1>),
    part("mode", kMode<kCompare>),
    field<&Comparison::simulated>("simulated"),
    field<&Comparison::match>("matched_by"),
    field<&Comparison::options, kOptions>("options"),
    field<&Comparison::base, kSources>("base"),
    field<&Comparison::next, kSources>("new"),
    part("summary", kSummary),
    field<&Comparison::outcome, kOutcome>("outcome"),
    field<&Comparison::differences, kListOf<Difference, kDifference>>("differences"),
    field<&Comparison::warnings>("warnings"),
    field<&Comparison::failing, kTexts>("failing_on_both_sides", if_known),
    field<&Comparison::rows, kListOf<Row, kRow>>("cases"),
};
constexpr Shape kComparison = record(kComparisonFields);

// --- Side by side ---------------------------------------------------------------------------------------------------

constexpr std::array kCellFields{field<&Across::Cell::median>("median"), field<&Across::Cell::ci95, kInterval>("ci95"),
                                 field<&Across::Cell::best>("best")};
constexpr Shape kCell = record(kCellFields);

constexpr Shape kNoCell{.give = [](const void*) -> Single { return nullptr; }};
constexpr Shape kCells{.each = [](const void* cells, const Visit& visit) {
  for (const auto& cell : as<std::vector<std::optional<Across::Cell>>>(cells)) {
    visit({}, cell ? kCell : kNoCell, cell ? &*cell : nullptr);
  }
}};

constexpr std::array kAcrossRowFields{
    field<&Across::Row::key>("key"),
    field<&Across::Row::measured>("measured"),
    field<&Across::Row::unit>("unit"),
    field<&Across::Row::better, kBetter>("better"),
    field<&Across::Row::cells, kCells>("cells"),
};
constexpr Shape kAcrossRow = on_one_line(record(kAcrossRowFields));

constexpr std::string_view kAcrossMode = "across";
constexpr std::array kAcrossFields{
    part("schema", kSchema<kVersion1>),     part("mode", kMode<kAcrossMode>),
    field<&Across::simulated>("simulated"), field<&Across::options, kAcrossOptions>("options"),
    field<&Across::columns>("columns"),     field<&Across::sources, kSources>("sources"),
    field<&Across::warnings>("warnings"),   field<&Across::rows, kListOf<Across::Row, kAcrossRow>>("cases"),
};
constexpr Shape kAcross = record(kAcrossFields);

}  // namespace

std::string to_json(const Comparison& comparison) { return text_of(kComparison, &comparison); }
std::string to_json(const Across& across) { return text_of(kAcross, &across); }

}  // namespace xferbench
