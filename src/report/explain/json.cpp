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
    field<&LimitTimes::copy_call>("copy_call", if_known, "On the host, of an asynchronous copy."),
    field<&LimitTimes::launch_call>("launch_call", if_known, "On the host, of a kernel."),
    field<&LimitTimes::kernel_start>("kernel_start", if_known, "From a launch's call to the kernel's begin."),
    field<&LimitTimes::wake>("wake", if_known, "From the end of a kernel to that of the call that waits for it."),
    field<&LimitTimes::handover>("handover", if_known, "From an operation to the next that waits for it."),
    field<&LimitTimes::graph_call>("graph_call", if_known, "On the host, of a small graph's launch."),
    field<&LimitTimes::graph_node>("graph_node", if_known, "On the device, for an empty kernel more in a graph."),
    field<&LimitTimes::pin_per_byte>("pin_per_byte", if_known, "To register and unregister memory again."),
};
constexpr Shape kLimitTimes =
    on_one_line(record(kLimitTimesFields, "What else this machine takes, as far as it was measured."));

constexpr std::array kRunsFields{
    field<&Explanation::bare_runs, kSeconds>("bare", "The whole program, each time that it ran unwatched."),
    field<&Explanation::watched_runs, kSeconds>("watched", "The same watched."),
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
  Field only = part("watched_over_bare", kWatching, if_known, "How many times as long it took watched.");
  only.from = [](const void* stretch, bool) -> const void* {
    return as<Stretch>(stretch).watching() ? stretch : nullptr;
  };
  return only;
}
constexpr std::array kStretchFields{
    field<&Stretch::range>("range", if_known, "Its name; absent: the whole program."),
    field<&Stretch::times>("times", "How often the range was there; all count together."),
    field<&Stretch::seconds>("seconds", "Wall time, watched."),
    field<&Stretch::bare>("bare", if_known, "Unwatched, the median. Gains are relative to it, where it is known."),
    watching_field(),
    field<&Stretch::replayed>("replayed", if_known, "What the replay says of the recording with nothing changed."),
};
constexpr Shape kStretch =
    on_one_line(record(kStretchFields, "What is explained: the whole program, or a range of NVTX."));

constexpr std::array kCountsFields{
    field<&Counts::copies>("copies"),
    field<&Counts::kernels>("kernels"),
    field<&Counts::fills>("fills"),
    field<&Counts::calls>("calls", "Of CUDA, that copy, launch, allocate or wait."),
    field<&Counts::waits>("waits", "Those among them that wait for the GPU."),
    field<&Counts::graph_nodes>("graph_nodes", "Copies, kernels and fills that were nodes of a graph."),
};
constexpr Shape kCounts = on_one_line(record(kCountsFields));

constexpr Shape kShares{.expected = "an object",
                        .help = "Where the stretch's time went, in seconds that add up to it.",
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
    field<&Traffic::bytes>("bytes", "Of all together."),
    field<&Traffic::seconds>("seconds", "The sum of their times."),
    field<&Traffic::busy>("busy_seconds", "In which at least one of them ran."),
    field<&Traffic::reachable>("reachable_seconds", if_known, "Of this machine, for just these sizes one by one."),
    field<&Traffic::pinned>("pinned_seconds", if_known, "The same from and to pinned memory."),
};
constexpr Shape kTraffic = on_one_line(record(kTrafficFields));

constexpr std::array kPlaceFields{
    field<&Place::call>("call", if_known, "Of CUDA."),
    field<&Place::range>("range", if_known, "The innermost range of NVTX around it."),
    field<&Place::kernel_before>("kernel_before", if_known, "In the same stream."),
    field<&Place::kernel_after>("kernel_after", if_known),
    field<&Place::stack>("stack", if_known, "Of the host, the innermost first, where it was recorded."),
};
constexpr Shape kPlace = record(kPlaceFields, "Where in the program most of it comes from.");

constexpr std::array kFindingFields{
    field<&Finding::kind>("kind"),
    field<&Finding::what, kText>("what", "What was found: a sentence, as the next two."),
    field<&Finding::mend, kText>("mend", "What to do."),
    field<&Finding::assumption, kText>("assumption", "Under which the gain holds."),
    field<&Finding::place, kPlace>("place"),
    field<&Finding::count>("count"),
    field<&Finding::bytes>("bytes"),
    field<&Finding::each_size>("each_size", if_known, "Of each copy, where all are of one size."),
    field<&Finding::at_most>("at_most", "The gain may be less."),
    field<&Finding::seconds_after>("seconds_after", if_known, "The stretch with this mended alone."),
    field<&Finding::seconds_after_all>("seconds_after_all", if_known, "With all findings before it mended, too."),
};
constexpr Shape kFinding = record(kFindingFields);

