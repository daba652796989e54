// RankLockstep, which starts passes of all ranks at the same moment, on thread ranks with virtual skewed clocks.
#include "ranks/rank_lockstep.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "ranks/modelled_network.hpp"
#include "support/thread_ranks.hpp"
#include "support/virtual_hosts.hpp"

namespace xferbench::test {
namespace {

constexpr int kRanks = 5;

struct SteppingRank {
  SteppingRank(Communicator& ranks, const std::vector<int>& nodes, Timeout timeout)
      : network(ranks, right, nodes),
        host(right, 0.3 * ranks.rank(), 20e-6 * ranks.rank()),
        clock(network, host),
        pace(network, host, clock, timeout, [this] { return interrupted ? 2 : 0; }) {}

  /// Runs one pass of `takes` seconds. The rank needs `needs` seconds to prepare, and has announced `says`. Returns
  /// whether the pass counts on all ranks.
  bool pass(double needs = 0, bool good = true, double says = 20e-6, double takes = 1e-3) {
    pace.agree_on_start(says, takes);
    right.advance(needs);
    pace.wait_for_start();
    began = right.now();
    right.advance(takes);
    return pace.agree_on_pass(good);
  }
  [[nodiscard]] int number() const { return network.rank(); }

  VirtualHost right{};
  ModelledNetwork network;
  SkewedHost host;
  CommonClock clock;
  bool interrupted = false;
  RankLockstep pace;
  double began = 0;  // begin of the last pass in true time
};

/// Runs the body at the begin of a case on five ranks, after three clock synchronisations.
void in_step(const std::function<void(SteppingRank&)>& body, const Timeout& timeout = {.seconds = 60},
             ThreadRanks* threads = nullptr) {
  const std::vector<int> nodes({0, 0, 1, 1, 1});
  ThreadRanks own(kRanks);
  (threads != nullptr ? *threads : own).run([&](Communicator& ranks) {
    SteppingRank rank(ranks, nodes, timeout);
    for (int call = 0; call < 3; ++call) {
      rank.clock.synchronise(timeout);
      rank.right.advance(1);
    }
    rank.pace.begin_case("memcpy/size=1MiB");
    body(rank);
  });
}

TEST(RankLockstep, AllStartWithinTheUncertaintyOfTheirClocks) {
  std::array<std::array<double, 20>, kRanks> began{};
  std::atomic<double> uncertainty = 0;
  in_step([&](SteppingRank& rank) {
    for (double& moment : began.at(static_cast<std::size_t>(rank.number()))) {
      EXPECT_TRUE(rank.pass());
      moment = rank.began;
      EXPECT_NEAR(rank.pace.last_pass().begin, 0, 1e-9);
      EXPECT_NEAR(rank.pace.last_pass().end, 1e-3, 1e-6);
    }
    rank.pace.answer_questions();
    EXPECT_EQ(rank.pace.tally().void_passes, 0U);
    EXPECT_FALSE(rank.pace.question_mismatch());
    EXPECT_GE(rank.pace.clock_uncertainty(), rank.clock.line().uncertainty) << "the largest of all";
    if (rank.number() == 0) uncertainty = rank.pace.clock_uncertainty();
  });
  EXPECT_LT(uncertainty, 15e-6);
  for (std::size_t pass = 0; pass < 20; ++pass) {
    std::vector<double> moments;
    for (const auto& rank : began) moments.push_back(rank.at(pass));
    const auto [first, last] = std::ranges::minmax(moments);
    EXPECT_LE(last - first, 2 * uncertainty) << pass;
    if (pass > 0) {
      EXPECT_GT(first, began[0].at(pass - 1) + 1e-3);
    }
  }
}

TEST(RankLockstep, AStartWaitsForWhoeverNeedsTheMostTime) {
  in_step([](SteppingRank& rank) {
    const double before = rank.right.now();
    EXPECT_TRUE(rank.number() == 3 ? rank.pass(2e-3, true, 2e-3) : rank.pass());
    EXPECT_GT(rank.began, before + 2e-3);
    EXPECT_LT(rank.began, before + 2.2e-3);
    rank.pace.answer_questions();
  });
}

TEST(RankLockstep, ALateRankMakesThePassVoidForAllAndItIsRepeated) {
  in_step([](SteppingRank& rank) {
    EXPECT_TRUE(rank.pass());
    const double before = rank.pace.slack();
    EXPECT_FALSE(rank.pass(rank.number() == 3 ? 2e-3 : 0));
    EXPECT_GT(rank.pace.slack(), before) << "more time, in case it was that";
    EXPECT_TRUE(rank.pass());
    EXPECT_EQ(rank.pace.tally().void_passes, 1U);
    EXPECT_EQ(rank.pace.tally().late_passes, rank.number() == 3 ? 1U : 0U);
    EXPECT_FALSE(rank.pace.question_mismatch());
    rank.pace.answer_questions();
    rank.pace.begin_case("the next");
    EXPECT_EQ(rank.pace.tally().void_passes, 0U);
    rank.pace.answer_questions();
  });
}

TEST(RankLockstep, APassThatIsNotGoodAtOneRankIsRepeatedByAllAndNobodyWasLate) {
  in_step([](SteppingRank& rank) {
    EXPECT_FALSE(rank.pass(0, rank.number() != 1));
    EXPECT_TRUE(rank.pass());
    rank.pace.answer_questions();
    EXPECT_EQ(rank.pace.tally().void_passes, 0U);
  });
}

TEST(RankLockstep, RepeatingEndsWhereARankIsAlwaysLate) {
  in_step([](SteppingRank& rank) {
    const auto passes = [&](double late) {
      int count = 1;
      while (!rank.pass(rank.number() == 0 ? late : 0)) ++count;
      return count;
    };
    EXPECT_EQ(passes(0.2), 9);
    EXPECT_EQ(passes(0.2), 1) << "it did not help the last time";
    EXPECT_EQ(passes(0), 1);
    EXPECT_EQ(passes(0.2), 9);
    rank.pace.answer_questions();
    EXPECT_TRUE(rank.pace.question_mismatch());
    EXPECT_EQ(rank.pace.tally().question_mismatch, 3U);
    EXPECT_EQ(rank.pace.tally().void_passes, 16U);
    EXPECT_LE(rank.pace.slack(), 50e-3);
  });
}

TEST(RankLockstep, DecisionsAndNumbersAreOfAllThatMeasure) {
  in_step([](SteppingRank& rank) {
    if (rank.number() == 4) return rank.pace.answer_questions();
    EXPECT_TRUE(rank.pace.any(rank.number() == 2));
    EXPECT_FALSE(rank.pace.any(false));
    EXPECT_EQ(rank.pace.largest(-rank.number() - 1.0), -1);
    rank.pace.answer_questions();
  });
}

TEST(RankLockstep, ARankThatFailsLeavesTheOthersGoing) {
  in_step([](SteppingRank& rank) {
    for (int pass = 0; pass < 10; ++pass) {
      if (rank.number() == 2 && pass == 4) break;
      EXPECT_TRUE(rank.pass());
    }
    rank.pace.answer_questions();
    EXPECT_FALSE(rank.pace.question_mismatch());
    rank.pace.begin_case("the next");
    EXPECT_TRUE(rank.pass());
    rank.pace.answer_questions();
  });
}

TEST(RankLockstep, OneMeasuresWhileTheOthersAttend) {
  std::mutex mutex;
  std::vector<double> begins;
  in_step([&](SteppingRank& rank) {
    for (int turn = 0; turn < kRanks; ++turn) {
      rank.pace.begin_case("turn " + std::to_string(turn));
      if (turn == rank.number()) {
        EXPECT_TRUE(rank.pass());
        EXPECT_FALSE(rank.pace.any(false));
        const std::lock_guard lock(mutex);
        begins.push_back(rank.began);
      }
      rank.pace.answer_questions();
    }
  });
  ASSERT_EQ(begins.size(), static_cast<std::size_t>(kRanks));
  for (std::size_t i = 1; i < begins.size(); ++i) EXPECT_GT(begins[i], begins[i - 1] + 1e-3);
}

TEST(RankLockstep, RanksThatAskDifferentQuestionsGoByTheirOwnAnswersAndEnd) {
  in_step([](SteppingRank& rank) {
    EXPECT_TRUE(rank.pass());
    if (rank.number() == 1) {
      EXPECT_FALSE(rank.pace.any(false)) << "though others say a number";
      EXPECT_TRUE(rank.pass());
    } else {
      EXPECT_EQ(rank.pace.largest(7.0 + rank.number()), 7.0 + rank.number());
    }
    EXPECT_TRUE(rank.pass()) << "one against another";
    rank.pace.answer_questions();
    EXPECT_TRUE(rank.pace.question_mismatch());
    rank.pace.begin_case("the next");
    EXPECT_FALSE(rank.pace.question_mismatch());
    EXPECT_EQ(rank.pace.largest(rank.number()), kRanks - 1);
    rank.pace.answer_questions();
  });
}

TEST(RankLockstep, AllHearOfAnInterruptAlsoFromOneThatAttends) {
  in_step([](SteppingRank& rank) {
    EXPECT_TRUE(rank.pass());
    EXPECT_FALSE(rank.pace.interrupted());
    if (rank.number() == 4) {
      rank.interrupted = true;
      return rank.pace.answer_questions();
    }
    EXPECT_TRUE(rank.pass());
    EXPECT_TRUE(rank.pace.interrupted());
    EXPECT_EQ(rank.pace.signal(), 2);
    rank.pace.answer_questions();
  });
}

TEST(RankLockstep, TheLengthOfAPassSaysWhatIsTolerated) {
  in_step([](SteppingRank& rank) {
    EXPECT_TRUE(rank.pass(0, true, 20e-6, 35e-3));
    const double late = 50e-6 + rank.pace.slack();  // tolerated in a pass of 35 ms (0.2 %), not in one of 10 us
    EXPECT_FALSE(rank.pass(rank.number() == 2 ? late : 0, true, 0, 10e-6));
    EXPECT_TRUE(rank.pass(rank.number() == 2 ? 50e-6 + rank.pace.slack() : 0, true, 0, 35e-3));
    rank.pace.answer_questions();
    EXPECT_EQ(rank.pace.tally().passes, 3U);
    EXPECT_EQ(rank.pace.tally().void_passes, 1U);
  });
}

TEST(RankLockstep, ClocksAreSynchronisedWherePassesNeedItAndSeveralMeasure) {
  using Company = RankLockstep::Company;
  /// Clock synchronisations during 100 short passes (0.3 s) of ranks 1 and up. Rank 0 measures nothing.
  const auto times = [](Company company, double takes) {
    std::atomic<int> count = 0;
    in_step([&](SteppingRank& rank) {
      rank.pace.answer_questions();
      rank.pace.begin_case("short passes", company);
      const bool measures = rank.number() > 0 && (company == Company::together || rank.number() == 3);
      for (int pass = 0; measures && pass < 100; ++pass) {
        const double before = rank.clock.line().at;
        rank.pass(0, true, 20e-6, takes);
        rank.right.advance(3e-3);
        if (rank.number() == 3 && rank.clock.line().at > before) ++count;
      }
      rank.pace.answer_questions();
    });
    return count.load();
  };
  EXPECT_GT(times(Company::together, 10e-6), 5);
  EXPECT_LE(times(Company::together, 50e-3), 1);
  EXPECT_EQ(times(Company::alone, 10e-6), 0);
}

TEST(RankLockstep, SaysWhatItWaitedForWhereARankIsSilentAndAsksNobodyAgain) {
  ThreadRanks threads(kRanks);
  const auto body = [&](SteppingRank& rank) {
    EXPECT_TRUE(rank.pass());
    EXPECT_FALSE(rank.pace.timeout_reason());
    if (rank.number() == 3) return threads.stop_responding(3);
    EXPECT_TRUE(rank.pass()) << "by its own answer";
    ASSERT_TRUE(rank.pace.timeout_reason());
    EXPECT_TRUE(rank.pace.timeout_reason()->starts_with("memcpy/size=1MiB: agreeing on a start"))
        << *rank.pace.timeout_reason();
    EXPECT_TRUE(rank.pace.interrupted());
    EXPECT_TRUE(rank.pace.question_mismatch());
    EXPECT_EQ(rank.pace.any(rank.number() == 1), rank.number() == 1);
    EXPECT_EQ(rank.pace.largest(rank.number()), rank.number());
    EXPECT_FALSE(rank.pass(0, false));
    rank.pace.answer_questions();
    rank.pace.begin_case("the next");
    rank.pace.answer_questions();
  };
  const auto begun = std::chrono::steady_clock::now();
  in_step(body, {.seconds = 1}, &threads);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  EXPECT_LT(took.count(), 4) << "they wait once";
}

TEST(RankLockstep, AFailureOfMpiIsSilence) {
  in_step([](SteppingRank& rank) {
    if (rank.number() == 1) {
      EXPECT_THROW(barrier(rank.network, {.seconds = 60}, "out of turn"), CommunicationError);
      return;
    }
    EXPECT_TRUE(rank.pass());
    EXPECT_TRUE(rank.pace.timeout_reason());
  });
}

}  // namespace
}  // namespace xferbench::test
