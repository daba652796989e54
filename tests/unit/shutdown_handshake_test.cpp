// The handshake of ranks at the end of a run: texts, silent ranks, ranks that died.
#include "ranks/shutdown_handshake.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/forwarding_communicator.hpp"
#include "support/thread_ranks.hpp"

namespace xferbench::test {

namespace {

const Timeout kShutdownTimeout{.seconds = 20, .after_interrupt = 20, .idle = {}};

/// Polls for messages of other ranks, as a waiting rank does, until look() throws.
void poll_for_long(ShutdownHandshake& shutdown) {
  for (int i = 0; i < 20'000; ++i) {
    shutdown.look();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST(Farewells, AreNotSaidWhereAllIsWell) {
  ThreadRanks(4).run([](Communicator& ranks) {
    ShutdownHandshake shutdown(ranks, {}, kShutdownTimeout);
    for (int i = 0; i < 10; ++i) shutdown.look();
    shutdown.end(kShutdownTimeout);
  });
}

TEST(Farewells, AreHeardByTheFirstRankWhichNamesWhoIsSilent) {
  ThreadRanks all(4);
  ShutdownHandshake::FinalReports heard;
  all.run([&](Communicator& ranks) {
    ShutdownHandshake shutdown(ranks, {}, kShutdownTimeout);
    barrier(ranks, kShutdownTimeout, "greeting");
    if (ranks.rank() == 2) return all.stop_responding(2);
    if (ranks.rank() == 0) {
      heard = shutdown.send_final("zero", 1);
      return shutdown.release_all(1);
    }
    EXPECT_THROW(poll_for_long(shutdown), RankTimeoutError);
    EXPECT_EQ(shutdown.send_final(fmt::format("rank {}\nof 4", ranks.rank()), 20).code, 1);
  });
  EXPECT_EQ(heard.silent, std::vector{2});
  EXPECT_EQ(heard.texts, (std::vector<std::string>{"zero", "rank 1\nof 4", "", "rank 3\nof 4"}));
}

TEST(Farewells, OfAnyRankEndTheOthersWaits) {
  ThreadRanks all(3);
  ShutdownHandshake::FinalReports heard;
  all.run([&](Communicator& ranks) {
    ShutdownHandshake shutdown(ranks, {}, kShutdownTimeout);
    if (ranks.rank() == 1) {  // gives up after waiting too long for another rank
      static_cast<void>(shutdown.send_final("one", 20));
      return;
    }
    EXPECT_THROW(poll_for_long(shutdown), RankTimeoutError);
    if (ranks.rank() == 2) {
      static_cast<void>(shutdown.send_final("two", 20));
      return;
    }
    heard = shutdown.send_final("", 5);
    shutdown.release_all(1);
  });
  EXPECT_EQ(heard.silent, std::vector<int>{});
  EXPECT_EQ(heard.texts, (std::vector<std::string>{"", "one", "two"}));
}

/// A child process that pauses until it is killed.
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

/// Rank 1 watches rank 2's process, which dies after the barrier; rank 2's thread runs `last`. Returns what rank 0
/// heard.
ShutdownHandshake::FinalReports after_a_death(const std::function<void(ShutdownHandshake&)>& last) {
  Sleeper sleeper;
  ThreadRanks all(3);
  ShutdownHandshake::FinalReports heard;
  all.run([&](Communicator& ranks) {
    std::vector<ShutdownHandshake::Neighbour> neighbours;
    if (ranks.rank() == 1) neighbours = {{2, sleeper.process()}};
    ShutdownHandshake shutdown(ranks, neighbours, kShutdownTimeout);
    barrier(ranks, kShutdownTimeout, "greeting");
    if (ranks.rank() == 2) {
      last(shutdown);
      return all.stop_responding(2);
    }
    if (ranks.rank() == 1) {
      EXPECT_NO_THROW(shutdown.look());
      sleeper.end();
    }
    EXPECT_THROW(poll_for_long(shutdown), RankTimeoutError);
    EXPECT_THROW(shutdown.look(), RankTimeoutError) << "whoever goes on all the same is stopped again";
    const ShutdownHandshake::FinalReports said = shutdown.send_final("", 5);
    if (ranks.rank() == 0) {
      heard = said;
      shutdown.release_all(1);
    }
  });
  return heard;
}

TEST(Farewells, FollowTheDeathOfANeighbourAtOnce) {
  const ShutdownHandshake::FinalReports heard = after_a_death([](ShutdownHandshake&) {});
  EXPECT_EQ(heard.gone, std::vector{2});
  EXPECT_EQ(heard.silent, std::vector{2});
}

TEST(Farewells, WhoHasSaidItMayDie) {
  const ShutdownHandshake::FinalReports heard =
      after_a_death([](ShutdownHandshake& shutdown) { static_cast<void>(shutdown.send_final("two", 0)); });
  EXPECT_EQ(heard.gone, std::vector<int>{});
  EXPECT_EQ(heard.silent, std::vector<int>{});
  EXPECT_EQ(heard.texts.at(2), "two");
}

TEST(Farewells, AreReadBeforeProcessesAreLookedAt) {
  Sleeper sleeper;
  ThreadRanks all(2);
  std::atomic<bool> said = false;
  all.run([&](Communicator& ranks) {
    // Rank 0 was stopped for a while; rank 1 has waited, sent its last message and ended.
    std::vector<ShutdownHandshake::Neighbour> neighbours;
    if (ranks.rank() == 0) neighbours = {{1, sleeper.process()}};
    ShutdownHandshake shutdown(ranks, neighbours, kShutdownTimeout);
    if (ranks.rank() == 1) {
      EXPECT_FALSE(shutdown.send_final("one", 0).code) << "rank 0 does not answer";
      said = true;
      return;
    }
    while (!said) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    sleeper.end();
    EXPECT_THROW(shutdown.look(), RankTimeoutError);
    const ShutdownHandshake::FinalReports heard = shutdown.send_final("", 5);
    EXPECT_EQ(heard.gone, std::vector<int>{});
    EXPECT_EQ(heard.silent, std::vector<int>{});
    EXPECT_EQ(heard.texts.at(1), "one");
  });
}

TEST(Farewells, OfManyAreHeardAfterAFewLooks) {
  constexpr int kMany = 300;
  ThreadRanks all(kMany);
  std::atomic<bool> said = false;
  all.run([&](Communicator& ranks) {
    ShutdownHandshake shutdown(ranks, {}, kShutdownTimeout);
    if (ranks.rank() == kMany - 1) {
      static_cast<void>(shutdown.send_final("", 0));
      said = true;
    }
    if (ranks.rank() != 0) return;
    while (!said) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const auto look_often = [&] {
      for (int look = 0; look < 128; ++look) shutdown.look();
    };
    EXPECT_THROW(look_often(), RankTimeoutError);
  });
}

/// A communicator on which a text from rank r arrives after r times `each`.
class SlowTexts final : public ForwardingCommunicator {
 public:
  SlowTexts(Communicator& ranks, std::chrono::milliseconds each) : ForwardingCommunicator(ranks), each_(each) {}

  [[nodiscard]] PendingPtr receive(int from, int tag, std::span<std::byte> data) override {
    PendingPtr pending = ForwardingCommunicator::receive(from, tag, data);
    const bool is_text = data.size() > 100;
    return is_text ? std::make_unique<Late>(std::move(pending), from * each_) : std::move(pending);
  }

 private:
  class Late final : public Pending {
   public:
    Late(PendingPtr pending, std::chrono::milliseconds after)
        : pending_(std::move(pending)), from_(std::chrono::steady_clock::now() + after) {}
    [[nodiscard]] bool done() override { return std::chrono::steady_clock::now() > from_ && pending_->done(); }

   private:
    PendingPtr pending_;
    std::chrono::steady_clock::time_point from_;
  };

  std::chrono::milliseconds each_;
};

TEST(Farewells, AreHeardOutWhileAnotherOneComesToItsEnd) {
  ThreadRanks all(6);
  ShutdownHandshake::FinalReports heard;
  const std::string text(1000, 'x');
  all.run([&](Communicator& ranks) {
    SlowTexts slow(ranks, std::chrono::milliseconds(200));  // the last after one second
    ShutdownHandshake shutdown(slow, {}, kShutdownTimeout);
    const ShutdownHandshake::FinalReports said = shutdown.send_final(text, ranks.rank() == 0 ? 0.4 : 20);
    if (ranks.rank() != 0) return;
    heard = said;
    shutdown.release_all(1);
  });
  EXPECT_EQ(heard.silent, std::vector<int>{});
  EXPECT_EQ(heard.texts, std::vector<std::string>(6, text));
}

}  // namespace

}  // namespace xferbench::test
