#include "ranks/farewell.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "support/thread_ranks.hpp"

namespace xferbench::test {

namespace {

const Patience kFarewellPatience{.seconds = 20, .after_interrupt = 20, .idle = {}};

/// As a rank that waits does, until something throws.
void look_for_long(Farewell& farewell) {
  for (int i = 0; i < 20'000; ++i) {
    farewell.look();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST(Farewells, AreNotSaidWhereAllIsWell) {
  ThreadRanks(4).run([](Communicator& ranks) {
    Farewell farewell(ranks, {}, kFarewellPatience);
    for (int i = 0; i < 10; ++i) farewell.look();
    farewell.end(kFarewellPatience);
  });
}

TEST(Farewells, AreHeardByTheFirstRankWhichNamesWhoIsSilent) {
  ThreadRanks all(4);
  Farewell::Heard heard;
  all.run([&](Communicator& ranks) {
    Farewell farewell(ranks, {}, kFarewellPatience);
    barrier(ranks, kFarewellPatience, "greeting");
    if (ranks.rank() == 2) return all.fall_silent(2);
    if (ranks.rank() == 0) {
      heard = farewell.say("zero", 1);
      return farewell.dismiss();
    }
    EXPECT_THROW(look_for_long(farewell), RanksSilentError);
    static_cast<void>(farewell.say(fmt::format("rank {}\nof 4", ranks.rank()), 20));
  });
  EXPECT_EQ(heard.silent, std::vector{2});
  EXPECT_EQ(heard.texts, (std::vector<std::string>{"zero", "rank 1\nof 4", "", "rank 3\nof 4"}));
}

TEST(Farewells, OfAnyRankEndTheOthersWaits) {
  ThreadRanks all(3);
  Farewell::Heard heard;
  all.run([&](Communicator& ranks) {
    Farewell farewell(ranks, {}, kFarewellPatience);
    if (ranks.rank() == 1) {  // it has waited for somebody for too long
      static_cast<void>(farewell.say("one", 20));
      return;
    }
    EXPECT_THROW(look_for_long(farewell), RanksSilentError);
    if (ranks.rank() == 2) {
      static_cast<void>(farewell.say("two", 20));
      return;
    }
    heard = farewell.say("", 5);
    farewell.dismiss();
  });
  EXPECT_EQ(heard.silent, std::vector<int>{});
  EXPECT_EQ(heard.texts, (std::vector<std::string>{"", "one", "two"}));
}

/// A process that does nothing until it is killed.
class Sleeper {
 public:
  Sleeper() : process_(fork()) {
    if (process_ != 0) return;
    for (;;) pause();
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  ~Sleeper() { end(); }
  void end() {
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = 0;
  }
  [[nodiscard]] int process() const { return process_; }

 private:
  pid_t process_;
};

TEST(Farewells, FollowTheDeathOfANeighbourAtOnce) {
  Sleeper sleeper;
  ThreadRanks all(3);
  Farewell::Heard heard;
  all.run([&](Communicator& ranks) {
    // The third rank is the process; its thread only greets.
    std::vector<Farewell::Neighbour> neighbours;
    if (ranks.rank() == 1) neighbours = {{2, sleeper.process()}};
    Farewell farewell(ranks, neighbours, kFarewellPatience);
    barrier(ranks, kFarewellPatience, "greeting");
    if (ranks.rank() == 2) return all.fall_silent(2);
    if (ranks.rank() == 1) {
      EXPECT_NO_THROW(farewell.look());
      sleeper.end();
    }
    EXPECT_THROW(look_for_long(farewell), RanksSilentError);
    const Farewell::Heard said = farewell.say("", 5);
    if (ranks.rank() == 0) {
      heard = said;
      farewell.dismiss();
    }
  });
  EXPECT_EQ(heard.silent, std::vector{2});
}

}  // namespace

}  // namespace xferbench::test
