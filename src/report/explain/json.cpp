#include <array>

#include "report/explain/explain_report.hpp"
#include "results/json_shape.hpp"
#include "words/explained.hpp"

/// Of its own: names of explanations are names of results, too.
namespace xferbench::explain_json {

namespace {

using namespace json;
using namespace explain;
using enum Rule;

constexpr std::string_view kVersion1 = "xferbench-explain/1";

constexpr const Shape& kSeconds = kListOf<double, kAmount>;

// --- Limits ---------------------------------------------------------------------------------------------------------

constexpr std::array kPointFields{field<&LimitPoint::bytes>("bytes"), field<&LimitPoint::seconds>("seconds")};
constexpr Shape kPoint = record(kPointFields);
constexpr std::array kCurveFields{
    field<&LimitCurve::kind>("kind"),
    field<&LimitCurve::host>("memory"),
    field<&LimitCurve::points, kListOf<LimitPoint, kPoint>>("points"),
};
constexpr Shape kCurve = record(kCurveFields);

constexpr std::array kLimitTimesFields{
    field<&LimitTimes::copy_call>("copy_call"),       field<&LimitTimes::launch_call>("launch_call"),
    field<&LimitTimes::kernel_start>("kernel_start"), field<&LimitTimes::wake>("wake"),
    field<&LimitTimes::handover>("handover"),         field<&LimitTimes::graph_call>("graph_call"),
    field<&LimitTimes::graph_node>("graph_node"),     field<&LimitTimes::pin_per_byte>("pin_per_byte"),
};
constexpr Shape kLimitTimes = on_one_line(record(kLimitTimesFields));

constexpr std::array kRunsFields{
    field<&Explanation::bare_runs, kSeconds>("bare"),
    field<&Explanation::watched_runs, kSeconds>("watched"),
};
constexpr Shape kRuns = on_one_line(record(kRunsFields));

// --- A process ------------------------------------------------------------------------------------------------------

constexpr Shape kWatching{.give = [](const void* stretch) -> Single { return *as<Stretch>(stretch).watching(); }};

/// How many times as long it took watched, where that is known.
constexpr Field watching_field() {
  Field only = part("watched_over_bare", kWatching, if_known);
  only.from = [](const void* stretch, bool) -> const void* {
    return as<Stretch>(stretch).watching() ? stretch : nullptr;
  };
  return only;
}
constexpr std::array kStretchFields{
    field<&Stretch::range>("range", if_known),
    field<&Stretch::times>("times"),
    field<&Stretch::seconds>("seconds"),
    field<&Stretch::bare>("bare"),
    watching_field(),
    field<&Stretch::replayed>("replayed"),
};
constexpr Shape kStretch = on_one_line(record(kStretchFields));

constexpr std::array kCountsFields{
    field<&Counts::copies>("copies"), field<&Counts::kernels>("kernels"), field<&Counts::fills>("fills"),
    field<&Counts::calls>("calls"),   field<&Counts::waits>("waits"),     field<&Counts::graph_nodes>("graph_nodes"),
};
constexpr Shape kCounts = on_one_line(record(kCountsFields));

constexpr Shape kShares{.is_object = true,
                        .each =
                            [](const void* from, const Visit& visit) {
                              for (const auto& share : explained::shares_of(as<Shares>(from))) {
                                visit(share.field, kNumber, &share.seconds);
                              }
                            },
                        .on_one_line = true};

constexpr std::array kTrafficFields{
    field<&Traffic::kind>("kind"),
    field<&Traffic::host>("memory"),
    field<&Traffic::smallest>("smallest"),
    field<&Traffic::largest>("largest"),
    field<&Traffic::count>("count"),
    field<&Traffic::bytes>("bytes"),
    field<&Traffic::seconds>("seconds"),
    field<&Traffic::busy>("busy_seconds"),
    field<&Traffic::reachable>("reachable_seconds"),
    field<&Traffic::pinned>("pinned_seconds"),
};
constexpr Shape kTraffic = on_one_line(record(kTrafficFields));

constexpr std::array kPlaceFields{
    field<&Place::call>("call", if_known),
    field<&Place::range>("range", if_known),
    field<&Place::kernel_before>("kernel_before", if_known),
    field<&Place::kernel_after>("kernel_after", if_known),
    field<&Place::stack>("stack", if_known),
};
constexpr Shape kPlace = record(kPlaceFields);

constexpr std::array kFindingFields{
    field<&Finding::kind>("kind"),
    field<&Finding::what>("what"),
    field<&Finding::mend>("mend"),
    field<&Finding::assumption>("assumption"),
    field<&Finding::place, kPlace>("place"),
    field<&Finding::count>("count"),
    field<&Finding::bytes>("bytes"),
    field<&Finding::at_most>("at_most"),
    field<&Finding::seconds_after>("seconds_after"),
    field<&Finding::seconds_after_all>("seconds_after_all"),
};
constexpr Shape kFinding = record(kFindingFields);

constexpr std::array kCopyFields{
    field<&CopyPoint::kind>("kind"),       field<&CopyPoint::host>("memory"), field<&CopyPoint::bytes>("bytes"),
    field<&CopyPoint::seconds>("seconds"), field<&CopyPoint::count>("count"),
};
constexpr Shape kCopy = on_one_line(record(kCopyFields));

constexpr std::array kSpanFields{
    field<&TimelineSpan::track>("track"),      field<&TimelineSpan::device>("device"),
    field<&TimelineSpan::number>("number"),    field<&TimelineSpan::name>("name"),
    field<&TimelineSpan::bytes>("bytes"),      field<&TimelineSpan::begin, kNumber>("begin"),
    field<&TimelineSpan::end, kNumber>("end"),
};
constexpr Shape kSpan = on_one_line(record(kSpanFields));
constexpr std::array kTimelineFields{
    field<&Timeline::from, kNumber>("from"),
    field<&Timeline::to, kNumber>("to"),
    field<&Timeline::spans, kListOf<TimelineSpan, kSpan>>("spans"),
};
constexpr Shape kTimeline = record(kTimelineFields);

constexpr std::array kProcessFields{
    field<&ProcessExplanation::pid>("pid"),
    field<&ProcessExplanation::command>("command"),
    field<&ProcessExplanation::gpus>("gpus"),
    field<&ProcessExplanation::ending>("ending", if_known),
    field<&ProcessExplanation::notes>("notes"),
    field<&ProcessExplanation::stretch, kStretch>("stretch"),
    field<&ProcessExplanation::counts, kCounts>("counts"),
    field<&ProcessExplanation::shares, kShares>("shares"),
    field<&ProcessExplanation::traffic, kListOf<Traffic, kTraffic>>("traffic"),
    field<&ProcessExplanation::withheld>("withheld", if_known),
    field<&ProcessExplanation::findings, kListOf<Finding, kFinding>>("findings"),
    field<&ProcessExplanation::small_findings>("small_findings"),
    field<&ProcessExplanation::least_share>("least_share"),
    field<&ProcessExplanation::together, kSeconds>("together"),
    field<&ProcessExplanation::seconds_mended>("seconds_mended"),
    field<&ProcessExplanation::mended>("mended", if_known),
    field<&ProcessExplanation::mended_at_most>("mended_at_most", if_known),
    field<&ProcessExplanation::mended_missing>("mended_missing", if_known),
    field<&ProcessExplanation::cloud, kListOf<CopyPoint, kCopy>>("cloud"),
    field<&ProcessExplanation::timeline, kTimeline>("timeline"),
};
/// Its fields, and before them the sentence that the terminal begins with.
constexpr Shape kProcess{.is_object = true, .each = [](const void* from, const Visit& visit) {
                           const std::string answer = explained::answer(as<ProcessExplanation>(from)) + ".";
                           visit("answer", kText, &answer);
                           for (const Field& field : kProcessFields) {
                             const void* value = field.from(from, field.rule != if_known);
                             if (value != nullptr) visit(field.name, *field.shape, value);
                           }
                         }};

// --- All ------------------------------------------------------------------------------------------------------------

constexpr std::array kExplanationFields{
    part("schema", kSchema<kVersion1>),
    field<&Explanation::command>("command"),
    field<&Explanation::simulated>("simulated"),
    field<&Explanation::blind>("blind", if_known),
    field<&Explanation::profile>("profile", if_known),
    field<&Explanation::limits_of>("limits_of", if_known),
    field<&Explanation::limits, kListOf<LimitCurve, kCurve>>("limits"),
    field<&Explanation::limit_times, kLimitTimes>("limit_times"),
    part("runs", kRuns),
    field<&Explanation::warnings>("warnings"),
    field<&Explanation::processes, kListOf<ProcessExplanation, kProcess>>("processes"),
};
constexpr Shape kExplanation = record(kExplanationFields);

}  // namespace

}  // namespace xferbench::explain_json

namespace xferbench {

std::string to_json(const explain::Explanation& explanation) {
  return json::text_of(explain_json::kExplanation, &explanation);
}

}  // namespace xferbench
