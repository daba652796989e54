// Placement on NUMA nodes; every machine has node 0 or is treated as if it had. Placement changes the calling thread,
// so the tests call it in new threads.
#include "device/host.hpp"

#include <sched.h>

#include <functional>
#include <optional>
#include <thread>

#include "core/error.hpp"
#include "unit/support.hpp"

namespace xferbench {
namespace {

using test::mentions;
using test::message_of;
using Kind = NumaPolicy::Kind;

constexpr NumaPolicy kFarBeyond{Kind::node, 9999};

void in_a_thread(const std::function<void()>& action) { std::jthread{action}.join(); }

cpu_set_t allowed_cpus() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  EXPECT_EQ(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
  return cpus;
}

bool is_part_of(const cpu_set_t& part, const cpu_set_t& whole) {
  cpu_set_t both;
  CPU_AND(&both, &part, &whole);
  return CPU_EQUAL(&both, &part) != 0;
}

TEST(Numa, NamesEveryKindAsTheFlagDoes) {
  EXPECT_EQ(to_text(Kind::local), "local");
  EXPECT_EQ(to_text(Kind::node), "node");
  EXPECT_EQ(to_text(Kind::none), "none");
}

TEST(Numa, ANodeThatDoesNotExistIsAnErrorThatSaysHowManyThereAre) {
  const std::string message = message_of<UsageError>([] { require_node(kFarBeyond); });
  EXPECT_TRUE(mentions(message, "there is no NUMA node 9999: this machine has "));
  EXPECT_TRUE(mentions(message, "choose another --numa"));
  EXPECT_EQ(message_of<UsageError>([] { place_process(kFarBeyond, 0); }), message);
  for (const Kind no_number : {Kind::local, Kind::none}) EXPECT_NO_THROW(require_node({no_number, 9999}));
}

TEST(Numa, NoneLeavesTheThreadAsItIs) {
  in_a_thread([] {
    const cpu_set_t before = allowed_cpus();
    const auto memory_before = available_bound_memory().has_value();
    EXPECT_EQ(place_process({Kind::none}, 0), "");
    const cpu_set_t after = allowed_cpus();
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
    EXPECT_EQ(available_bound_memory().has_value(), memory_before);
  });
}

TEST(Numa, PlacingTakesNoCpuThatWasNotAllowedAndPlacingTwiceIsPlacingOnce) {
  in_a_thread([] {
    const cpu_set_t before = allowed_cpus();
    const std::string first = place_process({Kind::local}, 0);
    const cpu_set_t after = allowed_cpus();
    EXPECT_GT(CPU_COUNT(&after), 0);
    EXPECT_TRUE(is_part_of(after, before));
    EXPECT_EQ(place_process({Kind::local}, 0), first);
    const cpu_set_t again = allowed_cpus();
    EXPECT_TRUE(CPU_EQUAL(&after, &again));
  });
}

TEST(Numa, APlacedThreadRunsOnItsNodeAndSoDoThoseItStarts) {
  in_a_thread([] {
    const std::string note = place_process({Kind::local}, 0);
    if (!note.empty()) GTEST_SKIP() << "this machine does not permit it: " << note;
    const auto node = describe_host().numa_node;
    if (!node) GTEST_SKIP() << "the kernel knows no nodes";
    EXPECT_EQ(*node, 0);
    in_a_thread([] { EXPECT_EQ(describe_host().numa_node, 0); });
  });
}

TEST(Numa, BoundMemoryIsNoMoreThanTheMachineHas) {
  in_a_thread([] {
    static_cast<void>(place_process({Kind::local}, 0));
    const auto bound = available_bound_memory();
    if (!bound) GTEST_SKIP() << "this machine does not allow binding memory";
    EXPECT_GT(*bound, 0U);
    EXPECT_LE(*bound, describe_host().memory_bytes);
    EXPECT_LE(available_host_memory().value_or(0), *bound + (64U << 20)) << "measured at another moment";
  });
}

TEST(Numa, AGpuOnAnUnknownNodeIsNoReasonToStop) {
  in_a_thread([] {
    const std::string note = place_process({Kind::local}, std::nullopt);
    EXPECT_TRUE(note.empty() || note == "the GPU's NUMA node is unknown") << note;
  });
}

using Nodes = std::vector<std::optional<int>>;

/// The note of place_process(), and the CPUs that the thread may use afterwards.
struct Placed {
  std::string note;
  cpu_set_t cpus{};
};

template <class Where>
Placed placed(const Where& gpus, Kind kind = Kind::local) {
  Placed result;
  in_a_thread([&] {
    result.note = place_process({kind}, gpus);
    result.cpus = allowed_cpus();
  });
  return result;
}

void expect_same(const Placed& one, const Placed& other) {
  EXPECT_EQ(one.note, other.note);
  EXPECT_NE(CPU_EQUAL(&one.cpus, &other.cpus), 0);
}

TEST(NumaOfSeveralGpus, HaveACommonNodeIfAllAreKnownAndEqual) {
  EXPECT_EQ(common_node(Nodes{1}), 1);
  EXPECT_EQ(common_node(Nodes{1, 1, 1}), 1);
  for (const Nodes& none : {Nodes{}, {std::nullopt}, {0, std::nullopt}, {std::nullopt, 0}, {0, 1}, {0, 0, 1}}) {
    EXPECT_EQ(common_node(none), std::nullopt) << none.size();
  }
}

TEST(NumaOfSeveralGpus, HaveMemoryFromTheirOwnNodesIfTwoAreKnownToDiffer) {
  for (const Nodes& apart : {Nodes{0, 1}, {0, std::nullopt, 1}, {0, 0, 1}}) {
    EXPECT_TRUE(bind_each_to_own_node({Kind::local}, apart));
    EXPECT_FALSE(bind_each_to_own_node({Kind::none}, apart));
    EXPECT_FALSE(bind_each_to_own_node({Kind::node, 0}, apart));
  }
  for (const Nodes& not_apart : {Nodes{}, {0}, {0, 0}, {0, std::nullopt, 0}, {std::nullopt, std::nullopt}}) {
    EXPECT_FALSE(bind_each_to_own_node({Kind::local}, not_apart));
  }
}

TEST(NumaOfSeveralGpus, LeavesTheProcessWhereItIsIfTheyAreApart) {
  const Nodes apart{0, std::nullopt, 1};
  const Placed nowhere = placed(apart, Kind::none);
  EXPECT_EQ(nowhere.note, "");
  const Placed local = placed(apart);
  EXPECT_TRUE(mentions(local.note, "several NUMA nodes"));
  EXPECT_NE(CPU_EQUAL(&local.cpus, &nowhere.cpus), 0) << "the process was bound to one of them";
  EXPECT_THROW(place_process(kFarBeyond, apart), UsageError);
}

TEST(NumaOfSeveralGpus, IsThatOfOneOnTheirCommonNode) {
  expect_same(placed(Nodes{0, 0}), placed(std::optional(0)));
  expect_same(placed(Nodes{0, std::nullopt}), placed(std::optional<int>()));
}

TEST(NumaMemory, ComesFromANodeForAWhile) {
  in_a_thread([] {
    const auto before = available_bound_memory();
    {
      const MemoryFromNode nowhere(std::nullopt);
      EXPECT_EQ(available_bound_memory().has_value(), before.has_value()) << "no node was named";
      const MemoryFromNode from(0);
      if (!available_bound_memory()) GTEST_SKIP() << "memory policies cannot be set here";
    }
    EXPECT_EQ(available_bound_memory().has_value(), before.has_value());
  });
}

}  // namespace
}  // namespace xferbench
