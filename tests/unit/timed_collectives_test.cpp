// Waiting for operations of MPI with a timeout, and collectives on top: gather of texts, broadcasts.
#include "ranks/timed_collectives.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "support/forwarding_communicator.hpp"
#include "support/thread_ranks.hpp"

namespace xferbench {
namespace {

const Timeout kPatient{.seconds = 30};

// --- One operation --------------------------------------------------------------------------------------------------

class After final : public Pending {
 public:
  explicit After(std::size_t questions) : left_(questions) {}
  [[nodiscard]] bool done() override { return left_ == 0 || --left_ == 0; }

 private:
  std::size_t left_;
};

struct Never final : Pending {
  [[nodiscard]] bool done() override { return false; }
};

struct Failing final : Pending {
  [[nodiscard]] bool done() override { throw CommunicationError("lost"); }
};

TEST(WaitFor, AsksUntilItIsDone) {
  After operation(500);
  std::size_t idle = 0;
  wait_for(operation, {.seconds = 30, .idle = [&] { ++idle; }}, "the case");
  EXPECT_EQ(idle, 499U);
}

TEST(WaitFor, DoesNotAskTheClockOfWhatIsDone) {
  After operation(1);
  EXPECT_NO_THROW(wait_for(operation, {.seconds = 0}, "the case"));
}

TEST(WaitFor, EndsWithItsPatience) {
  Never operation;
  const auto begin = std::chrono::steady_clock::now();
  try {
    wait_for(operation, {.seconds = 0.05}, "the end of case 3");
    FAIL() << "it is never done";
  } catch (const RankTimeoutError& error) {
    EXPECT_EQ(std::string(error.what()).rfind("the end of case 3: ", 0), 0U) << error.what();
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(elapsed.count(), 0.05);
  EXPECT_LT(elapsed.count(), 5);
}

TEST(WaitFor, SleepsWhereItTakesLong) {
  Never operation;
  std::size_t questions = 0;
  EXPECT_THROW(wait_for(operation, {.seconds = 0.2, .idle = [&] { ++questions; }}, "the case"), RankTimeoutError);
  // 0.2 s with pauses of 200 us, and shorter ones at first. Without pauses there would be a million polls.
  EXPECT_LT(questions, 3000U);
}

TEST(WaitFor, PassesErrorsOn) {
  Failing operation;
  EXPECT_THROW(wait_for(operation, kPatient, "the case"), CommunicationError);
}

// --- Several ranks, each a thread -----------------------------------------------------------------------------------

/// Records the size of the largest gather.
class GatherWatched final : public test::ForwardingCommunicator {
 public:
  explicit GatherWatched(Communicator& ranks) : ForwardingCommunicator(ranks) {}

  [[nodiscard]] PendingPtr gather(std::span<const std::byte> mine, std::span<std::byte> all,
                                  std::span<const std::size_t> sizes) override {
    largest = std::max(largest, all.size());
    return ForwardingCommunicator::gather(mine, all, sizes);
  }

  std::size_t largest = 0;
};

/// Runs the function on `size` ranks. Returns the bytes of the largest gather.
std::size_t as_ranks(int size, const std::function<void(Communicator&)>& function) {
  std::atomic<std::size_t> largest = 0;
  test::ThreadRanks(size).run([&](Communicator& ranks) {
    GatherWatched watched(ranks);
    function(watched);
    if (ranks.rank() == 0) largest = watched.largest;
  });
  return largest;
}

std::string text_of(int rank) {
  return std::string(static_cast<std::size_t>(rank * 7 % 11), static_cast<char>('a' + rank));
}

void expect_texts_of_all(const std::vector<std::string>& texts, const Communicator& ranks) {
  if (ranks.rank() != 0) {
    EXPECT_TRUE(texts.empty());
    return;
  }
  ASSERT_EQ(texts.size(), static_cast<std::size_t>(ranks.size()));
  for (int rank = 0; rank < ranks.size(); ++rank) EXPECT_EQ(texts[static_cast<std::size_t>(rank)], text_of(rank));
}

TEST(CollectiveCalls, GatherTextsOfAllLengths) {
  for (const int size : {1, 2, 5}) {
    as_ranks(size, [](Communicator& ranks) {
      expect_texts_of_all(gather(ranks, text_of(ranks.rank()), kPatient, "texts"), ranks);
    });
  }
}

TEST(CollectiveCalls, GatherNothingOfAnybody) {
  as_ranks(3, [](Communicator& ranks) {
    const std::vector<std::string> texts = gather(ranks, "", kPatient, "texts");
    EXPECT_EQ(texts, std::vector<std::string>(ranks.rank() == 0 ? 3 : 0));
  });
}

TEST(CollectiveCalls, GatherInPartsWhatIsTooLargeForOne) {
  for (const std::size_t at_once : {5U, 8U, 16U, 24U, 25U, 1000U}) {
    // Gathering the sizes of the texts comes first, and is within any realistic limit.
    const std::size_t sizes = 5 * sizeof(std::uint64_t);
    const std::size_t most = as_ranks(5, [&](Communicator& ranks) {
      expect_texts_of_all(gather(ranks, text_of(ranks.rank()), kPatient, "texts", at_once), ranks);
    });
    EXPECT_LE(most, std::max(sizes, at_once)) << at_once;
  }
}

TEST(CollectiveCalls, BroadcastTextsOfAnyRoot) {
  for (const int root : {0, 2}) {
    as_ranks(3, [&](Communicator& ranks) {
      const std::string mine = ranks.rank() == root ? "to all" : "of no interest to anybody";
      EXPECT_EQ(broadcast(ranks, mine, root, kPatient, "a text"), "to all");
      EXPECT_EQ(broadcast(ranks, ranks.rank() == root ? "" : mine, root, kPatient, "a text"), "");
    });
  }
}

TEST(CollectiveCalls, ReduceInPlace) {
  as_ranks(4, [](Communicator& ranks) {
    std::vector<double> values{static_cast<double>(ranks.rank()), -1.0 * ranks.rank()};
    all_reduce(ranks, values, Reduction::sum, kPatient, "sums");
    EXPECT_EQ(values, (std::vector<double>{6, -6}));
    values = {static_cast<double>(ranks.rank()), -1.0 * ranks.rank()};
    all_reduce(ranks, values, Reduction::max, kPatient, "largest");
    EXPECT_EQ(values, (std::vector<double>{3, 0}));
  });
}

TEST(CollectiveCalls, SayWhatWasWaitedForWhereSomebodyIsMissing) {
  as_ranks(3, [](Communicator& ranks) {
    if (ranks.rank() == 1) return;
    EXPECT_THROW(barrier(ranks, {.seconds = 0.05}, "the start"), RankTimeoutError);
    EXPECT_THROW((void)gather(ranks, "text", {.seconds = 0.05}, "texts"), RankTimeoutError);
  });
}

/// Operations that never complete, as with a silent rank. Remembers the memory that they received.
class Unending final : public test::ForwardingCommunicator {
 public:
  explicit Unending(Communicator& ranks) : ForwardingCommunicator(ranks) {}

  [[nodiscard]] PendingPtr broadcast(std::span<std::byte> data, int) override { return give_up(data); }
  [[nodiscard]] PendingPtr gather(std::span<const std::byte> mine, std::span<std::byte>,
                                  std::span<const std::size_t>) override {
    return give_up({const_cast<std::byte*>(mine.data()), mine.size()});
  }
  [[nodiscard]] PendingPtr all_reduce(std::span<double> values, Reduction) override {
    return give_up(std::as_writable_bytes(values));
  }

  std::span<std::byte> memory;

 private:
  PendingPtr give_up(std::span<std::byte> given) {
    memory = given;
    return std::make_unique<Never>();
  }
};

TEST(CollectiveCalls, LeaveTheirMemoryToMpiWhereNobodyAnswers) {
  as_ranks(1, [](Communicator& ranks) {
    const Timeout short_one{.seconds = 0.01};
    std::vector<double> values(100);
    const std::vector<std::function<void(Communicator&)>> calls{
        [&](Communicator& all) { all_reduce(all, values, Reduction::max, short_one, "values"); },
        [&](Communicator& all) { static_cast<void>(broadcast(all, "a text", 0, short_one, "a text")); },
        [&](Communicator& all) { static_cast<void>(gather(all, "a text", short_one, "texts")); }};
    for (const auto& call : calls) {
      Unending unending(ranks);
      EXPECT_THROW(call(unending), RankTimeoutError);
      // MPI may write to the memory late. It must still belong to the operation, and not to a newer allocation.
      std::vector<std::vector<std::byte>> others;
      for (int i = 0; i < 100; ++i) others.emplace_back(unending.memory.size());
      std::ranges::fill(unending.memory, std::byte{0xff});
      for (const auto& other : others) EXPECT_EQ(std::ranges::count(other, std::byte{0xff}), 0);
    }
    EXPECT_EQ(values, std::vector<double>(100)) << "whose owner has gone on";
  });
}

}  // namespace
}  // namespace xferbench
