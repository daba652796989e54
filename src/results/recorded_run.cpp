#include "results/recorded_run.hpp"

#include <array>

#include "results/json_shape.hpp"

namespace xferbench {

namespace {

using namespace json;
using enum Rule;

constexpr std::string_view kRecordingVersion1 = "xferbench-recording/1";
constexpr int kMostCode = 255;
constexpr const Shape& kSecondsOfRuns = kListOf<double, kAmount>;

void check_times(Reader& in, void* run) {
  if (as<RecordedRun>(run).end < as<RecordedRun>(run).begin) in.fail("found an end before its begin");
}

constexpr std::array kFields{
    part("schema", kSchema<kRecordingVersion1>),
    field<&RecordedRun::command, kRawTexts>("command", "Words of the program's command line."),
    field<&RecordedRun::started_at, kTime>("started_at"),
    field<&RecordedRun::version>("version", "Of xferbench."),
    field<&RecordedRun::range>("range", if_known, "NVTX range that was asked for; absent: the whole program."),
    field<&RecordedRun::from>("from", if_known, "Seconds from a process's start to that of recording; absent: 0."),
    field<&RecordedRun::pid>("pid", "Of the run that was kept, as all that follows."),
    field<&RecordedRun::begin>("begin", "In nanoseconds of CLOCK_MONOTONIC, as the recordings have it."),
    field<&RecordedRun::end>("end"),
    field<&RecordedRun::bare, kSecondsOfRuns>("bare", if_known, "Of each run of the whole program, unwatched."),
    field<&RecordedRun::watched, kSecondsOfRuns>("watched", if_known, "Of each run of the whole program, watched."),
    field<&RecordedRun::bare_range, kSecondsOfRuns>("bare_range", if_known, "Of the range, unwatched."),
    field<&RecordedRun::exit_code, kWhole<int, 0, kMostCode>>("exit_code", if_known,
                                                              "Absent: 0, or ended by a signal."),
    field<&RecordedRun::signal, kWhole<int, 0, kMostCode>>("signal", if_known, "That ended it; absent: none."),
};
constexpr Shape kRecordedRun = expecting(
    record(kFields,
           "run.json in a folder that xferbench explain --recording FOLDER makes, version 1: how the program was run "
           "whose processes the files *.xfrec are of. Fields are added, never renamed, removed or given another "
           "meaning.",
           check_times),
    "an object with schema, command and times");

}  // namespace

RecordedRun read_recorded_run(const std::string& path) { return record_from_file<RecordedRun>(path, kRecordedRun); }

RecordedRun parse_recorded_run(std::string_view text, std::string_view name) {
  return record_from_text<RecordedRun>(text, name, kRecordedRun);
}

std::string to_json(const RecordedRun& run) { return text_of(kRecordedRun, &run); }

std::string recorded_run_schema() { return schema_of(kRecordedRun); }

}  // namespace xferbench
