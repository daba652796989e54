// Traces from any source, and the concurrency that they show.
#include "model/occupancy.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace xferbench {
namespace {

using Row = Activity::Row;

Activity activity(Row row, double begin, double end, unsigned stream = 0) {
  Activity a;
  a.row = row;
  a.stream = stream;
  a.begin = begin;
  a.end = end;
  return a;
}

Trace trace_of(std::vector<Activity> activities) { return {"simulated", std::move(activities)}; }

// --- Making traces ---------------------------------------------------------------------------------------------------

TEST(MakeTrace, BeginsWithTheFirstActivityAndSorts) {
  const Trace t = make_trace("events", {activity(Row::kernel, 7, 9), activity(Row::host, 5, 6)});
  EXPECT_EQ(t.source, "events");
  ASSERT_EQ(t.activities.size(), 2U);
  EXPECT_EQ(t.activities[0].row, Row::host);
  EXPECT_DOUBLE_EQ(t.activities[0].begin, 0);
  EXPECT_DOUBLE_EQ(t.activities[1].begin, 2);
  EXPECT_DOUBLE_EQ(t.activities[1].end, 4);
  EXPECT_TRUE(make_trace("events", {}).activities.empty());
}

TEST(MakeTrace, NumbersStreamsInOrderOfFirstUseByTheDevice) {
  const Trace t = make_trace("cupti", {activity(Row::host, 0, 1, 99), activity(Row::h2d, 2, 3, 17),
                                       activity(Row::h2d, 3, 4, 5), activity(Row::kernel, 4, 5, 17)});
  std::vector<unsigned> streams;
  for (const Activity& a : t.activities) streams.push_back(a.stream);
  EXPECT_EQ(streams, (std::vector<unsigned>{0, 0, 1, 0}));
}

Activity on_gpu(unsigned gpu, Activity a) {
  a.gpu = gpu;
  return a;
}

TEST(MakeTrace, TellsStreamsOfSeveralGpusApart) {
  const Trace t = make_trace(
      "cupti", {activity(Row::h2d, 0, 1, 7), on_gpu(1, activity(Row::h2d, 1, 2, 7)), activity(Row::d2h, 2, 3, 7)});
  EXPECT_EQ(t.activities[0].stream, 0U);
  EXPECT_EQ(t.activities[1].stream, 1U);
  EXPECT_EQ(t.activities[2].stream, 0U);
}

TEST(WithoutOverlaps, LeavesTheEnginesOfOtherGpusAlone) {
  const auto all = without_overlaps({activity(Row::h2d, 0, 10), on_gpu(1, activity(Row::h2d, 1, 12))});
  EXPECT_DOUBLE_EQ(all[1].begin, 1);
}

TEST(Occupancy, CountsCopiesBetweenGpus) {
  const Trace t = trace_of({activity(Row::peer, 1, 5), on_gpu(1, activity(Row::peer, 3, 7))});
  EXPECT_DOUBLE_EQ(model::makespan(t), 6);
  EXPECT_DOUBLE_EQ(model::concurrency(t), 8. / 6);
}

TEST(WithoutOverlaps, AnIntervalBeginsWhenItsEngineIsFree) {
  const auto all = without_overlaps({activity(Row::h2d, 0, 10), activity(Row::h2d, 1, 18), activity(Row::h2d, 20, 25)});
  EXPECT_DOUBLE_EQ(all[0].begin, 0);
  EXPECT_DOUBLE_EQ(all[1].begin, 10);
  EXPECT_DOUBLE_EQ(all[1].end, 18);
  EXPECT_DOUBLE_EQ(all[2].begin, 20) << "nothing was in its way";
}

TEST(WithoutOverlaps, GoesByTheOrderOfEnds) {
  // Both copies were ready at 0; the one that ends first ran first.
  const auto all = without_overlaps({activity(Row::d2h, 0, 20, 1), activity(Row::d2h, 0, 10, 2)});
  EXPECT_EQ(all[0].stream, 2U);
  EXPECT_DOUBLE_EQ(all[0].begin, 0);
  EXPECT_DOUBLE_EQ(all[1].begin, 10);
}

TEST(WithoutOverlaps, LeavesOtherEnginesAndTheHostAlone) {
  const auto all = without_overlaps(
      {activity(Row::h2d, 0, 10), activity(Row::d2h, 5, 12), activity(Row::host, 0, 20), activity(Row::host, 1, 21)});
  for (const Activity& a : all) EXPECT_LT(a.begin, 6);
}

TEST(WithoutOverlaps, NeverTurnsAnIntervalAround) {
  const auto all = without_overlaps({activity(Row::h2d, 0, 10), activity(Row::h2d, 1, 10)});
  for (const Activity& a : all) EXPECT_LE(a.begin, a.end);
}

// --- Occupancy -------------------------------------------------------------------------------------------------------

TEST(Occupancy, OfAPipelineOfTwoChunks) {
  const Trace t = trace_of({activity(Row::host, 0, 1), activity(Row::h2d, 2, 4), activity(Row::h2d, 4, 6),
                            activity(Row::kernel, 4, 5), activity(Row::kernel, 6, 7), activity(Row::d2h, 5, 7),
                            activity(Row::d2h, 7, 9)});
  EXPECT_DOUBLE_EQ(model::makespan(t), 7) << "of the device, without the host's calls";
  EXPECT_DOUBLE_EQ(model::busy(t, Row::h2d), 4);
  EXPECT_DOUBLE_EQ(model::covered(t, {Row::h2d, Row::d2h}), 7);
  EXPECT_DOUBLE_EQ(model::concurrency(t), 10. / 7);
  EXPECT_DOUBLE_EQ(model::kernel_concurrency(t), 1);
  EXPECT_EQ(model::gaps(t, Row::h2d).count, 0U);
  EXPECT_EQ(model::gaps(t, Row::kernel).count, 1U);
  EXPECT_DOUBLE_EQ(model::gaps(t, Row::kernel).total, 1);
}

TEST(Occupancy, KernelsAtOnceCountEach) {
  const Trace t = trace_of({activity(Row::kernel, 0, 4), activity(Row::kernel, 1, 3), activity(Row::kernel, 3, 6)});
  EXPECT_DOUBLE_EQ(model::busy(t, Row::kernel), 9);
  EXPECT_DOUBLE_EQ(model::covered(t, {Row::kernel}), 6);
  EXPECT_DOUBLE_EQ(model::kernel_concurrency(t), 1.5);
  EXPECT_EQ(model::gaps(t, Row::kernel).count, 0U);
}

TEST(Occupancy, RoundingIsNoGap) {
  const Trace t = trace_of({activity(Row::h2d, 0, 1), activity(Row::h2d, 1 + 1e-12, 2)});
  EXPECT_EQ(model::gaps(t, Row::h2d).count, 0U);
}

TEST(Occupancy, OfNothingIsZero) {
  const Trace t = trace_of({activity(Row::host, 0, 1)});
  EXPECT_EQ(model::makespan(t), 0);
  EXPECT_EQ(model::concurrency(t), 0);
  EXPECT_EQ(model::kernel_concurrency(t), 0);
  EXPECT_EQ(model::gaps(t, Row::d2h).count, 0U);
}

}  // namespace
}  // namespace xferbench
