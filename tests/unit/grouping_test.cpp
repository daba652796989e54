// Grouping of cases that do the same work.
#include "validate/validation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace xferbench::validation {
namespace {

using Names = std::vector<std::string>;

constexpr std::array<std::string_view, 3> kDone{"size", "rounds", "work"};

Case pipeline(const char* strategy, std::uint64_t work, std::uint64_t rounds = 1) {
  Case c("overlap");
  c.set(size_axis("size", {}), std::uint64_t{16} << 20);
  c.set(choice_axis("strategy", {"serial", "engines"}, {}), std::string(strategy));
  if (rounds > 1) c.set({.name = "rounds"}, rounds);
  c.set({.name = "work"}, work);
  return c;
}

Case wait(const char* op, const char* method) {
  Case c("latency");
  c.set(choice_axis("op", {"launch", "wait"}, {}), std::string(op));
  if (*method != 0) c.set(choice_axis("method", {"stream", "event"}, {}), std::string(method));
  return c;
}

Names names_of(const std::vector<Case>& cases, std::span<const std::string_view> axes) {
  std::vector<Work> all;
  for (const Case& c : cases) all.push_back({&c, axes});
  return names_of_work(all);
}

TEST(Grouping, NamesWhatDiffersInWhatIsDone) {
  EXPECT_EQ(names_of({pipeline("serial", 1), pipeline("engines", 1), pipeline("engines", 1, 10)}, kDone),
            (Names{"overlap 16 MiB", "overlap 16 MiB", "overlap 16 MiB, 10 rounds"}));
  EXPECT_EQ(names_of({pipeline("serial", 1), pipeline("engines", 64)}, kDone),
            (Names{"overlap 16 MiB, work=1", "overlap 16 MiB, work=64"}));
}

TEST(Grouping, TakesAllButWaysWhereAScenarioDoesNotSay) {
  const std::vector<Case> cases{wait("launch", ""), wait("wait", "stream"), wait("wait", "event")};
  EXPECT_EQ(names_of(cases, {}), (Names{"latency, op=launch", "latency, op=wait", "latency, op=wait"}));
  EXPECT_EQ(kind_of(cases[1]), "stream");
  EXPECT_EQ(kind_of(cases[0]), "launch");
}

TEST(Grouping, TellsSizesApartThatAreRoundedAlike) {
  std::vector<Case> cases(2, Case("memcpy"));
  cases[0].set(size_axis("size", {}), std::uint64_t{38'797'324});
  cases[1].set(size_axis("size", {}), std::uint64_t{38'797'328});
  const Names names = names_of(cases, {});
  EXPECT_NE(names[0], names[1]);
}

}  // namespace
}  // namespace xferbench::validation
