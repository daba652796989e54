#include "ranks/waiting.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace xferbench {
namespace {

const Patience kPatient{.seconds = 30};

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
  } catch (const RanksSilentError& error) {
    EXPECT_EQ(std::string(error.what()).rfind("the end of case 3: ", 0), 0U) << error.what();
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(elapsed.count(), 0.05);
  EXPECT_LT(elapsed.count(), 5);
}

TEST(WaitFor, SleepsWhereItTakesLong) {
  Never operation;
  std::size_t questions = 0;
  EXPECT_THROW(wait_for(operation, {.seconds = 0.2, .idle = [&] { ++questions; }}, "the case"), RanksSilentError);
  // 0.2 s of pauses of 200 us, and some shorter ones before; without any it would ask a million times.
  EXPECT_LT(questions, 3000U);
}

TEST(WaitFor, PassesErrorsOn) {
  Failing operation;
  EXPECT_THROW(wait_for(operation, kPatient, "the case"), CommunicationError);
}

// --- Several ranks, each a thread -----------------------------------------------------------------------------------

/// What ranks that are threads have in common: their nth collective calls meet.
class MeetingPlace {
 public:
  explicit MeetingPlace(std::size_t ranks) : ranks_(ranks) {}

  struct Meeting {
    std::vector<std::span<std::byte>> data{};  // of each rank
    std::span<std::byte> all{};                // what rank 0 gathers
    std::size_t arrived = 0;
  };

  class Awaited final : public Pending {
   public:
    Awaited(MeetingPlace& place, Meeting& meeting) : place_(place), meeting_(meeting) {}
    [[nodiscard]] bool done() override {
      const std::lock_guard lock(place_.mutex_);
      return meeting_.arrived == place_.ranks_;
    }

   private:
    MeetingPlace& place_;
    Meeting& meeting_;
  };

  /// The last one that comes does what is to be done.
  PendingPtr meet(std::size_t rank, std::size_t call, std::span<std::byte> data, std::span<std::byte> all,
                  const std::function<void(Meeting&)>& act) {
    const std::lock_guard lock(mutex_);
    while (meetings_.size() <= call) meetings_.push_back({.data = std::vector<std::span<std::byte>>(ranks_)});
    Meeting& meeting = meetings_[call];
    meeting.data[rank] = data;
    if (!all.empty()) meeting.all = all;
    if (++meeting.arrived == ranks_) act(meeting);
    return std::make_unique<Awaited>(*this, meeting);
  }

  std::size_t gathered_at_most = 0;

 private:
  std::size_t ranks_;
  std::mutex mutex_;
  std::deque<Meeting> meetings_;
};

class ThreadRank final : public Communicator {
 public:
  ThreadRank(MeetingPlace& place, int rank, int size) : place_(place), rank_(rank), size_(size) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] int local_rank() const override { return rank_; }
  [[nodiscard]] int local_size() const override { return size_; }
  [[nodiscard]] int node_root() const override { return 0; }
  [[nodiscard]] std::string library() const override { return "threads"; }

  [[nodiscard]] PendingPtr barrier() override {
    return meet({}, {}, [](auto&) {});
  }
  [[nodiscard]] PendingPtr broadcast(std::span<std::byte> data, int root) override {
    return meet(data, {}, [root](MeetingPlace::Meeting& meeting) {
      const std::span<std::byte> from = meeting.data[static_cast<std::size_t>(root)];
      for (const std::span<std::byte> to : meeting.data) {
        if (to.data() != from.data()) std::ranges::copy(from, to.begin());
      }
    });
  }
  [[nodiscard]] PendingPtr gather(std::span<const std::byte> mine, std::span<std::byte> all,
                                  std::span<const std::size_t> sizes) override {
    EXPECT_EQ(sizes.size(), rank_ == 0 ? static_cast<std::size_t>(size_) : 0U);
    // Only read; a meeting holds what may be written, as others need it.
    const std::span<std::byte> given(const_cast<std::byte*>(mine.data()), mine.size());
    return meet(given, all, [this](MeetingPlace::Meeting& meeting) {
      auto to = meeting.all.begin();
      for (const std::span<std::byte> from : meeting.data) to = std::ranges::copy(from, to).out;
      EXPECT_EQ(to, meeting.all.end()) << "rank 0 expects what the others give";
      place_.gathered_at_most = std::max(place_.gathered_at_most, meeting.all.size());
    });
  }
  [[nodiscard]] PendingPtr all_reduce(std::span<double> values, Reduction reduction) override {
    return meet(std::as_writable_bytes(values), {}, [=](MeetingPlace::Meeting& meeting) {
      std::vector<double> total(values.size(), reduction == Reduction::sum ? 0 : -1e300);
      for (const std::span<std::byte> given : meeting.data) {
        for (std::size_t i = 0; i < total.size(); ++i) {
          double value = 0;
          std::memcpy(&value, given.data() + i * sizeof value, sizeof value);
          total[i] = reduction == Reduction::sum ? total[i] + value : std::max(total[i], value);
        }
      }
      for (const std::span<std::byte> given : meeting.data) {
        std::ranges::copy(std::as_bytes(std::span(total)), given.begin());
      }
    });
  }
  [[nodiscard]] PendingPtr send(int, int, std::span<const std::byte>) override { return nullptr; }
  [[nodiscard]] PendingPtr receive(int, int, std::span<std::byte>) override { return nullptr; }
  [[noreturn]] void abort(int) noexcept override { std::terminate(); }

 private:
  PendingPtr meet(std::span<std::byte> data, std::span<std::byte> all,
                  const std::function<void(MeetingPlace::Meeting&)>& act) {
    return place_.meet(static_cast<std::size_t>(rank_), calls_++, data, all, act);
  }

  MeetingPlace& place_;
  int rank_;
  int size_;
  std::size_t calls_ = 0;
};

/// Runs the function as each of so many ranks; returns the bytes of the largest gather.
std::size_t as_ranks(int size, const std::function<void(Communicator&)>& function) {
  MeetingPlace place(static_cast<std::size_t>(size));
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < size; ++rank) {
      threads.emplace_back([&, rank] {
        ThreadRank one(place, rank, size);
        function(one);
      });
    }
  }
  return place.gathered_at_most;
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
    // The sizes of the texts come first: they are within every limit of a real one.
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
    EXPECT_THROW(barrier(ranks, {.seconds = 0.05}, "the start"), RanksSilentError);
    EXPECT_THROW((void)gather(ranks, "text", {.seconds = 0.05}, "texts"), RanksSilentError);
  });
}

}  // namespace
}  // namespace xferbench
