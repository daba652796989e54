// Recordings as timelines: Chrome trace files, and the chart at the top of an explanation.
#include "explain/timeline.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/units.hpp"
#include "report/explain/timeline.hpp"
#include "support/chrome_trace.hpp"
#include "support/golden.hpp"
#include "support/synthetic_recording.hpp"
#include "unit/support.hpp"

namespace xferbench::explain {
namespace {

using Json = nlohmann::json;
using recording::CopyKind;
using recording::Memory;
using recording::StreamFlag;

Recording two_steps() {
  SyntheticRecording made;
  const std::uint32_t s = made.stream(StreamFlag::non_blocking);
  for (int step = 0; step < 2; ++step) {
    made.begin_range("step");
    made.begin_range("load");
    made.copy(CopyKind::h2d, Memory::pageable, MiB, s);
    made.end_range();
    made.kernel("gemm", 100e-6, s);
    made.copy(CopyKind::d2h, Memory::pinned, 4, s);
    made.wait(s);
    made.end_range();
  }
  return made.finish();
}

std::string trace_of(const Recording& recording, const Window& window) {
  const std::vector<RecordedWindow> all{{recording, window}};
  std::string text;
  write_chrome_trace(all, [&text](std::string_view piece) { text += piece; });
  return text;
}

TEST(ExplainTimeline, HasRowsForEnginesThreadsAndRanges) {
  const Recording recording = two_steps();
  const Json file = Json::parse(trace_of(recording, window_of(recording, std::nullopt)));
  EXPECT_EQ(test::names_of_tracks(file), (std::vector<std::string>{"ranges of thread 1", "ranges of thread 1 2",
                                                                   "calls of thread 1", "H2D", "kernel", "D2H"}))
      << "ranges in ranges are beneath them";
  std::map<std::string, int> counts;
  for (const Json& e : file["traceEvents"]) {
    if (e["ph"] == "X") ++counts[e["name"]];
  }
  EXPECT_EQ(counts["copy H2D, pageable"], 2);
  EXPECT_EQ(counts["copy D2H, pinned"], 2);
  EXPECT_EQ(counts["gemm"], 2);
  EXPECT_EQ(counts["step"], 2);
  EXPECT_EQ(file["otherData"].contains("SIMULATED"), recording.process.backend == recording::Backend::simulated);
}

TEST(ExplainTimeline, OfOneCopyIsThisText) {
  SyntheticRecording made;
  const std::uint32_t s = made.stream(StreamFlag::non_blocking);
  made.copy(CopyKind::h2d, Memory::pinned, MiB, s);
  made.wait(s);
  const Recording recording = made.finish();
  const std::string text = trace_of(recording, window_of(recording, std::nullopt));
  test::expect_golden("explain/timeline.json", text.substr(0, text.find(",\"tool\":")));  // before the version
  EXPECT_TRUE(text.ends_with("}\n"));
}

TEST(ExplainTimeline, MarksWhatIsSimulatedAndKeepsNamesInTheirPlace) {
  Recording recording = two_steps();
  recording.process.backend = recording::Backend::simulated;
  recording.names.emplace_back("h200\x1b]0;renamed\x07\xFF");
  recording.process.profile = static_cast<recording::NameId>(recording.names.size() - 1);
  recording.kernels.front().name = recording.process.profile;
  const std::string text = trace_of(recording, window_of(recording, std::nullopt));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  const Json file = Json::parse(text);
  EXPECT_NE(file["otherData"]["SIMULATED"].get<std::string>().find("not measurements"), std::string::npos);
}

TEST(ExplainTimeline, IsClippedToTheWindow) {
  const Recording recording = two_steps();
  const Window whole = window_of(recording, std::nullopt);
  Window window = whole;
  window.begin = recording.kernels[0].on.begin + 10'000;
  window.end = window.begin + 20'000;
  std::set<Track> tracks;
  each_span(recording, window, [&tracks](const TimelineSpan& span) {
    tracks.insert(span.track);
    EXPECT_GE(span.begin, 0);
    EXPECT_LE(span.end, 20e-6 + 1e-12);
    return true;
  });
  EXPECT_TRUE(tracks.contains(Track::kernel));
  EXPECT_FALSE(tracks.contains(Track::h2d)) << "it was done before";
}

TEST(ExplainTimeline, TheFirstPartSaysWhereItEnds) {
  const Recording recording = two_steps();
  const Window window = window_of(recording, std::nullopt);
  const Timeline all = timeline_of(recording, window, 1000);
  EXPECT_NEAR(all.to, 1e-9 * static_cast<double>(window.end - window.begin), 1e-12);
  ASSERT_GT(all.spans.size(), 6U);
  EXPECT_DOUBLE_EQ(all.from, all.spans.front().begin);
  const Timeline some = timeline_of(recording, window, 5);
  EXPECT_EQ(some.spans.size(), 5U);
  EXPECT_DOUBLE_EQ(some.to, all.spans[5].begin);
  EXPECT_TRUE(timeline_of(Recording{}, {.begin = 1, .end = 2}, 5).spans.empty());
}

TEST(ExplainTimeline, OfSeveralProcessesHasOneTime) {
  const Recording first = two_steps();
  const Recording second = two_steps();
  Window later = window_of(second, std::nullopt);
  const Window window = window_of(first, std::nullopt);
  later.begin += 50'000;
  std::string text;
  const std::vector<RecordedWindow> both{{second, later}, {first, window}};
  write_chrome_trace(both, [&text](std::string_view piece) { text += piece; });
  std::map<int, double> begins;
  std::map<int, double> ends;
  const Json file = Json::parse(text);
  for (const Json& e : file["traceEvents"]) {
    if (e["ph"] != "X" || e["cat"] != "kernel") continue;
    begins.try_emplace(e["pid"], e["ts"].get<double>());
    ends[e["pid"]] = e["ts"].get<double>() + e["dur"].get<double>();
  }
  ASSERT_EQ(begins.size(), 2U);
  EXPECT_DOUBLE_EQ(begins.begin()->second, begins.rbegin()->second);
  EXPECT_DOUBLE_EQ(ends.begin()->second, ends.rbegin()->second);
}

}  // namespace
}  // namespace xferbench::explain
