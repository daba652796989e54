// Names of pipeline strategies, and how many operations they enqueue.
#include "scenarios/overlap/pipelines.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

namespace xferbench::test {
namespace {

ChunkedWork::Shape chunks(std::size_t n, std::size_t rounds = 1, std::size_t slots = 0) {
  return {.bytes = 1 << 20, .chunks = n, .rounds = rounds, .slots = slots};
}

TEST(StrategyWords, AreFoundAndDiffer) {
  std::set<std::pair<Strategy, bool>> meanings;
  for (const StrategyWord& w : kStrategyWords) {
    EXPECT_EQ(&strategy_word(w.word), &w);
    EXPECT_TRUE(meanings.emplace(w.strategy, w.graph).second) << w.word << " means the same as another";
    EXPECT_EQ(w.graph, w.word.starts_with("graph")) << w.word;
  }
  EXPECT_EQ(strategy_word("graph").strategy, Strategy::engines) << "the fastest";
  EXPECT_EQ(strategy_word("graph-double-buffer").strategy, Strategy::double_buffer);
}

TEST(StrategyWords, AnUnknownOneIsAMistakeInTheProgram) {
  EXPECT_THROW(static_cast<void>(strategy_word("stream")), std::logic_error);
  EXPECT_THROW(static_cast<void>(strategy_word("")), std::logic_error);
}

TEST(OperationsOf, StreamsAreThoseOfTheFullestStream) {
  const PipelineShape four{.strategy = Strategy::streams, .streams = 4};
  EXPECT_EQ(operations_of(chunks(32), four), 8U * 3);
  EXPECT_EQ(operations_of(chunks(33), four), 9U * 3) << "one stream has a chunk more";
  EXPECT_EQ(operations_of(chunks(1), four), 3U);
  EXPECT_EQ(operations_of(chunks(33, 3), four), 25U * 3) << "99 chunks";
  ChunkedWork::Shape work = chunks(32);
  work.kernels_per_chunk = 5;
  EXPECT_EQ(operations_of(work, four), 8U * 7);
}

TEST(OperationsOf, TheDefaultStreamHasThemAll) {
  const PipelineShape shape{.strategy = Strategy::streams, .streams = 4, .stream_kind = StreamKind::legacy_default};
  EXPECT_EQ(operations_of(chunks(32), shape), 32U * 3);
}

TEST(OperationsOf, EnginesAreThoseOfTheKernelsStreamWithItsEvents) {
  const PipelineShape engines{.strategy = Strategy::engines};
  EXPECT_EQ(operations_of(chunks(32), engines), 32U * 3) << "a wait, a kernel, a record";
  EXPECT_EQ(operations_of(chunks(32, 1, 4), engines), 32U * 5) << "also a wait and a record for the slot";
  EXPECT_EQ(operations_of(chunks(32, 1, 32), engines), 32U * 3) << "as many slots as chunks are no limit";
  EXPECT_EQ(operations_of(chunks(32, 3, 32), engines), 96U * 5) << "but they are one for several rounds";
}

TEST(OperationsOf, ABatchSharesTheEventsOfItsCopies) {
  const PipelineShape batch{.strategy = Strategy::batch, .batch = 8};
  EXPECT_EQ(operations_of(chunks(32), batch), 32U + 2 * 4);
  EXPECT_EQ(operations_of(chunks(33), batch), 33U + 2 * 5);
}

TEST(OperationsOf, AReplayIsOne) {
  for (const Strategy s : {Strategy::streams, Strategy::engines, Strategy::double_buffer, Strategy::batch}) {
    EXPECT_EQ(operations_of(chunks(256, 10, 2), {.strategy = s, .graph = true}), 1U);
  }
}

TEST(OperationsOf, WithoutChunksThereAreFew) {
  EXPECT_EQ(operations_of(chunks(1), {.strategy = Strategy::zero_copy}), 1U);
  EXPECT_EQ(operations_of(chunks(1), {.strategy = Strategy::serial}), 3U);
}

}  // namespace
}  // namespace xferbench::test
