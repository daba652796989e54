#include "results/recorded_run.hpp"

#include <array>

#include "results/json_codec.hpp"

namespace xferbench {

namespace {

using namespace json;
using enum Rule;

constexpr std::string_view kRecordingVersion1 = "xferbench-recording/1";
constexpr int kMostCode = 255;
constexpr const Codec& kSecondsOfRuns = kListOf<double, kAmount>;

void check_times(Reader& in, void* run) {
  if (as<RecordedRun>(run).end < as<RecordedRun>(run).begin) in.fail("found an end before its begin");
}

constexpr std::array kFields{
    part("schema", kSchema<kRecordingVersion1>),
    field<&RecordedRun::command, kRawTexts>("command", "Command line of the program."),
    field<&RecordedRun::started_at, kTime>("started_at"),
    field<&RecordedRun::version>("version", "Version of xferbench."),
    field<&RecordedRun::range>("range", omit_empty, "NVTX range of --range; absent: the whole program."),
    field<&RecordedRun::from>("from", omit_empty,
                              "Seconds from the start of a process to the start of recording; absent: 0."),
    field<&RecordedRun::pid>("pid", "Process of the stored run. The following fields belong to the same run."),
    field<&RecordedRun::begin>("begin", "Nanoseconds of CLOCK_MONOTONIC, as in the recordings."),
    field<&RecordedRun::end>("end"),
    field<&RecordedRun::baseline, kSecondsOfRuns>("bare", omit_empty,
                                                  "Wall time of each baseline run of the whole program."),
    field<&RecordedRun::profiled, kSecondsOfRuns>("watched", omit_empty,
                                                  "Wall time of each profiled run of the whole program."),
    field<&RecordedRun::baseline_range, kSecondsOfRuns>("bare_range", omit_empty,
                                                        "Wall time of the range in each baseline run."),
    field<&RecordedRun::exit_code, kWhole<int, 0, kMostCode>>(
        "exit_code", omit_empty, "Exit code of the program; absent: 0, or killed by a signal."),
    field<&RecordedRun::signal, kWhole<int, 0, kMostCode>>("signal", omit_empty,
                                                           "Signal that killed the program; absent: none."),
};
constexpr Codec kRecordedRun =
    expecting(record(kFields,
                     "run.json in a folder of xferbench explain --recording FOLDER, version 1: how the program ran. "
                     "The files *.xfrec next to it are recordings of its processes. Fields are added, never renamed, "
                     "removed or given another meaning.",
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
