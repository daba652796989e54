// The JSON format of explanations, for writing and reading.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "core/lists.hpp"
#include "report/explain/explain_report.hpp"
#include "results/json_codec.hpp"
#include "results/stored_file.hpp"
#include "words/explain_text.hpp"

/// A namespace of its own, because the format of results uses the same names.
namespace xferbench::explain_json {

namespace {

using namespace json;
using namespace explain;
using explain_text::ShareKind;
using enum Rule;

constexpr const Codec& kSeconds = kListOf<double, kAmount>;

// --- Limits ---------------------------------------------------------------------------------------------------------

constexpr std::array kPointFields{field<&LimitPoint::bytes>("bytes"), field<&LimitPoint::seconds>("seconds")};
constexpr Codec kPoint = record(kPointFields);
constexpr std::array kCurveFields{
    field<&LimitCurve::kind>("kind"),
    field<&LimitCurve::host>("memory"),
    field<&LimitCurve::points, kListOf<LimitPoint, kPoint>>("points"),
};
constexpr Codec kCurve = record(kCurveFields);

constexpr std::array kLimitTimesFields{
    field<&LimitTimes::copy_call>("copy_call", omit_empty, "Host time to submit an asynchronous copy."),
    field<&LimitTimes::launch_call>("launch_call", omit_empty, "Host time to launch a kernel."),
    field<&LimitTimes::kernel_start>("kernel_start", omit_empty,
                                     "Time from the launch call to the start of the kernel."),
    field<&LimitTimes::wake>("wake", omit_empty,
                             "Time from the end of a kernel to the return of the call that waits for it."),
    field<&LimitTimes::handover>("handover", omit_empty,
                                 "Time from the end of an operation to the start of the one that waits for it."),
    field<&LimitTimes::graph_call>("graph_call", omit_empty, "Host time to launch a small graph."),
    field<&LimitTimes::graph_node>("graph_node", omit_empty, "GPU time that one more empty kernel adds to a graph."),
    field<&LimitTimes::pin_per_byte>("pin_per_byte", omit_empty, "Time to register and unregister memory, per byte."),
    field<&LimitTimes::touch_per_byte>("touch_per_byte", omit_empty,
                                       "Time to allocate, touch and free memory, per byte."),
};
constexpr Codec kLimitTimes =
    on_one_line(record(kLimitTimesFields, "Other costs on this machine, as far as they were measured."));

constexpr std::array kRunsFields{
    field<&Explanation::baseline_runs, kSeconds>("bare", "Wall time of each baseline run of the whole program."),
    field<&Explanation::profiled_runs, kSeconds>("watched", "Wall time of each profiled run of the whole program."),
};
constexpr Codec kRuns = on_one_line(record(kRunsFields));

// --- A process ------------------------------------------------------------------------------------------------------

/// The shape of the profiler overhead, which is computed from other fields when written, and ignored when read.
constexpr Codec kProfiling{
    .expected = kNumber.expected,
    .take = [](Reader& in, void*) { static_cast<void>(in.as_number()); },
    .give = [](const void* window_summary) -> Single { return *as<WindowSummary>(window_summary).profiling(); },
    .types = {"number"},
    .least = 0};

/// Describes the field for profiler overhead; absent if there is no baseline run.
constexpr Field profiling_field() {
  Field only =
      part("watched_over_bare", kProfiling, omit_empty, "Profiler overhead: profiled time over baseline time.");
  only.from = [](const void* window_summary, bool) -> const void* {
    return as<WindowSummary>(window_summary).profiling() ? window_summary : nullptr;
  };
  return only;
}
constexpr std::array kWindowFields{
    field<&WindowSummary::range>("range", omit_empty, "Name of the NVTX range; absent: the whole program."),
    field<&WindowSummary::times>("times", "Number of times the range occurred. All are added up."),
    field<&WindowSummary::seconds>("seconds", "Wall time of the profiled run."),
    field<&WindowSummary::baseline>("bare", omit_empty,
                                    "Median wall time of the baseline runs, of an even number the faster one in the "
                                    "middle. Gains are relative to it, "
                                    "if it is known."),
    profiling_field(),
    field<&WindowSummary::replayed>("replayed", omit_empty,
                                    "Time that the replay predicts for the unchanged recording."),
};
constexpr Codec kWindow =
    on_one_line(record(kWindowFields, "The explained part: the whole program, or an NVTX range."));

constexpr std::array kCountsFields{
    field<&Counts::copies>("copies"),
    field<&Counts::kernels>("kernels"),
    field<&Counts::fills>("fills"),
    field<&Counts::calls>("calls", "CUDA calls that copy, launch, allocate or wait."),
    field<&Counts::waits>("waits", "Calls of these that wait for the GPU."),
    field<&Counts::graph_nodes>("graph_nodes", "Copies, kernels and fills that were graph nodes."),
};
constexpr Codec kCounts = on_one_line(record(kCountsFields));

constexpr Codec kShares{.expected = "an object",
                        .help = "Breakdown of the wall time, in seconds. The parts add up to it.",
                        .is_object = true,
                        .entry = [](Reader&, void* into, std::string_view name) -> Target {
                          const auto kind = std::ranges::find(explain_text::kShareKinds, name, &ShareKind::field);
                          if (kind == explain_text::kShareKinds.end()) return {};
                          return {&kAmount, &(as<Shares>(into).*kind->seconds)};
                        },
                        .each =
                            [](const void* from, const Visit& visit) {
                              for (const ShareKind& kind : explain_text::kShareKinds) {
                                visit(kind.field, kNumber, &(as<Shares>(from).*kind.seconds));
                              }
                            },
                        .on_one_line = true,
                        .known =
                            [] {
                              return list_of(explain_text::kShareKinds, [](const ShareKind& kind) {
                                return Known{kind.field, helped(kNumber, kind.what), required};
                              });
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
    field<&Traffic::reachable>("reachable_seconds", omit_empty,
                               "Time of these copies at this machine's limit, one after the other."),
    field<&Traffic::pinned>("pinned_seconds", omit_empty, "The same limit with pinned memory."),
};
constexpr Codec kTraffic = on_one_line(record(kTrafficFields));

constexpr std::array kPlaceFields{
    field<&Place::call>("call", omit_empty, "CUDA call."),
    field<&Place::range>("range", omit_empty, "Innermost NVTX range around it."),
    field<&Place::kernel_before>("kernel_before", omit_empty, "Kernel before it in the same stream."),
    field<&Place::kernel_after>("kernel_after", omit_empty),
    field<&Place::stack>("stack", omit_empty, "Host call stack, the innermost frame first, if recorded."),
};
constexpr Codec kPlace = record(kPlaceFields, "Place in the program that causes most of it.");

constexpr std::array kAlternativeFields{
    field<&Alternative::text, kText>("text", "What to do, as a noun."),
    field<&Alternative::seconds_after>("seconds_after", "Predicted time with only this finding fixed, in this way."),
};
constexpr Codec kAlternative = on_one_line(record(kAlternativeFields));

constexpr std::array kFindingFields{
    field<&Finding::kind>("kind"),
    field<&Finding::what, kText>("what", "What was found, as a sentence."),
    field<&Finding::fix, kText>("mend", "How to fix it, as a sentence."),
    field<&Finding::assumption, kText>("assumption", "Assumption under which the gain holds, as a sentence."),
    field<&Finding::way>("way", omit_empty, "Name of the fix, where alternatives have names, too."),
    field<&Finding::place, kPlace>("place"),
    field<&Finding::count>("count"),
    field<&Finding::bytes>("bytes"),
    field<&Finding::each_size>("each_size", omit_empty, "Size of each copy, if all have the same size."),
    field<&Finding::at_most>("at_most", "The gain is an upper bound."),
    field<&Finding::seconds_after>("seconds_after", omit_empty,
                                   "Predicted time with only this finding fixed, or the longer end of it."),
    field<&Finding::seconds_after_all>("seconds_after_all", omit_empty,
                                       "Predicted time with this finding and all before it fixed."),
    field<&Finding::seconds_after_least>(
        "seconds_after_least", omit_empty,
        "The shorter end of the predicted time with only this finding fixed: the program's own work that recurs around "
        "each copy that the fix merges goes with it, or the CPU copies fast. Absent if that differs little from "
        "seconds_after."),
    field<&Finding::work_around>("work_around", omit_empty,
                                 "Seconds of that own work. Absent if only the CPU's rate makes the difference."),
    field<&Finding::alternatives, kListOf<Alternative, kAlternative>>("alternatives", omit_empty,
                                                                      "Other fixes, the fastest first."),
};
constexpr Codec kFinding = record(kFindingFields);

constexpr std::array kCopyFields{
    field<&CopyPoint::kind>("kind"),
    field<&CopyPoint::host>("memory"),
    field<&CopyPoint::bytes>("bytes", "Size of each copy."),
    field<&CopyPoint::seconds>("seconds", "Average time of a copy."),
    field<&CopyPoint::count>("count", "Number of copies of this kind and size with about the same time."),
};
constexpr Codec kCopy = on_one_line(record(kCopyFields));

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
constexpr Codec kSpan = on_one_line(record(kSpanFields));
constexpr std::array kTimelineFields{
    field<&Timeline::from, kNumber>("from", "Seconds since the start of the explained part."),
    field<&Timeline::to, kNumber>("to"),
    field<&Timeline::spans, kListOf<TimelineSpan, kSpan>>("spans",
                                                          "All operations that start in this period, by start time."),
};
constexpr Codec kTimeline =
    record(kTimelineFields, "Timeline of the first operations of the explained part; --timeline writes all.");

constexpr std::array kProcessFields{
    field<&ProcessExplanation::pid>("pid"),
    field<&ProcessExplanation::command, kText>("command"),
    field<&ProcessExplanation::gpus>("gpus", "Names of the GPUs that the process used."),
    field<&ProcessExplanation::ending>("ending", omit_empty, "Why recording ended before the process did."),
    field<&ProcessExplanation::notes>("notes", "Limitations of this analysis."),
    field<&ProcessExplanation::window_summary, kWindow>("stretch"),
    field<&ProcessExplanation::counts, kCounts>("counts"),
    field<&ProcessExplanation::shares, kShares>("shares"),
    field<&ProcessExplanation::traffic, kListOf<Traffic, kTraffic>>(
        "traffic", "Copies by direction, memory and size class, the most time first."),
    field<&ProcessExplanation::gains_unavailable>("withheld", omit_empty,
                                                  "Why no gains are given; absent if they are."),
    field<&ProcessExplanation::findings, kListOf<Finding, kFinding>>("findings", "Findings, the largest gain first."),
    field<&ProcessExplanation::small_findings>("small_findings",
                                               "Number of findings left out, because they gain less than least_share."),
    field<&ProcessExplanation::least_share>("least_share", "Smallest reported gain, as a share of the wall time."),
    field<&ProcessExplanation::seconds_fixed>("seconds_mended", omit_empty,
                                              "Predicted time with only the kinds of --fix fixed."),
    field<&ProcessExplanation::seconds_fixed_least>("seconds_mended_least", omit_empty,
                                                    "Like seconds_after_least, for these findings."),
    field<&ProcessExplanation::fixed>("mended", omit_empty, "Kinds of --fix."),
    field<&ProcessExplanation::fixed_at_most>("mended_at_most", omit_empty, "The gain of --fix is an upper bound."),
    field<&ProcessExplanation::fixes_missing>("mended_missing", omit_empty, "Kinds of --fix without a finding."),
    field<&ProcessExplanation::cloud, kListOf<CopyPoint, kCopy>>(
        "cloud", "Copy times by size. If there are very many sizes, the rarest are left out."),
    field<&ProcessExplanation::timeline, kTimeline>("timeline"),
};
/// Element i: predicted seconds with the first i + 2 findings of the list fixed.
std::vector<double> together(const ProcessExplanation& process) {
  std::vector<double> times;
  for (std::size_t i = 1; i < process.findings.size(); ++i) {
    if (const auto seconds = process.findings[i].seconds_after_all) times.push_back(*seconds);
  }
  return times;
}

/// The shape of a process: its fields, preceded by what follows from them: the one-sentence answer that the terminal
/// shows, and the times with several findings fixed.
constexpr Codec kProcess{
    .expected = "an object",
    .is_object = true,
    .fields = kProcessFields,
    .each =
        [](const void* from, const Visit& visit) {
          const std::string answer = explain_text::answer(as<ProcessExplanation>(from)) + ".";
          visit("answer", kText, &answer);
          const std::vector<double> times = together(as<ProcessExplanation>(from));
          visit("together", kSeconds, &times);
          for (const Field& field : kProcessFields) {
            const void* value = field.from(from, field.rule != omit_empty);
            if (value != nullptr) visit(field.name, *field.shape, value);
          }
        },
    .known =
        [] {
          return std::vector<Known>{
              {"answer", helped(kText, "Summary as a sentence: what transfers cost and what fixes gain."), required},
              {"together",
               helped(kSeconds, "Predicted times with the first two findings fixed, the first three, and so on."),
               required}};
        }};

// --- All ------------------------------------------------------------------------------------------------------------

constexpr std::array kExplanationFields{
    part("schema", kSchema<kExplanationSchema>),
    field<&Explanation::command>("command", "Command line of the program; empty if unknown."),
    field<&Explanation::simulated>("simulated", "Whether the recording is from a simulated device."),
    field<&Explanation::no_trace>("blind", omit_empty,
                                  "Why nothing was recorded. It is unknown whether a GPU was used."),
    field<&Explanation::profile>("profile", omit_empty, "Profile of the simulated device."),
    field<&Explanation::limits_of>("limits_of", omit_empty, "Machine of the limits, and the time of measurement."),
    field<&Explanation::limits, kListOf<LimitCurve, kCurve>>("limits", "Time of one copy on this machine, by size."),
    field<&Explanation::limit_times, kLimitTimes>("limit_times", optional),
    part("runs", kRuns),
    field<&Explanation::warnings>("warnings"),
    field<&Explanation::processes, kListOf<ProcessExplanation, kProcess>>(
        "processes", "Processes that used a GPU, the longest first."),
};
constexpr Codec kExplanation =
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
