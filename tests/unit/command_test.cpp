// From arguments to what to do: with two small scenarios whose axes are known here, and with the real ones where the
// command line itself is the subject.
#include "cli/command.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/flags.hpp"
#include "cli/help.hpp"
#include "cli/reproduce.hpp"
#include "core/error.hpp"
#include "device/open.hpp"
#include "scenarios/scenarios.hpp"
#include "unit/support.hpp"

namespace xferbench::cli {
namespace {

using test::mentions;
using test::message_of;

/// A scenario that only declares; nothing here may run it.
class Declared : public Scenario {
 public:
  Declared(std::string name, std::vector<Axis> axes)
      : descriptor_{.name = std::move(name), .summary = "declared in a test", .axes = std::move(axes), .metrics = {}} {}
  [[nodiscard]] const ScenarioDescriptor& descriptor() const override { return descriptor_; }
  [[nodiscard]] MemoryNeeds needs(const Case&) const override { return {}; }
  void run(const Case&, const RunContext&, Result&) const override { throw std::logic_error("parsing must not run"); }

 private:
  ScenarioDescriptor descriptor_;
};

/// Cannot have more parts than bytes, and needs a byte of device memory for each part.
class Cutter final : public Declared {
 public:
  using Declared::Declared;
  [[nodiscard]] MemoryNeeds needs(const Case& c) const override { return {.device = c.count("parts")}; }
  [[nodiscard]] std::optional<SkipReason> skip_reason(const Case& c, const Capabilities*) const override {
    if (c.count("parts") <= c.count("size")) return std::nullopt;
    return SkipReason::impossible("more parts than bytes");
  }
};

/// Two wheels need no engine and no fuel; and nothing has five wheels.
class Vehicle final : public Declared {
 public:
  using Declared::Declared;
  [[nodiscard]] std::optional<SkipReason> skip_reason(const Case& c, const Capabilities*) const override {
    if (c.count("wheels") == 5) return SkipReason::impossible("nothing has five wheels");
    if (c.count("wheels") != 2 || c.word("fuel") == "none") return std::nullopt;
    return SkipReason::meaningless("two wheels need no fuel");
  }
};

/// The cases of a vehicle with these flags, without the scenario's name.
std::vector<std::string> vehicles(std::vector<std::string> arguments) {
  static const Vehicle vehicle(
      "vehicle", {{.name = "wheels", .defaults = "2,4", .tuning = "2,3,4"},
                  {.name = "fuel", .kind = AxisKind::choice, .defaults = "all", .choices = {"none", "coal", "oil"}}});
  static const std::array<const Scenario*, 1> all{&vehicle};
  std::vector<std::string> keys;
  for (const PlannedCase& c : parse(arguments, all).cases) keys.push_back(c.config.key().substr(8));
  return keys;
}

/// "cutter": size, parts, effort, and share, which replaces effort. "mover": way, memory (not for way=inside), size.
std::span<const Scenario* const> declared() {
  static const Cutter cutter("cutter",
                             {{.name = "size", .kind = AxisKind::size, .defaults = "1K"},
                              {.name = "parts", .defaults = "4", .tuning = "1:8", .max = 4096},
                              {.name = "effort", .defaults = "7"},
                              {.name = "share", .kind = AxisKind::real, .min = 0, .alternative_to = "effort"}});
  static const Declared mover(
      "mover", {{.name = "way", .kind = AxisKind::choice, .defaults = "in,inside", .choices = {"in", "out", "inside"}},
                {.name = "memory",
                 .kind = AxisKind::choice,
                 .defaults = "pinned,pageable",
                 .choices = {"pinned", "pageable"},
                 .only_with_axis = "way",
                 .only_with_values = {"in", "out"}},
                {.name = "size", .kind = AxisKind::size, .defaults = "2K"}});
  static const std::array<const Scenario*, 2> all{&cutter, &mover};
  return all;
}

using Words = std::vector<std::string>;

Command parsed(const Words& arguments) { return parse(arguments, declared()); }

std::string error(const Words& arguments) {
  return message_of<UsageError>([&] { static_cast<void>(parsed(arguments)); });
}

std::vector<std::string> keys(const Command& command) {
  std::vector<std::string> all;
  for (const PlannedCase& c : command.cases) all.push_back(c.config.key());
  return all;
}

// --- Cases ----------------------------------------------------------------------------------------------------------

// What a scenario leaves out of products.

TEST(LeftOutCombinations, AreNoCases) {
  const std::vector<std::string> legal{"wheels=2/fuel=none", "wheels=4/fuel=none", "wheels=4/fuel=coal",
                                       "wheels=4/fuel=oil"};
  EXPECT_EQ(vehicles({}), legal);
  EXPECT_EQ(vehicles({"--wheels", "2,4"}), legal);
  EXPECT_EQ(vehicles({"--fuel", "all"}), legal) << "every value has a case";
  EXPECT_EQ(vehicles({"tune"}).size(), 7U);
}

TEST(LeftOutCombinations, StayWhereAValueThatWasWrittenHasNoOther) {
  EXPECT_EQ(vehicles({"--wheels", "2", "--fuel", "oil"}), (std::vector<std::string>{"wheels=2/fuel=oil"}));
  EXPECT_EQ(vehicles({"--wheels", "2,4", "--fuel", "oil"}),
            (std::vector<std::string>{"wheels=2/fuel=oil", "wheels=4/fuel=oil"}));
  EXPECT_EQ(vehicles({"--wheels", "2", "--fuel", "none,coal"}),
            (std::vector<std::string>{"wheels=2/fuel=none", "wheels=2/fuel=coal"}));
}

TEST(LeftOutCombinations, DoNotHideOtherObjections) {
  EXPECT_TRUE(mentions(message_of<UsageError>([] { vehicles({"--wheels", "5"}); }), "five wheels"));
}

TEST(Parse, WithoutArgumentsRunsTheFirstScenarioWithItsDefaults) {
  const Command command = parsed({});
  EXPECT_EQ(command.action, Action::run);
  EXPECT_EQ(keys(command), Words{"cutter/size=1KiB/parts=4/effort=7"});
  EXPECT_EQ(command.cases[0].scenario, declared()[0]);
}

TEST(Parse, WithoutAScenarioRunsOverlap) {
  const Command command = parse({}, scenarios());
  ASSERT_EQ(command.cases.size(), 1U);
  EXPECT_EQ(command.cases[0].config.scenario(), "overlap");
}

TEST(Parse, DefaultsOfARunAreThoseThatHelpShows) {
  const Command command = parsed({});
  EXPECT_DOUBLE_EQ(command.policy.ci, 0.01);
  EXPECT_DOUBLE_EQ(command.policy.budget, 3);
  EXPECT_EQ(command.policy.min_samples, 10U);
  EXPECT_EQ(command.policy.max_samples, 1000U);
  EXPECT_EQ(command.seed, 1U);
  EXPECT_TRUE(command.verify);
  EXPECT_FALSE(command.quiet);
  EXPECT_EQ(command.color, ColorMode::automatic);
  EXPECT_EQ(command.numa.kind, NumaPolicy::Kind::local);
  EXPECT_FALSE(command.gpu || command.simulate || command.json);
}

TEST(Parse, MakesTheProductOfAllValuesWithTheLastAxisFastest) {
  EXPECT_EQ(keys(parsed({"--size", "1K,2K", "--parts", "1:4"})),
            (Words{"cutter/size=1KiB/parts=1/effort=7", "cutter/size=1KiB/parts=2/effort=7",
                   "cutter/size=1KiB/parts=4/effort=7", "cutter/size=2KiB/parts=1/effort=7",
                   "cutter/size=2KiB/parts=2/effort=7", "cutter/size=2KiB/parts=4/effort=7"}));
}

TEST(Parse, TakesAFlagBeforeAndAfterItsScenarioAndWithAnEqualsSign) {
  const Words expected{"mover/way=out/memory=pinned/size=4KiB"};
  EXPECT_EQ(keys(parsed({"mover", "--way", "out", "--memory", "pinned", "--size", "4K"})), expected);
  EXPECT_EQ(keys(parsed({"--way", "out", "--memory", "pinned", "--size", "4K", "mover"})), expected);
  EXPECT_EQ(keys(parsed({"--way=out", "--memory=pinned", "mover", "--size=4K"})), expected);
}

TEST(Parse, JoinsTheValuesOfAnAxisFlagGivenTwice) {
  EXPECT_EQ(parsed({"--parts", "1", "--parts", "2,4"}).cases.size(), 3U);
}

TEST(Parse, LeavesAnAxisOutWhereItDoesNotApply) {
  EXPECT_EQ(keys(parsed({"mover"})), (Words{"mover/way=in/memory=pinned/size=2KiB",
                                            "mover/way=in/memory=pageable/size=2KiB", "mover/way=inside/size=2KiB"}));
}

TEST(Parse, RefusesAFlagThatNoCaseUses) {
  EXPECT_EQ(error({"mover", "--way", "inside", "--memory", "pinned"}),
            "--memory does nothing here: it belongs to --way in,out; leave it out");
  EXPECT_EQ(parsed({"mover", "--way", "in,inside", "--memory", "pinned"}).cases.size(), 2U) << "one case uses it";
}

TEST(Parse, ReplacesOneAxisByAnother) {
  EXPECT_EQ(keys(parsed({"--share", "0.5,2"})),
            (Words{"cutter/size=1KiB/parts=4/share=0.5", "cutter/size=1KiB/parts=4/share=2"}));
}

TEST(Parse, RefusesAnAxisTogetherWithTheOneThatReplacesIt) {
  EXPECT_TRUE(mentions(error({"--share", "1", "--effort", "3"}), "--share and --effort contradict each other"));
  EXPECT_TRUE(mentions(error({"--effort", "3", "--share", "1"}), "contradict each other"));
}

TEST(Parse, RunsSeveralScenariosInTheOrderNamedAndEachOnce) {
  EXPECT_EQ(keys(parsed({"mover", "cutter", "mover", "--way", "inside"})),
            (Words{"mover/way=inside/size=2KiB", "cutter/size=1KiB/parts=4/effort=7"}));
}

TEST(Parse, GivesASharedAxisToEveryScenarioThatHasIt) {
  EXPECT_EQ(keys(parsed({"cutter", "mover", "--way", "inside", "--size", "8K"})),
            (Words{"cutter/size=8KiB/parts=4/effort=7", "mover/way=inside/size=8KiB"}));
}

TEST(Parse, KeepsCasesThatTheScenarioObjectsToUnlessItObjectsToAll) {
  EXPECT_EQ(parsed({"--size", "2", "--parts", "1,4"}).cases.size(), 2U) << "the second will be skipped with its reason";
  EXPECT_EQ(error({"--size", "2", "--parts", "4"}), "more parts than bytes");
}

TEST(Parse, RefusesMoreCasesThanAnyoneRuns) {
  EXPECT_EQ(parsed({"--parts", "1:100:+1", "--effort", "1:1000:+1"}).cases.size(), 100'000U);
  EXPECT_EQ(error({"--parts", "1:11:+1", "--effort", "1:9091:+1"}), "more than 100000 cases; give fewer values")
      << "100001 of them";
}

// --- What does not exist --------------------------------------------------------------------------------------------

TEST(Parse, SuggestsAScenario) {
  EXPECT_EQ(error({"cuter"}), "unknown scenario 'cuter'; there are cutter, mover; did you mean 'cutter'?");
  EXPECT_EQ(error({"banana"}), "unknown scenario 'banana'; there are cutter, mover");
  EXPECT_TRUE(mentions(error({"lst"}), "did you mean 'list'?"));
}

TEST(Parse, SuggestsAFlag) {
  EXPECT_EQ(error({"--sise", "4"}), "unknown flag --sise; did you mean '--size'? (see xferbench --help)");
  EXPECT_EQ(error({"--sise=4"}), "unknown flag --sise; did you mean '--size'? (see xferbench --help)");
  EXPECT_EQ(error({"--max-sample", "4"}),
            "unknown flag --max-sample; did you mean '--max-samples'? (see xferbench --help)");
  EXPECT_TRUE(mentions(error({"-x"}), "unknown flag -x"));
}

TEST(Parse, SuggestsAValue) {
  EXPECT_EQ(error({"mover", "--memory", "pined"}),
            "--memory: 'pined' is not one of pinned, pageable; did you mean 'pinned'?");
}

TEST(Parse, NamesTheScenarioThatAFlagBelongsTo) {
  const std::string message = error({"cutter", "--way", "in"});
  EXPECT_EQ(message, "cutter has no --way, which belongs to mover; cutter has --size --parts --effort --share");
}

TEST(Parse, RefusesAFlagWithoutItsValue) {
  EXPECT_TRUE(mentions(error({"--size"}), "--size"));
  EXPECT_TRUE(mentions(error({"--size", "--quiet"}), "--size"));
  EXPECT_TRUE(mentions(error({"--size="}), "--size"));
  EXPECT_EQ(error({"--size", ""}), "--size: a value is missing; write one like 256M");
}

TEST(Parse, RefusesAValueForASwitch) {
  EXPECT_TRUE(mentions(error({"--quiet=false"}), "quiet"));
  EXPECT_TRUE(mentions(error({"--no-verify", "-5"}), "no-verify"));
}

TEST(Parse, ReadsANegativeNumberAsAValueAndRefusesItForWhatItIs) {
  EXPECT_EQ(error({"--size", "-4"}), "--size: '-4' is not a positive size");
  EXPECT_EQ(error({"--parts", "-4"}), "--parts: '-4' is not a whole number; write one like 8");
  EXPECT_EQ(error({"--share", "-.5"}), "--share: -.5 is too small; the smallest is 0");
  EXPECT_EQ(error({"--budget", "-1"}), "--budget: -1 is too small; the smallest is 0.001");
}

// --- Run flags ------------------------------------------------------------------------------------------------------

TEST(Parse, ReadsRunFlags) {
  const Command command = parsed({"--ci", "0.5", "--budget", "10", "--seed", "18446744", "--no-verify", "--quiet",
                                  "--color", "never", "--gpu", "3", "--json", "out.json"});
  EXPECT_DOUBLE_EQ(command.policy.ci, 0.005) << "a flag in percent, a policy in parts of one";
  EXPECT_DOUBLE_EQ(command.policy.budget, 10);
  EXPECT_EQ(command.seed, 18446744U);
  EXPECT_FALSE(command.verify);
  EXPECT_TRUE(command.quiet);
  EXPECT_EQ(command.color, ColorMode::never);
  EXPECT_EQ(command.gpu, 3);
  EXPECT_EQ(command.json, "out.json");
  EXPECT_EQ(parsed({"--color", "always"}).color, ColorMode::always);
  EXPECT_EQ(parsed({"--json", "-"}).json, "-");
}

TEST(Parse, DryRunIsAnActionWithCases) {
  const Command command = parsed({"--dry-run", "--parts", "1,2"});
  EXPECT_EQ(command.action, Action::dry_run);
  EXPECT_EQ(command.cases.size(), 2U);
}

TEST(Parse, TakesOneValueForARunFlag) {
  EXPECT_EQ(error({"--seed", "1,2"}), "--seed takes one value");
  EXPECT_EQ(error({"--json", "a.json", "--json", "b.json"}), "--json is given more than once");
  EXPECT_EQ(error({"--budget", "1", "--budget", "2"}), "--budget is given more than once");
}

TEST(Parse, RefusesRunFlagsThatContradictEachOther) {
  EXPECT_TRUE(mentions(error({"--gpu", "0", "--simulate"}), "--gpu and --simulate contradict each other"));
  EXPECT_TRUE(mentions(error({"--dry-run", "--json", "x"}), "--json and --dry-run contradict each other"));
}

TEST(Parse, TakesATimelineWhereAScenarioHasOne) {
  const auto of_all = [](const Words& words) { return parse(words, scenarios()); };
  EXPECT_EQ(of_all({"--timeline", "out.json"}).timeline, "out.json");
  EXPECT_EQ(of_all({"memcpy", "overlap", "--timeline", "-"}).timeline, "-");
  EXPECT_FALSE(of_all({}).timeline);
  const std::string refusal = message_of<UsageError>([&] { of_all({"memcpy", "--timeline", "x"}); });
  EXPECT_TRUE(mentions(refusal, "memcpy has no timeline; these have: overlap"));
  EXPECT_TRUE(mentions(error({"--dry-run", "--timeline", "x"}), "--timeline and --dry-run contradict each other"));
}

TEST(Parse, RefusesAFileWithoutAName) {
  EXPECT_EQ(error({"--timeline", ""}), "--timeline: the name of a file is missing; - is standard output");
  EXPECT_TRUE(mentions(error({"--json", "-", "--timeline", "-"}), "cannot both be standard output"));
  EXPECT_TRUE(mentions(error({"--json", "x", "--timeline", "x"}), "name the same file"));
  EXPECT_EQ(error({"--json", ""}), "--json: the name of a file is missing; - is standard output");
  EXPECT_TRUE(mentions(error({"--json"}), "--json"));
}

TEST(Parse, KeepsMinSamplesWithinMaxSamples) {
  EXPECT_EQ(parsed({"--min-samples", "20", "--max-samples", "20"}).policy.min_samples, 20U);
  EXPECT_EQ(error({"--min-samples", "20", "--max-samples", "19"}), "--min-samples 20 is more than --max-samples 19");
}

TEST(Parse, MovesTheDefaultOfTheOtherSampleLimitOutOfTheWay) {
  const SamplingPolicy many = parsed({"--min-samples", "5000"}).policy;
  EXPECT_EQ(many.min_samples, 5000U);
  EXPECT_EQ(many.max_samples, 5000U);
  const SamplingPolicy few = parsed({"--max-samples", "3"}).policy;
  EXPECT_EQ(few.min_samples, 3U);
  EXPECT_EQ(few.max_samples, 3U);
}

TEST(Parse, RefusesSampleNumbersBeyondTheirLimits) {
  EXPECT_TRUE(mentions(error({"--min-samples", "0"}), "too small"));
  EXPECT_TRUE(mentions(error({"--max-samples", "1000001"}), "too large"));
}

// --- Simulation -----------------------------------------------------------------------------------------------------

TEST(Parse, SimulateAloneTakesTheFirstProfile) {
  const std::string first = simulated_profiles().front().first;
  EXPECT_EQ(parsed({"--simulate"}).simulate, first);
  EXPECT_EQ(parsed({"--simulate", "--parts", "2"}).simulate, first) << "a flag follows";
}

TEST(Parse, SimulateTakesAProfile) {
  const std::string last = simulated_profiles().back().first;
  EXPECT_EQ(parsed({"--simulate", last}).simulate, last);
  EXPECT_EQ(parsed({"--simulate=" + last}).simulate, last);
}

TEST(Parse, SimulateDoesNotSwallowAScenario) {
  const Command command = parsed({"--simulate", "mover", "--way", "inside"});
  EXPECT_EQ(command.simulate, simulated_profiles().front().first);
  EXPECT_EQ(keys(command), Words{"mover/way=inside/size=2KiB"});
  EXPECT_EQ(parsed({"--simulate", "info"}).action, Action::info);
}

TEST(Parse, SimulateTakesAProfileAndAScenario) {
  const std::string last = simulated_profiles().back().first;
  const Command command = parsed({"--simulate", last, "mover", "--way", "inside"});
  EXPECT_EQ(command.simulate, last);
  EXPECT_EQ(command.cases.size(), 1U);
}

TEST(Parse, SuggestsAProfile) {
  const std::string message = error({"--simulate", "h201"});
  EXPECT_TRUE(mentions(message, "there is no profile 'h201'"));
  EXPECT_TRUE(mentions(message, "did you mean 'h200'?"));
}

// --- Other commands -------------------------------------------------------------------------------------------------

TEST(Parse, ListIsOfAllOrOfOne) {
  EXPECT_EQ(parsed({"list"}).action, Action::list);
  EXPECT_EQ(parsed({"list"}).about, nullptr);
  EXPECT_EQ(parsed({"list", "mover"}).about, declared()[1]);
  EXPECT_TRUE(mentions(error({"list", "movr"}), "did you mean 'mover'?"));
  EXPECT_TRUE(mentions(error({"list", "mover", "cutter"}), "one scenario at most"));
}

TEST(Parse, ListAndInfoRefuseWhatDoesNothingForThem) {
  EXPECT_EQ(error({"list", "--size", "4K"}), "list does not take --size");
  EXPECT_EQ(error({"list", "--json", "x"}), "list does not take --json");
  EXPECT_EQ(error({"info", "--size", "4K"}), "info does not take --size");
  EXPECT_EQ(error({"info", "mover"}), "info takes no scenario");
}

TEST(Parse, InfoIsOfAGpuOrAProfile) {
  EXPECT_EQ(parsed({"info"}).action, Action::info);
  EXPECT_EQ(parsed({"info", "--gpu", "1"}).gpu, 1);
  EXPECT_EQ(parsed({"info", "--simulate"}).simulate, simulated_profiles().front().first);
}

TEST(Parse, HelpIsOfAllOrOfOne) {
  EXPECT_EQ(parsed({"--help"}).action, Action::help);
  EXPECT_EQ(parsed({"-h"}).about, nullptr);
  EXPECT_EQ(parsed({"mover", "--help"}).about, declared()[1]);
  EXPECT_EQ(parsed({"--help", "mover"}).about, declared()[1]);
  EXPECT_EQ(parsed({"list", "mover", "--help"}).about, declared()[1]);
}

TEST(Parse, HelpIsGivenEvenBesideAMistake) { EXPECT_EQ(parsed({"--size", "banana", "--help"}).action, Action::help); }

TEST(Parse, VersionIsAnAction) { EXPECT_EQ(parsed({"--version"}).action, Action::version); }

TEST(Parse, HelpAndVersionMayBeWords) {
  EXPECT_EQ(parsed({"version"}).action, Action::version);
  EXPECT_EQ(parsed({"help"}).action, Action::help);
  EXPECT_EQ(parsed({"help"}).about, nullptr);
  EXPECT_EQ(parsed({"help", "mover"}).action, Action::help);
  EXPECT_EQ(parsed({"help", "mover"}).about, declared()[1]);
  EXPECT_TRUE(mentions(error({"help", "nosuch"}), "unknown scenario 'nosuch'"));
}

// --- Tune -----------------------------------------------------------------------------------------------------------

TEST(Tune, TriesTheValuesToTuneWhereNoFlagIsGiven) {
  const Command command = parsed({"tune"});
  EXPECT_EQ(command.action, Action::tune);
  EXPECT_EQ(keys(command), (Words{"cutter/size=1KiB/parts=1/effort=7", "cutter/size=1KiB/parts=2/effort=7",
                                  "cutter/size=1KiB/parts=4/effort=7", "cutter/size=1KiB/parts=8/effort=7"}));
  EXPECT_EQ(keys(parsed({"tune", "cutter", "--parts", "2,3", "--size", "4K"})),
            (Words{"cutter/size=4KiB/parts=2/effort=7", "cutter/size=4KiB/parts=3/effort=7"}));
  EXPECT_EQ(parsed({}).cases.size(), 1U) << "a run keeps to the defaults";
}

TEST(Tune, KnowsWhichFlagsWereGiven) {
  EXPECT_EQ(parsed({"tune", "--parts", "2", "--size", "4K", "--seed", "3"}).given, (Words{"size", "parts"}));
}

TEST(Tune, HasABudgetOfItsOwn) {
  EXPECT_DOUBLE_EQ(parsed({"tune"}).policy.budget, 6);
  EXPECT_DOUBLE_EQ(parsed({"tune", "--budget", "3"}).policy.budget, 3);
  EXPECT_FALSE(parsed({"tune"}).exhaustive);
  EXPECT_TRUE(parsed({"tune", "--exhaustive"}).exhaustive);
  EXPECT_GT(parsed({"tune", "--exhaustive"}).policy.budget, 3600) << "it ends when all are measured";
  EXPECT_EQ(error({"--exhaustive"}), "--exhaustive does nothing here: it belongs to tune; leave it out");
}

TEST(Tune, LimitsMemory) {
  EXPECT_EQ(parsed({"tune", "--memory-limit", "4K"}).memory_limit, 4096U);
  EXPECT_FALSE(parsed({"tune"}).memory_limit);
  EXPECT_EQ(error({"--memory-limit", "4K"}), "--memory-limit does nothing here: it belongs to tune; leave it out");
  EXPECT_TRUE(mentions(error({"tune", "--memory-limit", "much"}), "--memory-limit: 'much' is not a size"));
}

TEST(Tune, IsOfOneScenarioThatCanBeTuned) {
  EXPECT_EQ(error({"tune", "mover"}), "mover cannot be tuned; these can: cutter");
  EXPECT_EQ(error({"tune", "cutter", "mover"}), "tune takes one scenario at most");
  EXPECT_TRUE(mentions(error({"tune", "cuter"}), "did you mean 'cutter'?"));
  EXPECT_TRUE(mentions(error({"tun"}), "did you mean 'tune'?"));
  EXPECT_TRUE(mentions(error({"tune", "--way", "in"}), "cutter has no --way"));
}

TEST(Tune, MayBeDry) { EXPECT_EQ(parsed({"tune", "--dry-run"}).action, Action::dry_tune); }

TEST(Tune, DoesNotLoseItsNameToSimulate) {
  const Command command = parsed({"--simulate", "tune", "cutter"});
  EXPECT_EQ(command.action, Action::tune);
  EXPECT_EQ(command.simulate, simulated_profiles().front().first);
}

TEST(Tune, HasTheHelpOfItsScenario) {
  EXPECT_EQ(parsed({"tune", "mover", "--help"}).about, declared()[1]);
  EXPECT_EQ(parsed({"tune", "--help"}).about, nullptr);
  EXPECT_TRUE(mentions(describe(declared()[0]->descriptor()), "tune tries 1:8"));
}

// --- Back to a command ----------------------------------------------------------------------------------------------

std::string again(const Words& arguments, std::size_t index = 0) {
  const Command command = parsed(arguments);
  return command_line(command, command.cases.at(index));
}

TEST(CommandLine, NamesWhatIsNotTheDefault) {
  EXPECT_EQ(again({"tune"}), "xferbench cutter --parts 1");
  EXPECT_EQ(again({"tune"}, 2), "xferbench cutter") << "four parts are the default";
}

TEST(CommandLine, NamesWhatWasGivenEvenIfItIsTheDefault) {
  EXPECT_EQ(again({"tune", "--size", "1K", "--parts", "4"}), "xferbench cutter --size 1KiB --parts 4");
  EXPECT_EQ(again({"tune", "--share", "0.5"}, 1), "xferbench cutter --parts 2 --share 0.5") << "and what replaces it";
}

TEST(CommandLine, KeepsTheDevice) {
  EXPECT_EQ(again({"tune", "--simulate"}, 2), "xferbench cutter --simulate " + simulated_profiles().front().first);
  EXPECT_EQ(again({"tune", "--gpu", "1", "--numa", "none"}, 2), "xferbench cutter --gpu 1 --numa none");
  EXPECT_EQ(again({"tune", "--numa", "1"}, 2), "xferbench cutter --numa 1");
}

TEST(CommandLine, MakesTheSameCaseAgain) {
  for (const Scenario* scenario : scenarios()) {
    const Command command = parse(Words{scenario->descriptor().name}, scenarios());
    std::string line = command_line(command, command.cases.front());
    Words words;
    for (std::size_t at = line.find(' '); at != std::string::npos; at = line.find(' ')) {
      line.erase(0, at + 1);
      words.push_back(line.substr(0, line.find(' ')));
    }
    EXPECT_EQ(keys(parse(words, scenarios())).front(), command.cases.front().config.key());
  }
}

TEST(CommandLine, IsQuotedForAShell) {
  EXPECT_EQ(shell_quoted("256MiB"), "256MiB");
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("two words"), "'two words'");
  EXPECT_EQ(shell_quoted("it's"), R"('it'\''s')");
  EXPECT_EQ(shell_quoted("$HOME;*"), "'$HOME;*'");
}

// --- NUMA nodes -----------------------------------------------------------------------------------------------------

TEST(Numa, IsANodeByItsNumberOrAWord) {
  EXPECT_EQ(parsed({"--numa", "local"}).numa.kind, NumaPolicy::Kind::local);
  EXPECT_EQ(parsed({"--numa=none"}).numa.kind, NumaPolicy::Kind::none);
  const NumaPolicy third = parsed({"--numa", "3"}).numa;
  EXPECT_EQ(third.kind, NumaPolicy::Kind::node);
  EXPECT_EQ(third.node, 3);
}

TEST(Numa, RefusesWhatIsNeither) {
  for (const char* text : {"-1", "0,1", "0:3", "1.5", "0x1", "", "99999", "node0"}) {
    EXPECT_TRUE(mentions(error({"--numa", text}), "is not local, none or the number of a NUMA node")) << text;
  }
}

TEST(Numa, SuggestsTheWordThatIsNear) {
  EXPECT_TRUE(mentions(error({"--numa", "locl"}), "did you mean 'local'?"));
  EXPECT_TRUE(mentions(error({"--numa", "non"}), "did you mean 'none'?"));
}

TEST(Numa, SaysNothingToASimulatedRunButNone) {
  EXPECT_TRUE(mentions(error({"--numa", "0", "--simulate"}), "--numa and --simulate contradict each other"));
  EXPECT_TRUE(mentions(error({"--numa", "local", "--simulate"}), "--numa and --simulate contradict each other"));
  EXPECT_TRUE(parsed({"--numa", "none", "--simulate"}).simulate.has_value());
}

TEST(Numa, IsTakenByInfoAndNotByList) {
  EXPECT_EQ(parsed({"info", "--numa", "1"}).numa.node, 1);
  EXPECT_TRUE(mentions(error({"list", "--numa", "1"}), "list does not take --numa"));
}

// --- Names of flags -------------------------------------------------------------------------------------------------

std::vector<std::string> run_flag_names() {
  std::vector<std::string> names{"help", "version"};
  for (const RunFlag& flag : run_flags()) names.push_back(flag.axis.name);
  return names;
}

TEST(Flags, OfARunAreUnique) {
  const std::vector<std::string> names = run_flag_names();
  EXPECT_EQ(std::set(names.begin(), names.end()).size(), names.size());
}

TEST(Flags, OfAScenarioAreUniqueAndNoneIsThatOfARun) {
  const std::vector<std::string> reserved = run_flag_names();
  for (const Scenario* scenario : scenarios()) {
    std::set<std::string> seen(reserved.begin(), reserved.end());
    for (const Axis& axis : scenario->descriptor().axes) {
      EXPECT_TRUE(seen.insert(axis.name).second) << scenario->descriptor().name << " --" << axis.name;
    }
  }
}

TEST(Flags, ThatScenariosShareMeanTheSameKindOfValue) {
  std::map<std::string, AxisKind> kinds;
  for (const Scenario* scenario : scenarios()) {
    for (const Axis& axis : scenario->descriptor().axes) {
      const auto [known, is_new] = kinds.emplace(axis.name, axis.kind);
      EXPECT_EQ(known->second, axis.kind) << scenario->descriptor().name << " --" << axis.name;
    }
  }
}

TEST(Scenarios, HaveUniqueNamesThatAreNoCommands) {
  std::set<std::string_view> seen{"tune", "list", "info", "compare", "help", "version"};
  for (const Scenario* scenario : scenarios())
    EXPECT_TRUE(seen.insert(scenario->descriptor().name).second) << scenario->descriptor().name;
}

TEST(Scenarios, DeclareAxesThatReferToEachOther) {
  for (const Scenario* scenario : scenarios()) {
    const auto& axes = scenario->descriptor().axes;
    const auto declared_at = [&axes](const std::string& name) { return std::ranges::find(axes, name, &Axis::name); };
    for (auto axis = axes.begin(); axis != axes.end(); ++axis) {
      EXPECT_TRUE(axis->alternative_to.empty() || declared_at(axis->alternative_to) != axes.end()) << axis->name;
      if (axis->only_with_axis.empty()) continue;
      const auto other = declared_at(axis->only_with_axis);
      // The cases are expanded in the order of the axes: the other must already be chosen.
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
    const Command command = parse(Words{"tune", scenario->descriptor().name}, scenarios());
    EXPECT_GT(command.cases.size(), 1U) << scenario->descriptor().name;
  }
}

TEST(Scenarios, HaveDefaultsThatMakeCasesThatSomeDeviceCanRun) {
  for (const Scenario* scenario : scenarios()) {
    const Command command = parse(Words{scenario->descriptor().name}, scenarios());
    EXPECT_FALSE(command.cases.empty()) << scenario->descriptor().name;
    for (const PlannedCase& c : command.cases) EXPECT_FALSE(scenario->skip_reason(c.config, nullptr)) << c.config.key();
  }
}

TEST(Scenarios, CanBeRunAgainFromTheKeyOfACase) {
  for (const Scenario* scenario : scenarios()) {
    for (const PlannedCase& c : parse(Words{scenario->descriptor().name}, scenarios()).cases) {
      Words again{scenario->descriptor().name};
      for (const Case::Param& param : c.config.params()) {
        again.push_back("--" + param.name + "=" + to_text(param.value, param.kind));
      }
      EXPECT_EQ(keys(parse(again, scenarios())), Words{c.config.key()});
    }
  }
}

// --- Help -----------------------------------------------------------------------------------------------------------

TEST(Help, NamesEveryFlagAndEveryScenario) {
  std::vector<const ScenarioDescriptor*> descriptors;
  for (const Scenario* scenario : scenarios()) descriptors.push_back(&scenario->descriptor());
  const std::string text = help(descriptors);
  for (const std::string& name : run_flag_names()) EXPECT_TRUE(test::contains(text, "--" + name)) << name;
  for (const ScenarioDescriptor* scenario : descriptors) {
    EXPECT_TRUE(test::contains(text, scenario->name)) << scenario->name;
    for (const Axis& axis : scenario->axes) EXPECT_TRUE(test::contains(text, "--" + axis.name)) << axis.name;
  }
  for (const auto& [profile, description] : simulated_profiles()) EXPECT_TRUE(test::contains(text, profile));
}

TEST(Help, OfOneScenarioSaysWhatIsLegal) {
  const std::string text = describe(declared()[1]->descriptor());
  EXPECT_TRUE(mentions(text, "pinned, pageable; only with --way in,out"));
  EXPECT_TRUE(mentions(text, "1B or more"));
  EXPECT_TRUE(mentions(describe(declared()[0]->descriptor()), "1 to 4096"));
  EXPECT_TRUE(mentions(describe(declared()[0]->descriptor()), "instead of --effort"));
}

TEST(Help, ExplainsColumnsAndWhatElseResultsHave) {
  ScenarioDescriptor copy;
  copy.metrics = {measured("copy", "from the call to the end").column("time", {MetricDeclaration::Beside::interval}),
                  derived("of_limit", "1", Better::higher, "close to the limit").column("of limit"),
                  label("suggestion", "what to try")};
  EXPECT_EQ(explain_results(copy),
            "\nColumns:\n"
            "  time                     from the call to the end [copy: s, lower is better]\n"
            "  +-                       half-width of the 95 % interval of copy\n"
            "  of limit                 close to the limit [of_limit: a ratio, higher is better]\n"
            "\nIn results files only:\n"
            "  suggestion               what to try [a word]\n");
}

TEST(Help, ListsTheDefaultScenarioAsSuch) {
  const std::array descriptors{&declared()[0]->descriptor(), &declared()[1]->descriptor()};
  EXPECT_EQ(list(descriptors),
            "cutter       declared in a test (the default)\n"
            "mover        declared in a test\n"
            "\nAxes and columns of one: xferbench list SCENARIO\n");
}

}  // namespace
}  // namespace xferbench::cli
