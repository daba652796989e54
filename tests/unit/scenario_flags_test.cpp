// Axes of all scenarios as command-line flags: consistency of their declarations.

#include <algorithm>
#include <map>
#include <variant>

#include "cli/command.hpp"
#include "cli/plan.hpp"
#include "core/lists.hpp"
#include "parsing.hpp"
#include "scenarios/scenarios.hpp"
#include "unit/support.hpp"

namespace xferbench::cli {
namespace {

using test::mentions;

TEST(Flags, OfAScenarioAreNoneOfARun) {
  const std::string help =
      to_text(std::get<HelpCommand>(parse(std::vector<std::string>{"help", "run"}, scenarios())).page);
  for (const Scenario* scenario : scenarios()) {
    for (const Axis& axis : descriptor_of(*scenario).axes) {
      EXPECT_FALSE(mentions(help, "\n  --" + axis.name + " ")) << name_of(*scenario);
    }
  }
}

TEST(Flags, HaveOlderNamesThatMeanTheSame) {
  const auto run = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"p2p", "--simulate", "h200-x2", "--op", "latency"});
    return std::get<RunCommand>(parse(words, scenarios()));
  };
  const RunCommand now = run({"--location", "l2", "--passes", "3", "--concurrency", "one"});
  const RunCommand then = run({"--lies-in", "l2", "--turns", "3", "--pace", "one"});
  EXPECT_EQ(std::pair(then.turns, then.fleet.pace), std::pair(now.turns, now.fleet.pace));
  EXPECT_EQ(now.turns, 3U);
  EXPECT_EQ(then.cases.at(0).config.key(), now.cases.at(0).config.key());
  EXPECT_TRUE(now.cases.at(0).config.is("lies-in", "l2"));
}

TEST(Help, IsAsWideAsTheTerminalAndSaysTheSame) {
  const auto words_of = [](const std::string& text) {
    std::istringstream in(text);
    return std::vector<std::string>(std::istream_iterator<std::string>(in), {});
  };
  for (const char* about : {"run", "overlap", "explain", "soak"}) {
    const Page page = std::get<HelpCommand>(parse(std::vector<std::string>{"help", about}, scenarios())).page;
    const std::string narrow = to_text(page, 70);
    EXPECT_EQ(words_of(narrow), words_of(to_text(page))) << about;
    for (const std::string& line : split(narrow, '\n')) {
      EXPECT_TRUE(words_of(line).size() <= 2 || line.size() <= 70U) << line;
    }
  }
}

TEST(Flags, ThatScenariosShareMeanTheSameKindOfValue) {
  std::map<std::string, AxisKind> kinds;
  for (const Scenario* scenario : scenarios()) {
    for (const Axis& axis : descriptor_of(*scenario).axes) {
      const AxisKind kind = axis.kind == AxisKind::text ? AxisKind::choice : axis.kind;  // both are words
      const auto [known, is_new] = kinds.emplace(axis.name, kind);
      EXPECT_EQ(known->second, kind) << name_of(*scenario) << " --" << axis.name;
    }
  }
}

TEST(Scenarios, DeclareAxesThatReferToEachOther) {
  for (const Scenario* scenario : scenarios()) {
    const auto& axes = descriptor_of(*scenario).axes;
    const auto declared_at = [&axes](const std::string& name) { return std::ranges::find(axes, name, &Axis::name); };
    for (auto axis = axes.begin(); axis != axes.end(); ++axis) {
      EXPECT_TRUE(axis->alternative_to.empty() || declared_at(axis->alternative_to) != axes.end()) << axis->name;
      if (axis->only_with_axis.empty()) continue;
      const auto other = declared_at(axis->only_with_axis);
      // Cases are expanded in the order of axes, so the axis that this one depends on must come first.
      ASSERT_LT(other, axis) << axis->name;
      for (const std::string& value : axis->only_with_values) {
        EXPECT_NE(std::ranges::find(other->choices, value), other->choices.end()) << axis->name << " with " << value;
      }
    }
  }
}

TEST(Scenarios, HaveValuesToTuneThatMakeASpace) {
  for (const Scenario* scenario : scenarios()) {
    if (!can_tune(*scenario)) continue;
    EXPECT_GT(test::cases_of({"tune", name_of(*scenario)}).size(), 1U) << name_of(*scenario);
  }
}

TEST(Scenarios, HaveDefaultsWhoseCasesCanBeRunAgainFromTheirKeys) {
  for (const Scenario* scenario : scenarios()) {
    const std::vector<PlannedCase> cases = test::cases_of({name_of(*scenario)});
    EXPECT_FALSE(cases.empty()) << name_of(*scenario);
    for (const PlannedCase& c : cases) {
      EXPECT_FALSE(scenario->skip_reason(c.config, nullptr)) << c.config.key();
      std::vector<std::string> again{name_of(*scenario)};
      for (const Case::Param& param : c.config.params()) {
        again.push_back("--" + param.name + "=" + to_text(param.value, param.kind));
      }
      const std::vector<PlannedCase> same = test::cases_of(again);
      ASSERT_EQ(same.size(), 1U) << c.config.key();
      EXPECT_EQ(same.front().config.key(), c.config.key());
    }
  }
}

}  // namespace
}  // namespace xferbench::cli
