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
    field<&RecordedRun::command, kRawTexts>("command"),
    field<&RecordedRun::started_at>("started_at"),
    field<&RecordedRun::version>("version"),
    field<&RecordedRun::range>("range", if_known),
    field<&RecordedRun::from>("from", if_known),
    field<&RecordedRun::pid>("pid"),
    field<&RecordedRun::begin>("begin"),
    field<&RecordedRun::end>("end"),
    field<&RecordedRun::bare, kSecondsOfRuns>("bare", if_known),
    field<&RecordedRun::watched, kSecondsOfRuns>("watched", if_known),
    field<&RecordedRun::bare_range, kSecondsOfRuns>("bare_range", if_known),
    field<&RecordedRun::exit_code, kWhole<int, 0, kMostCode>>("exit_code", if_known),
    field<&RecordedRun::signal, kWhole<int, 0, kMostCode>>("signal", if_known),
};
constexpr Shape kRecordedRun{
    .expected = "an object with schema, command and times", .is_object = true, .fields = kFields, .end = check_times};

}  // namespace

RecordedRun read_recorded_run(const std::string& path) { return record_from_file<RecordedRun>(path, kRecordedRun); }

RecordedRun parse_recorded_run(std::string_view text, std::string_view name) {
  return record_from_text<RecordedRun>(text, name, kRecordedRun);
}

std::string to_json(const RecordedRun& run) { return text_of(kRecordedRun, &run); }

}  // namespace xferbench