constexpr std::array kCopyFields{
    field<&CopyPoint::kind>("kind"),
    field<&CopyPoint::host>("memory"),
    field<&CopyPoint::bytes>("bytes", "Of each."),
    field<&CopyPoint::seconds>("seconds", "What each took, on average."),
    field<&CopyPoint::count>("count", "Copies of this kind and size that took about as long."),
};
constexpr Shape kCopy = on_one_line(record(kCopyFields));

constexpr std::array kSpanFields{
    field<&TimelineSpan::track>("track", "inside: copies inside the GPU and fills. managed: pages touched."),
    field<&TimelineSpan::device>("device", "Of what ran on one."),
    field<&TimelineSpan::number>("number", "Of the stream, or of the thread."),
    field<&TimelineSpan::name, kText>("name"),
    field<&TimelineSpan::bytes>("bytes"),
    field<&TimelineSpan::begin, kNumber>("begin", "From the beginning of the stretch."),
    field<&TimelineSpan::end, kNumber>("end"),
};
constexpr Shape kSpan = on_one_line(record(kSpanFields));
constexpr std::array kTimelineFields{
    field<&Timeline::from, kNumber>("from", "From the beginning of the stretch."),
    field<&Timeline::to, kNumber>("to"),
    field<&Timeline::spans, kListOf<TimelineSpan, kSpan>>("spans", "All that began in it, by begin."),
};
constexpr Shape kTimeline =
    record(kTimelineFields, "What ran when in the first part of the stretch; --timeline writes all of it.");

constexpr std::array kProcessFields{
    field<&ProcessExplanation::pid>("pid"),
    field<&ProcessExplanation::command, kText>("command"),
    field<&ProcessExplanation::gpus>("gpus", "Names of those that it used."),
    field<&ProcessExplanation::ending>("ending", if_known, "How recording ended, where the process went on."),
    field<&ProcessExplanation::notes>("notes", "What limits what is said here."),
    field<&ProcessExplanation::stretch, kStretch>("stretch"),
    field<&ProcessExplanation::counts, kCounts>("counts"),
    field<&ProcessExplanation::shares, kShares>("shares"),
    field<&ProcessExplanation::traffic, kListOf<Traffic, kTraffic>>(
        "traffic", "By direction, memory and class of size, most time first."),
    field<&ProcessExplanation::withheld>("withheld", if_known, "Why no gains are told; absent where they are."),
    field<&ProcessExplanation::findings, kListOf<Finding, kFinding>>("findings", "The largest gain first."),
    field<&ProcessExplanation::small_findings>("small_findings", "Left out, as they gain less than least_share."),
    field<&ProcessExplanation::least_share>("least_share", "Of the wall time, for which a gain is told."),
    field<&ProcessExplanation::together, kSeconds>("together",
                                                   "With the first two findings mended, the first three, and so on."),
    field<&ProcessExplanation::seconds_mended>("seconds_mended", if_known, "With just the kinds that were asked for."),
    field<&ProcessExplanation::mended>("mended", if_known, "The kinds that were asked for."),
    field<&ProcessExplanation::mended_at_most>("mended_at_most", if_known, "That gain may be less."),
    field<&ProcessExplanation::mended_missing>("mended_missing", if_known, "Asked for, and nothing was found."),
    field<&ProcessExplanation::cloud, kListOf<CopyPoint, kCopy>>("cloud",
                                                                 "Of very many sizes the rarest are left out."),
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
              {"answer", helped(kText, "What transfers cost and what mending gains, in a sentence for people."),
               required}};
        }};

// --- All ------------------------------------------------------------------------------------------------------------

constexpr std::array kExplanationFields{
    part("schema", kSchema<kExplanationSchema>),
    field<&Explanation::command>("command", "The program's; empty where it is not known."),
    field<&Explanation::simulated>("simulated", "Whether the recording is of a simulated device."),
    field<&Explanation::blind>("blind", if_known,
                               "Why nothing could be recorded: whether a GPU was used is not known."),
    field<&Explanation::profile>("profile", if_known, "Of the simulated device."),
    field<&Explanation::limits_of>("limits_of", if_known, "Whose limits, and when they were measured."),
    field<&Explanation::limits, kListOf<LimitCurve, kCurve>>("limits", "What one copy takes on this machine."),
    field<&Explanation::limit_times, kLimitTimes>("limit_times", optional),
    part("runs", kRuns),
    field<&Explanation::warnings>("warnings"),
    field<&Explanation::processes, kListOf<ProcessExplanation, kProcess>>("processes",
                                                                          "That used a GPU, the longest first."),
};
constexpr Shape kExplanation = record(kExplanationFields,
                                      "What xferbench explain --json writes, version 1. Fields are added, never "
                                      "renamed or removed. What is unknown is absent. Times are seconds, sizes bytes.");

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
