// The JSON format of explanations, for writing and reading.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "report/explain/explain_report.hpp"
#include "results/json_shape.hpp"
#include "results/stored_file.hpp"
#include "words/explained.hpp"

/// A namespace of its own, because results use the same names.
namespace xferbench::explain_json {

namespace {

using namespace json;
using namespace explain;
using explained::ShareKind;
using enum Rule;

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
    field<&LimitTimes::copy_call>("copy_call", if_known, "Host time to submit an asynchronous copy."),
    field<&LimitTimes::launch_call>("launch_call", if_known, "Host time to launch a kernel."),
    field<&LimitTimes::kernel_start>("kernel_start", if_known, "Time from the launch call to the start of the kernel."),
    field<&LimitTimes::wake>("wake", if_known,
                             "Time from the end of a kernel to the return of the call that waits for it."),
    field<&LimitTimes::handover>("handover", if_known,
                                 "Time from the end of an operation to the start of the one that waits for it."),
    field<&LimitTimes::graph_call>("graph_call", if_known, "Host time to launch a small graph."),
    field<&LimitTimes::graph_node>("graph_node", if_known, "GPU time that one more empty kernel adds to a graph."),
    field<&LimitTimes::pin_per_byte>("pin_per_byte", if_known, "Time to register and unregister memory, per byte."),
};
constexpr Shape kLimitTimes =
    on_one_line(record(kLimitTimesFields, "Other costs on this machine, as far as they were measured."));

constexpr std::array kRunsFields{
    field<&Explanation::bare_runs, kSeconds>("bare", "Wall time of each baseline run of the whole program."),
    field<&Explanation::watched_runs, kSeconds>("watched", "Wall time of each profiled run of the whole program."),
};
constexpr Shape kRuns = on_one_line(record(kRunsFields));

// --- A process ------------------------------------------------------------------------------------------------------

/// Computed from other fields when written, ignored when read.
constexpr Shape kWatching{.expected = kNumber.expected,
                          .take = [](Reader& in, void*) { static_cast<void>(in.as_number()); },
                          .give = [](const void* stretch) -> Single { return *as<Stretch>(stretch).watching(); },
                          .types = {"number"},
                          .least = 0};

/// Absent if there is no baseline run.
constexpr Field watching_field() {
  Field only = part("watched_over_bare", kWatching, if_known, "Profiler overhead: profiled time over baseline time.");
  only.from = [](const void* stretch, bool) -> const void* {
    return as<Stretch>(stretch).watching() ? stretch : nullptr;
  };
  return only;
}
constexpr std::array kStretchFields{
    field<&Stretch::range>("range", if_known, "Name of the NVTX range; absent: the whole program."),
    field<&Stretch::times>("times", "Number of times the range occurred. All are added up."),
    field<&Stretch::seconds>("seconds", "Wall time of the profiled run."),
    field<&Stretch::bare>("bare", if_known,
                          "Median wall time of the baseline runs. Gains are relative to it, if it is known."),
    watching_field(),
    field<&Stretch::replayed>("replayed", if_known, "Time that the replay predicts for the unchanged recording."),
};
constexpr Shape kStretch =
    on_one_line(record(kStretchFields, "The explained part: the whole program, or an NVTX range."));

constexpr std::array kCountsFields{
    field<&Counts::copies>("copies"),
    field<&Counts::kernels>("kernels"),
    field<&Counts::fills>("fills"),
    field<&Counts::calls>("calls", "CUDA calls that copy, launch, allocate or wait."),
    field<&Counts::waits>("waits", "Calls of these that wait for the GPU."),
    field<&Counts::graph_nodes>("graph_nodes", "Copies, kernels and fills that were graph nodes."),
};
constexpr Shape kCounts = on_one_line(record(kCountsFields));

constexpr Shape kShares{.expected = "an object",
                        .help = "Breakdown of the wall time, in seconds. The parts add up to it.",
                        .is_object = true,
                        .entry = [](Reader&, void* into, std::string_view name) -> Target {
                          const auto kind = std::ranges::find(explained::kShareKinds, name, &ShareKind::field);
                          if (kind == explained::kShareKinds.end()) return {};
                          return {&kAmount, &(as<Shares>(into).*kind->seconds)};
                        },
                        .each =
                            [](const void* from, const Visit& visit) {
                              for (const ShareKind& kind : explained::kShareKinds) {
                                visit(kind.field, kNumber, &(as<Shares>(from).*kind.seconds));
                              }
                            },
                        .on_one_line = true,
                        .known =
                            [] {
                              std::vector<Known> known;
                              for (const ShareKind& kind : explained::kShareKinds) {
                                known.push_back({kind.field, helped(kNumber, kind.what), required});
                              }
                              return known;
                            }};

constexpr std::array kTrafficFields{
    field<&Traffic::kind>("kind"),
    field<&Traffic::host>("memory"),
    field<&Traffic::smallest>("smallest", "Bytes of the smallest copy."),
    field<&Traffic::largest>("largest"),
    field<&Traffic::count>("count"),
    field<&Traffic::bytes>("bytes", "Bytes of all copies together."),
    field<&Traffic::seconds>("seconds", "Sum of the copy times."),
    field<&Traffic::busy>("busy_seconds", "Time in which at least one of these copies ran."),
    field<&Traffic::reachable>("reachable_seconds", if_known,
                               "Time of these copies at this machine's limit, one after the other."),
    field<&Traffic::pinned>("pinned_seconds", if_known, "The same limit with pinned memory."),
};
constexpr Shape kTraffic = on_one_line(record(kTrafficFields));

constexpr std::array kPlaceFields{
    field<&Place::call>("call", if_known, "CUDA call."),
    field<&Place::range>("range", if_known, "Innermost NVTX range around it."),
    field<&Place::kernel_before>("kernel_before", if_known, "Kernel before it in the same stream."),
    field<&Place::kernel_after>("kernel_after", if_known),
    field<&Place::stack>("stack", if_known, "Host call stack, the innermost frame first, if recorded."),
};
constexpr Shape kPlace = record(kPlaceFields, "Place in the program that causes most of it.");

constexpr std::array kFindingFields{
    field<&Finding::kind>("kind"),
    field<&Finding::what, kText>("what", "What was found, as a sentence."),
    field<&Finding::mend, kText>("mend", "How to fix it, as a sentence."),
    field<&Finding::assumption, kText>("assumption", "Assumption under which the gain holds, as a sentence."),
    field<&Finding::place, kPlace>("place"),
    field<&Finding::count>("count"),
    field<&Finding::bytes>("bytes"),
    field<&Finding::each_size>("each_size", if_known, "Size of each copy, if all have the same size."),
    field<&Finding::at_most>("at_most", "The gain is an upper bound."),
    field<&Finding::seconds_after>("seconds_after", if_known, "Predicted time with only this finding fixed."),
    field<&Finding::seconds_after_all>("seconds_after_all", if_known,
                                       "Predicted time with this finding and all before it fixed."),
};
constexpr Shape kFinding = record(kFindingFields);

constexpr std::array kCopyFields{
    field<&CopyPoint::kind>("kind"),
    field<&CopyPoint::host>("memory"),
    field<&CopyPoint::bytes>("bytes", "Size of each copy."),
    field<&CopyPoint::seconds>("seconds", "Average time of a copy."),
    field<&CopyPoint::count>("count", "Number of copies of this kind and size with about the same time."),
};
constexpr Shape kCopy = on_one_line(record(kCopyFields));

constexpr std::array kSpanFields{
    field<&TimelineSpan::track>(
        "track", "inside: copies inside the GPU, and fills. managed: page migrations of managed memory."),
    field<&TimelineSpan::device>("device", "GPU, for operations on a GPU."),
    field<&TimelineSpan::number>("number", "Number of the stream or host thread."),
    field<&TimelineSpan::name, kText>("name"),
    field<&TimelineSpan::bytes>("bytes"),
    field<&TimelineSpan::begin, kNumber>("begin", "Seconds since the start of the explained part."),
    field<&TimelineSpan::end, kNumber>("end"),
};
constexpr Shape kSpan = on_one_line(record(kSpanFields));
constexpr std::array kTimelineFields{
    field<&Timeline::from, kNumber>("from", "Seconds since the start of the explained part."),
    field<&Timeline::to, kNumber>("to"),
    field<&Timeline::spans, kListOf<TimelineSpan, kSpan>>("spans",
                                                          "All operations that start in this period, by start time."),
};
constexpr Shape kTimeline =
    record(kTimelineFields, "Timeline of the first operations of the explained part; --timeline writes all.");

constexpr std::array kProcessFields{
    field<&ProcessExplanation::pid>("pid"),
    field<&ProcessExplanation::command, kText>("command"),
    field<&ProcessExplanation::gpus>("gpus", "Names of the GPUs that the process used."),
    field<&ProcessExplanation::ending>("ending", if_known, "Why recording ended before the process did."),
    field<&ProcessExplanation::notes>("notes", "Limitations of this analysis."),
    field<&ProcessExplanation::stretch, kStretch>("stretch"),
    field<&ProcessExplanation::counts, kCounts>("counts"),
    field<&ProcessExplanation::shares, kShares>("shares"),
    field<&ProcessExplanation::traffic, kListOf<Traffic, kTraffic>>(
        "traffic", "Copies by direction, memory and size class, the most time first."),
    field<&ProcessExplanation::withheld>("withheld", if_known, "Why no gains are given; absent if they are."),
    field<&ProcessExplanation::findings, kListOf<Finding, kFinding>>("findings", "Findings, the largest gain first."),
    field<&ProcessExplanation::small_findings>("small_findings",
                                               "Number of findings left out, because they gain less than least_share."),
    field<&ProcessExplanation::least_share>("least_share", "Smallest reported gain, as a share of the wall time."),
    field<&ProcessExplanation::together, kSeconds>(
        "together", "Predicted times with the first two findings fixed, the first three, and so on."),
    field<&ProcessExplanation::seconds_mended>("seconds_mended", if_known,
                                               "Predicted time with only the kinds of --fix fixed."),
    field<&ProcessExplanation::mended>("mended", if_known, "Kinds of --fix."),
    field<&ProcessExplanation::mended_at_most>("mended_at_most", if_known, "The gain of --fix is an upper bound."),
    field<&ProcessExplanation::mended_missing>("mended_missing", if_known, "Kinds of --fix without a finding."),
    field<&ProcessExplanation::cloud, kListOf<CopyPoint, kCopy>>(
        "cloud", "Copy times by size. If there are very many sizes, the rarest are left out."),
    field<&ProcessExplanation::timeline, kTimeline>("timeline"),
};
/// The fields, preceded by a one-sentence answer, as on the terminal.
constexpr Shape kProcess{
    .expected = "an object",
    .is_object = true,
    .fields = kProcessFields,
    .each =
        [](const void* from, const Visit& visit) {
          const std::string answer = explained::answer(as<ProcessExplanation>(from)) + ".";
          visit("answer", kText, &answer);
          for (const Field& field : kProcessFields) {
            const void* value = field.from(from, field.rule != if_known);
            if (value != nullptr) visit(field.name, *field.shape, value);
          }
        },
    .known =
        [] {
          return std::vector<Known>{
              {"answer", helped(kText, "Summary as a sentence: what transfers cost and what fixes gain."), required}};
        }};

// --- All ------------------------------------------------------------------------------------------------------------

constexpr std::array kExplanationFields{
    part("schema", kSchema<kExplanationSchema>),
    field<&Explanation::command>("command", "Command line of the program; empty if unknown."),
    field<&Explanation::simulated>("simulated", "Whether the recording is from a simulated device."),
    field<&Explanation::blind>("blind", if_known, "Why nothing was recorded. It is unknown whether a GPU was used."),
    field<&Explanation::profile>("profile", if_known, "Profile of the simulated device."),
    field<&Explanation::limits_of>("limits_of", if_known, "Machine of the limits, and the time of measurement."),
    field<&Explanation::limits, kListOf<LimitCurve, kCurve>>("limits", "Time of one copy on this machine, by size."),
    field<&Explanation::limit_times, kLimitTimes>("limit_times", optional),
    part("runs", kRuns),
    field<&Explanation::warnings>("warnings"),
    field<&Explanation::processes, kListOf<ProcessExplanation, kProcess>>(
        "processes", "Processes that used a GPU, the longest first."),
};
constexpr Shape kExplanation =
    record(kExplanationFields,
           "File that xferbench explain --json writes, version 1. Fields are added, never renamed or removed. Unknown "
           "values are absent. Times are in seconds, sizes in bytes.");

}  // namespace

}  // namespace xferbench::explain_json

namespace xferbench {

std::string to_json(const explain::Explanation& explanation) {
  return json::text_of(explain_json::kExplanation, &explanation);
}

explain::Explanation read_explanation(const std::string& path) {
  explain::Explanation explanation;
  json::read_beginning(open_stored(path).number(), path, std::numeric_limits<std::uint64_t>::max(), {},
                       {&explain_json::kExplanation, &explanation});
  return explanation;
}

std::string explain_schema() { return json::schema_of(explain_json::kExplanation); }

}  // namespace xferbench
