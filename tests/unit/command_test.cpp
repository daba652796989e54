// Parsing of command lines: mostly with two small scenarios whose axes are declared here, sometimes with the real ones.
#include "cli/command.hpp"

#include <array>
#include <map>
#include <optional>
#include <stdexcept>

#include "cli/plan.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"
#include "device/open.hpp"
#include "parsing.hpp"
#include "scenarios/scenarios.hpp"
#include "unit/support.hpp"

namespace xferbench::cli {
namespace {

using test::mentions;
using test::message_of;

/// A scenario that declares axes and cannot run.
class Declared : public Scenario {
 public:
  Declared(std::string name, std::vector<Axis> axes, std::vector<MetricDeclaration> metrics = {})
      : descriptor_{.name = std::move(name),
                    .summary = "declared in a test",
                    .axes = std::move(axes),
                    .metrics = std::move(metrics)} {}
  [[nodiscard]] const ScenarioDescriptor& descriptor() const override { return descriptor_; }
  [[nodiscard]] MemoryNeeds needs(const Case&) const override { return {}; }
  void run(const Case&, const RunContext&, Result&) const override { throw std::logic_error("parsing must not run"); }

 private:
  ScenarioDescriptor descriptor_;
};

/// Skips cases with more parts than bytes. Needs one byte of device memory per part.
class Cutter final : public Declared {
 public:
  using Declared::Declared;
  [[nodiscard]] MemoryNeeds needs(const Case& c) const override { return {.device = c.count("parts")}; }
  [[nodiscard]] std::optional<SkipReason> skip_reason(const Case& c, const Capabilities*) const override {
    if (c.count("parts") <= c.count("size")) return std::nullopt;
    return SkipReason::impossible("more parts than bytes");
  }
};

/// Skips combinations: two wheels have neither engine nor fuel, and nothing has five wheels.
class Vehicle final : public Declared {
 public:
  using Declared::Declared;
  [[nodiscard]] std::optional<SkipReason> skip_reason(const Case& c, const Capabilities*) const override {
    if (c.count("wheels") == 5) return SkipReason::impossible("nothing has five wheels");
    if (c.count("wheels") != 2 || c.word("fuel") == "none") return std::nullopt;
    return SkipReason::meaningless("two wheels need no fuel");
  }
};

std::vector<PlannedCase> cases_of(const Command& command) {
  if (const auto* tune = std::get_if<TuneCommand>(&command)) return tune->cases;
  return std::get<RunCommand>(command).cases;
}

/// Keys of the cases of scenario vehicle with these flags.
std::vector<std::string> vehicles(const std::vector<std::string>& arguments) {
  static const Vehicle vehicle(
      "vehicle", {{.name = "wheels", .defaults = "2,4", .tuning = "2,3,4"},
                  {.name = "fuel", .kind = AxisKind::choice, .defaults = "all", .choices = {"none", "coal", "oil"}}});
  static const std::array<const Scenario*, 1> all{&vehicle};
  std::vector<std::string> keys;
  for (const PlannedCase& c : cases_of(parse(arguments, all))) keys.push_back(c.config.key().substr(8));
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
template <class T>
T parsed_as(const Words& arguments) {
  return std::get<T>(parsed(arguments));
}
RunCommand run(const Words& arguments) { return parsed_as<RunCommand>(arguments); }
TuneCommand tune(const Words& arguments) { return parsed_as<TuneCommand>(arguments); }
std::string page(const Words& arguments) { return to_text(parsed_as<HelpCommand>(arguments).page); }

std::string error(const Words& arguments) {
  return message_of<UsageError>([&] { static_cast<void>(parsed(arguments)); });
}

std::vector<std::string> keys(const Command& command) {
  std::vector<std::string> all;
  for (const PlannedCase& c : cases_of(command)) all.push_back(c.config.key());
  return all;
}

std::vector<std::string> keys(const Words& arguments) { return keys(parsed(arguments)); }

// --- Cases ----------------------------------------------------------------------------------------------------------

// Combinations of values that the scenario rules out are not cases.

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
  EXPECT_EQ(keys(Words{}), Words{"cutter/size=1KiB/parts=4/effort=7"});
  EXPECT_EQ(run({}).cases.at(0).scenario, declared()[0]);
  EXPECT_EQ(test::cases_of({}).at(0).config.scenario(), "overlap") << "the first of the real ones";
}

TEST(Parse, DefaultsOfARunAreThoseThatHelpShows) {
  const Measuring m = run({}).measuring;
  EXPECT_DOUBLE_EQ(m.policy.ci, 0.01);
  EXPECT_DOUBLE_EQ(m.policy.budget, 3);
  EXPECT_EQ(m.policy.min_samples, 10U);
  EXPECT_EQ(m.policy.max_samples, 1000U);
  EXPECT_EQ(m.seed, 1U);
  EXPECT_TRUE(m.verify);
  EXPECT_FALSE(m.show.quiet || m.dry_run);
  EXPECT_EQ(m.show.color, ColorMode::automatic);
  EXPECT_EQ(m.device.numa.kind, NumaPolicy::Kind::local);
  EXPECT_FALSE(m.device.gpu || m.device.simulate || m.files.json);
  const std::string help = page({"help", "run"});
  for (const char* shown : {"median [1]", "[3s]", "budget [10]", "[1000]", "payload [1]"}) {
    EXPECT_TRUE(mentions(help, shown));
  }
}

TEST(Parse, MakesTheProductOfAllValuesWithTheLastAxisFastest) {
  EXPECT_EQ(keys({"--size", "1K,2K", "--parts", "1:4"}),
            (Words{"cutter/size=1KiB/parts=1/effort=7", "cutter/size=1KiB/parts=2/effort=7",
                   "cutter/size=1KiB/parts=4/effort=7", "cutter/size=2KiB/parts=1/effort=7",
                   "cutter/size=2KiB/parts=2/effort=7", "cutter/size=2KiB/parts=4/effort=7"}));
}

TEST(Parse, TakesAFlagBeforeAndAfterItsScenarioAndWithAnEqualsSign) {
  const Words expected{"mover/way=out/memory=pinned/size=4KiB"};
  EXPECT_EQ(keys({"mover", "--way", "out", "--memory", "pinned", "--size", "4K"}), expected);
  EXPECT_EQ(keys({"--way", "out", "--memory", "pinned", "--size", "4K", "mover"}), expected);
  EXPECT_EQ(keys({"--way=out", "--memory=pinned", "mover", "--size=4K"}), expected);
  EXPECT_EQ(keys({"run", "--way=out", "mover", "--memory=pinned", "--size=4K"}), expected);
}

TEST(Parse, JoinsTheValuesOfAnAxisFlagGivenTwice) {
  EXPECT_EQ(run({"--parts", "1", "--parts", "2,4"}).cases.size(), 3U);
  EXPECT_EQ(run({"--parts", "1", "cutter", "--parts", "2", "--parts", "4"}).cases.size(), 3U);
}

TEST(Parse, LeavesAnAxisOutWhereItDoesNotApply) {
  EXPECT_EQ(keys({"mover"}), (Words{"mover/way=in/memory=pinned/size=2KiB", "mover/way=in/memory=pageable/size=2KiB",
                                    "mover/way=inside/size=2KiB"}));
  EXPECT_EQ(run({"mover", "--way", "in,inside", "--memory", "pinned"}).cases.size(), 2U) << "one case uses it";
}

TEST(Parse, ReplacesOneAxisByAnother) {
  EXPECT_EQ(keys({"--share", "0.5,2"}),
            (Words{"cutter/size=1KiB/parts=4/share=0.5", "cutter/size=1KiB/parts=4/share=2"}));
}

TEST(Parse, KeepsCasesThatTheScenarioObjectsToUnlessItObjectsToAll) {
  EXPECT_EQ(run({"--size", "2", "--parts", "1,4"}).cases.size(), 2U) << "the second will be skipped with its reason";
  EXPECT_EQ(error({"--size", "2", "--parts", "4"}), "more parts than bytes");
}

TEST(Parse, RefusesMoreCasesThanAnyoneRuns) {
  EXPECT_EQ(run({"--parts", "1:100:+1", "--effort", "1:1000:+1"}).cases.size(), 100'000U);
  EXPECT_TRUE(mentions(error({"--parts", "1:11:+1", "--effort", "1:9091:+1"}), "more than 100000 cases"));
}

// --- Several scenarios ----------------------------------------------------------------------------------------------

TEST(SeveralScenarios, RunInTheOrderNamedAndEachOnce) {
  EXPECT_EQ(keys({"mover", "cutter", "mover", "--way", "inside"}),
            (Words{"mover/way=inside/size=2KiB", "cutter/size=1KiB/parts=4/effort=7"}));
}

TEST(SeveralScenarios, HaveFlagsOfTheirOwn) {
  EXPECT_EQ(keys({"cutter", "--size", "8K", "mover", "--way", "inside"}),
            (Words{"cutter/size=8KiB/parts=4/effort=7", "mover/way=inside/size=2KiB"}));
  EXPECT_EQ(keys({"cutter", "--size", "8K", "mover", "--way", "inside", "--size", "4K"}),
            (Words{"cutter/size=8KiB/parts=4/effort=7", "mover/way=inside/size=4KiB"}));
}

TEST(SeveralScenarios, AllHaveAFlagThatStandsBeforeThem) {
  EXPECT_EQ(keys({"--size", "8K", "--way", "inside", "cutter", "mover"}),
            (Words{"cutter/size=8KiB/parts=4/effort=7", "mover/way=inside/size=8KiB"}));
}

TEST(SeveralScenarios, ARunFlagHoldsForAllWhereverItStands) {
  for (const Words& words : {Words{"--seed", "7", "cutter", "mover"},
                             {"cutter", "--seed", "7", "mover"},
                             {"cutter", "mover", "--seed", "7"}}) {
    EXPECT_EQ(run(words).measuring.seed, 7U);
    EXPECT_EQ(run(words).cases.size(), 4U);
  }
}

TEST(SeveralScenarios, AnErrorNamesTheOneThatItIsAbout) {
  const auto of_all = [](const Words& words) { return message_of<UsageError>([&] { test::cases_of(words); }); };
  const std::string value = of_all({"--op", "read", "latency", "smem"});
  EXPECT_TRUE(value.starts_with("latency: --op: 'read' is not one of")) << value;
  EXPECT_EQ(
      test::cases_of({"latency", "--op", "chase", "smem", "--op", "read", "--size", "1M"}).back().config.word("op"),
      "read")
      << "flags of the same name do not collide";
  const std::string host = of_all({"memcpy", "staging", "--host", "managed"});
  EXPECT_TRUE(host.starts_with("staging: --host: 'managed' is not one of")) << host;
  EXPECT_TRUE(host.ends_with("; memcpy takes it: write --host managed after memcpy")) << host;
  EXPECT_FALSE(mentions(of_all({"memcpy", "staging", "--host", "managd"}), "takes it"));
  EXPECT_TRUE(mentions(error({"cutter", "mover", "--parts", "1"}), "mover has no --parts, which belongs to cutter"));
  EXPECT_TRUE(mentions(error({"cutter", "--way", "in", "mover"}), "cutter has no --way, which belongs to mover"));
}

TEST(SeveralScenarios, SharedAllFlagsInOlderCommandLines) {
  const Words old{"cutter", "mover", "--way", "inside", "--size", "8K", "--parts", "2"};
  EXPECT_TRUE(mentions(error(old), "--parts"));
  EXPECT_EQ(keys(parse(old, declared(), AxisFlags::of_all)),
            (Words{"cutter/size=8KiB/parts=2/effort=7", "mover/way=inside/size=8KiB"}));
}

// --- Mistakes -------------------------------------------------------------------------------------------------------

/// A wrong command line, and the words that the message must contain: the culprit and the remedy.
struct Mistake {
  Words words;
  std::vector<const char*> mentioned;
};

void PrintTo(const Mistake& mistake, std::ostream* out) {
  for (const std::string& word : mistake.words) *out << word << ' ';
}

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreNamed) {
  const std::string message = error(GetParam().words);
  EXPECT_EQ(message.find('\n'), std::string::npos);
  for (const char* part : GetParam().mentioned) EXPECT_TRUE(mentions(message, part));
}

INSTANTIATE_TEST_SUITE_P(
    Words, Mistakes,
    testing::Values(Mistake{{"cuter"}, {"'cuter'", "cutter, mover", "did you mean 'cutter'?"}},
                    Mistake{{"lst"}, {"did you mean 'list'?"}}, Mistake{{"tun"}, {"did you mean 'tune'?"}},
                    Mistake{{"mover", "8K"}, {"'8K'", "by commas"}}, Mistake{{""}, {"'' is neither"}},
                    Mistake{{"list", "movr"}, {"did you mean 'mover'?"}},
                    Mistake{{"list", "mover", "cutter"}, {"list", "at most one scenario"}},
                    Mistake{{"info", "mover"}, {"info does not take 'mover'"}},
                    Mistake{{"man", "mover"}, {"man does not take 'mover'"}},
                    Mistake{{"version", "1"}, {"version does not take '1'"}}, Mistake{{"help", "nosuch"}, {"'nosuch'"}},
                    Mistake{{"mover", "compare"}, {"compare comes first"}},
                    Mistake{{"completion", "zhs"}, {"bash, zsh", "did you mean 'zsh'?"}},
                    Mistake{{"completion"}, {"completion: a value is missing", "bash"}},
                    Mistake{{"tune", "mover"}, {"mover", "these scenarios can: cutter"}},
                    Mistake{{"tune", "cutter", "mover"}, {"tune", "at most one scenario"}}));

INSTANTIATE_TEST_SUITE_P(
    UnknownFlags, Mistakes,
    testing::Values(Mistake{{"--sise", "4"}, {"unknown flag --sise;", "did you mean '--size'?"}},
                    Mistake{{"--sise=4"}, {"unknown flag --sise;", "did you mean '--size'?"}},
                    Mistake{{"cutter", "--vay", "in"}, {"unknown flag --vay (see"}},
                    Mistake{{"mover", "--dtoh"}, {"unknown flag --dtoh; here it is memcpy --dir d2h"}},
                    Mistake{{"--testSamples=9"}, {"here it is --max-samples"}},
                    Mistake{{"mover", "--max-sample", "4"}, {"did you mean '--max-samples'?"}},
                    Mistake{{"compare", "a", "b", "--treshold", "4"}, {"did you mean '--threshold'?"}},
                    Mistake{{"-x"}, {"unknown flag -x"}}, Mistake{{"--no-verify", "-5"}, {"-5"}},
                    Mistake{{"cutter", "--way", "in"}, {"cutter has no --way", "mover", "--size --parts"}},
                    Mistake{{"--way", "in"}, {"cutter has no --way"}},
                    Mistake{{"tune", "--way", "in"}, {"cutter has no --way"}},
                    Mistake{{"--exhaustive"}, {"--exhaustive", "belongs to tune"}},
                    Mistake{{"--objective", "wall"}, {"--objective", "belongs to tune"}},
                    Mistake{{"tune", "--objective", "both"}, {"--objective", "both", "device", "wall"}},
                    Mistake{{"--memory-limit", "4K"}, {"--memory-limit", "belongs to tune"}},
                    Mistake{{"--expect", "h200"}, {"--expect", "belongs to check"}},
                    Mistake{{"list", "--size", "4K"}, {"list does not take --size"}},
                    Mistake{{"list", "--json", "x"}, {"list does not take --json"}},
                    Mistake{{"list", "--numa", "1"}, {"list does not take --numa"}},
                    Mistake{{"--json", "x", "list"}, {"list does not take --json"}},
                    Mistake{{"info", "--size", "4K"}, {"info does not take --size"}},
                    Mistake{{"completion", "bash", "--json", "x"}, {"completion does not take --json"}},
                    Mistake{{"tune", "--timeline", "x"}, {"tune does not take --timeline"}},
                    Mistake{{"tune", "--suite", "x"}, {"tune does not take --suite"}},
                    Mistake{{"mover", "--way", "inside", "--memory", "pinned"},
                            {"--memory does nothing here", "--way in,out"}}));

INSTANTIATE_TEST_SUITE_P(
    Values, Mistakes,
    testing::Values(Mistake{{"mover", "--memory", "pined"}, {"--memory", "'pined'", "did you mean 'pinned'?"}},
                    Mistake{{"--size"}, {"--size needs a value"}}, Mistake{{"--size", "--quiet"}, {"--size", "needs"}},
                    Mistake{{"mover", "--size="}, {"--size needs a value"}},
                    Mistake{{"--size", ""}, {"--size: needs a value"}},
                    Mistake{{"--simulate="}, {"--simulate needs a value"}},
                    Mistake{{"--json", "--quiet"}, {"--json", "needs a value"}}, Mistake{{"--json"}, {"--json"}},
                    Mistake{{"--json", ""}, {"--json", "needs a value"}},
                    Mistake{{"--timeline", ""}, {"--timeline", "needs a value"}},
                    Mistake{{"--quiet=false"}, {"--quiet takes no value"}},
                    Mistake{{"--parts", "-4"}, {"--parts: -4 is too small; the smallest is 1"}},
                    Mistake{{"--budget", "-1"}, {"--budget: -1 is too small"}},
                    Mistake{{"--seed", "1,2"}, {"--seed takes one value"}},
                    Mistake{{"--json", "a", "mover", "--json", "b"}, {"--json is given more than once"}},
                    Mistake{{"--budget", "1", "--budget", "2"}, {"--budget is given more than once"}},
                    Mistake{{"--max-samples", "1000001"}, {"--max-samples", "too large"}},
                    Mistake{{"--simulate", "h201"}, {"--simulate: 'h201' is not one of", "did you mean 'h200'?"}},
                    Mistake{{"--numa", "locl"}, {"--numa", "did you mean 'local'?"}}));

INSTANTIATE_TEST_SUITE_P(
    Contradictions, Mistakes,
    testing::Values(Mistake{{"--share", "1", "--effort", "3"}, {"--share", "--effort", "contradict"}},
                    Mistake{{"--effort", "3", "cutter", "--share", "1"}, {"--share", "--effort", "contradict"}},
                    Mistake{{"--gpu", "0", "cutter", "--gpus", "2"}, {"--gpu", "--gpus", "contradict"}},
                    Mistake{{"--dry-run", "--json", "x"}, {"--json", "--dry-run", "contradict"}},
                    Mistake{{"--dry-run", "--timeline", "x"}, {"--timeline", "--dry-run", "contradict"}},
                    Mistake{{"--json", "-", "--timeline", "-"}, {"--json", "--timeline", "standard output"}},
                    Mistake{{"--json", "x", "--timeline", "x"}, {"--json", "--timeline", "same file"}},
                    Mistake{{"--csv", "x~", "--json", "x"}, {"--json and --csv name the same file", "kept as x~"}},
                    Mistake{{"--markdown", "x", "--json", "x~"}, {"--markdown and --json", "kept as x~"}},
                    Mistake{{"--min-samples", "20", "--max-samples", "19"}, {"--min-samples 20", "--max-samples 19"}},
                    Mistake{{"--numa", "0", "--simulate"}, {"--numa", "--simulate", "contradict"}},
                    Mistake{{"--numa", "local", "--simulate"}, {"--numa", "--simulate", "contradict"}},
                    Mistake{{"--repeat", "2"}, {"--repeat needs --json FILE"}},
                    Mistake{{"--repeat", "2", "--json", "-"}, {"--repeat needs --json FILE"}},
                    Mistake{{"--repeat", "0", "--json", "x"}, {"--repeat: 0 is too small"}},
                    Mistake{{"--quiet", "--progress", "plain"}, {"--progress and --quiet contradict each other"}},
                    Mistake{{"--suite", "quick", "--timeline", "t"}, {"--suite and --timeline contradict each other"}},
                    Mistake{{"--dry-run", "--csv", "x"}, {"--csv and --dry-run contradict each other"}},
                    Mistake{{"--dry-run", "--markdown", "x"}, {"--markdown and --dry-run contradict each other"}},
                    Mistake{{"--dry-run", "--html", "x"}, {"--html and --dry-run contradict each other"}},
                    Mistake{{"--dry-run", "--openmetrics", "x"}, {"--openmetrics", "--dry-run", "contradict"}},
                    Mistake{{"--repeat", "2", "--json", "x", "--openmetrics", "y"}, {"--repeat", "contradict"}},
                    Mistake{{"--format", "bmv"}, {"--format", "'bmv'", "bmf"}},
                    Mistake{{"--format", "bmf,nvbandwidth"}, {"--format takes one name"}},
                    Mistake{{"--format", "bmf="}, {"--format bmf= needs a file name"}},
                    Mistake{{"--format", "bmf", "--format", "bmf=x"}, {"--format bmf is given more than once"}},
                    Mistake{{"--format", "bmf", "--format", "nvbandwidth"}, {"--format bmf", "standard output"}},
                    Mistake{{"--format", "bmf=x", "--json", "x"}, {"--json and --format bmf name the same file"}},
                    Mistake{{"--format", "bmf", "--no-verify"}, {"--format and --no-verify contradict", "verified"}},
                    Mistake{{"--format", "bmf", "--dry-run"}, {"--format and --dry-run contradict each other"}},
                    Mistake{{"tune", "--format", "bmf"}, {"tune does not take --format"}},
                    Mistake{{"check", "a", "--expect", "b", "--format", "bmf"}, {"check does not take --format"}},
                    Mistake{{"--resume", "x", "--junit", "y"}, {"--junit does nothing here: it belongs to check"}},
                    Mistake{{"tune", "--openmetrics", "x"}, {"tune does not take --openmetrics"}},
                    Mistake{{"compare", "a", "b", "--openmetrics", "x"}, {"compare does not take --openmetrics"}},
                    Mistake{{"compare", "--across", "a", "b", "--annotations", "github"}, {"contradict"}},
                    Mistake{{"check", "a", "--expect", "b", "--annotations", "gitlab"}, {"--annotations", "gitlab"}},
                    Mistake{{"check", "a", "--expect", "b", "--junit", "x", "--json", "x"}, {"the same file"}},
                    Mistake{{"compare", "-", "-"}, {"only one file can be -"}},
                    Mistake{{"compare", "--across", "a"}, {"--across needs at least two files"}},
                    Mistake{{"compare", "a", "b", "--strict=yes"}, {"--strict takes no value"}},
                    Mistake{{"compare", "--base", "a"}, {"--base", "--new", "compare --help"}},
                    Mistake{{"compare", "a", "--across", "b", "--strict"}, {"--across", "--strict", "contradict"}},
                    Mistake{{"compare", "a"}, {"two results files", "one is given"}},
                    Mistake{{"compare", "a", "--base", "b", "--new", "c"}, {"'a' belongs to neither side"}},
                    Mistake{{"compare", "a", "b", "--threshold", "100"}, {"--threshold"}},
                    Mistake{{"check", "a", "--expect", "h200", "--gpu", "0"}, {"check does not take --gpu"}},
                    Mistake{{"check", "a"}, {"--expect"}}, Mistake{{"check", "--expect", "a"}, {"results file"}},
                    Mistake{{"check", "-", "-", "--expect", "a"}, {"only one file can be -"}},
                    Mistake{{"expect"}, {"results of good runs"}},
                    Mistake{{"expect", "a", "--json", "b"}, {"expect does not take --json"}},
                    Mistake{{"expect", "a", "--assume-spread", "0"}, {"--assume-spread: 0 is too small"}},
                    Mistake{{"help", "movr"}, {"scenarios are cutter, mover", "commands are run, tune", "'mover'?"}},
                    Mistake{{"help", "suites"}, {"xferbench list suites"}},
                    Mistake{{"help", "mover", "cutter"}, {"one scenario or command"}},
                    Mistake{{"list", "tune"}, {"'tune' is a command; write xferbench help tune"}},
                    Mistake{{"version", "x"}, {"version does not take 'x'; leave it out"}},
                    Mistake{{"info", "mover"}, {"info does not take 'mover'; leave it out"}},
                    Mistake{{"compare", "mover", "cutter"}, {"a file of that name is ./"}},
                    Mistake{{"completion", "tcsh"}, {"'tcsh' is not one of bash, zsh, fish"}}));

TEST(Mistakes, AreForgivenWhereHelpIsAskedFor) {
  EXPECT_EQ(page({"--size", "banana", "--help"}), page({"--help"}));
  EXPECT_EQ(page({"mover", "--way", "nowhere", "--parts", "1", "--nosuch", "-h"}), page({"mover", "--help"}));
}

// --- Run flags ------------------------------------------------------------------------------------------------------

TEST(RunFlags, AreRead) {
  const Measuring m = run({"--ci", "0.5", "--budget", "10", "cutter", "--seed", "18446744", "--no-verify", "--quiet",
                           "--color", "never", "--gpu", "3", "--json", "out.json"})
                          .measuring;
  EXPECT_DOUBLE_EQ(m.policy.ci, 0.005) << "a flag in percent, a policy in parts of one";
  EXPECT_DOUBLE_EQ(m.policy.budget, 10);
  EXPECT_EQ(m.seed, 18446744U);
  EXPECT_FALSE(m.verify);
  EXPECT_TRUE(m.show.quiet);
  EXPECT_EQ(m.show.color, ColorMode::never);
  EXPECT_EQ(m.show.progress, ProgressMode::never) << "a quiet run shows none";
  EXPECT_EQ(m.device.gpu, (GpuSelection{.numbers = {3}}));
  EXPECT_EQ(m.files.json, "out.json");
  EXPECT_TRUE(run({"--dry-run"}).measuring.dry_run);
  EXPECT_TRUE(tune({"tune", "--dry-run"}).measuring.dry_run);
}

TEST(RunFlags, OfAProcessOfARepeatAreThoseOfTheWholeAndItsNumber) {
  const RunCommand one = run({"--process=2", "mover", "--repeat", "3", "--json", "r.json"});
  EXPECT_EQ(one.process, 2U);
  EXPECT_EQ(one.repeat, 3U);
  EXPECT_EQ(keys(Command(one)), keys({"mover"}));
  EXPECT_FALSE(mentions(page({"help", "run"}), "--process"));
  EXPECT_TRUE(mentions(error({"--process", "2"}), "--repeat"));
}

TEST(RunFlags, OfATimelineNeedAScenarioThatHasOne) {
  const auto timeline = [](const Words& words) {
    return std::get<RunCommand>(parse(words, scenarios())).measuring.files.timeline;
  };
  EXPECT_EQ(timeline({"--timeline", "out.json"}), "out.json");
  EXPECT_EQ(timeline({"memcpy", "overlap", "--timeline", "-"}), "-");
  EXPECT_FALSE(timeline({}));
  EXPECT_TRUE(mentions(message_of<UsageError>([&] {
                         timeline({"memcpy", "--timeline", "x"});
                       }),
                       "memcpy has no timeline; these scenarios have one: overlap"));
}

TEST(RunFlags, OfSamplingMoveTheOtherLimitOutOfTheWay) {
  const SamplingPolicy many = run({"--min-samples", "5000"}).measuring.policy;
  EXPECT_EQ(many.min_samples, 5000U);
  EXPECT_EQ(many.max_samples, 5000U);
  const SamplingPolicy few = run({"--max-samples", "3"}).measuring.policy;
  EXPECT_EQ(few.min_samples, 3U);
  EXPECT_EQ(few.max_samples, 3U);
  EXPECT_EQ(run({"--min-samples", "20", "--max-samples", "20"}).measuring.policy.min_samples, 20U);
}

TEST(Simulate, TakesAProfileAndNoScenarioOrCommandForOne) {
  const std::string first = simulated_profiles().front().first;
  const std::string last = simulated_profiles().back().first;
  const auto profile = [](const Words& words) { return run(words).measuring.device.simulate; };
  EXPECT_EQ(profile({"--simulate"}), first);
  EXPECT_EQ(profile({"--simulate", "--parts", "2"}), first) << "a flag follows";
  EXPECT_EQ(profile({"--simulate", last}), last);
  EXPECT_EQ(profile({"--simulate=" + last}), last);
  EXPECT_EQ(profile({"--simulate", "mover", "--way", "inside"}), first);
  EXPECT_EQ(keys({"--simulate", last, "mover", "--way", "inside"}), Words{"mover/way=inside/size=2KiB"});
  for (const auto* path : {"slow.json", "./mover", "/a/b", "d/rank-%r.json"}) {
    EXPECT_EQ(profile({"--simulate", path}), path) << "read when it is opened";
    EXPECT_EQ(parsed_as<InfoCommand>({"info", std::string("--simulate=") + path}).device.simulate, path);
  }
  EXPECT_EQ(parsed_as<InfoCommand>({"--simulate", "info"}).device.simulate, first);
  EXPECT_EQ(parsed_as<InfoCommand>({"info", "--simulate"}).device.simulate, first);
  EXPECT_EQ(tune({"--simulate", "tune", "cutter"}).measuring.device.simulate, first);
}

TEST(Numa, IsANodeByItsNumberOrAWord) {
  const auto numa = [](const Words& words) { return run(words).measuring.device.numa; };
  EXPECT_EQ(numa({"--numa", "local"}).kind, NumaPolicy::Kind::local);
  EXPECT_EQ(numa({"--numa=none"}).kind, NumaPolicy::Kind::none);
  EXPECT_EQ(numa({"--numa", "3"}).kind, NumaPolicy::Kind::node);
  EXPECT_EQ(numa({"--numa", "3"}).node, 3);
  EXPECT_EQ(parsed_as<InfoCommand>({"info", "--numa", "1"}).device.numa.node, 1);
  EXPECT_TRUE(run({"--numa", "none", "--simulate"}).measuring.device.simulate.has_value());
  for (const char* text : {"-1", "0,1", "0:3", "1.5", "0x1", "", "99999", "node0"}) {
    EXPECT_TRUE(mentions(error({"--numa", text}), "is not local, none, all or the number of a NUMA node")) << text;
  }
}

// --- Other commands -------------------------------------------------------------------------------------------------

TEST(Commands, ListIsOfAllOfOneOrOfSuites) {
  using Of = ListCommand::Of;
  EXPECT_EQ(parsed_as<ListCommand>({"list"}).of, Of::everything);
  EXPECT_TRUE(page({"list", "mover"}).starts_with(page({"mover", "--help"})));
  EXPECT_EQ(parsed_as<ListCommand>({"list", "scenarios"}).of, Of::scenarios);
  EXPECT_EQ(parsed_as<ListCommand>({"list", "suites"}).of, Of::suites);
  EXPECT_EQ(parsed_as<ListCommand>({"list", "expectations"}).of, Of::expectations);
  EXPECT_EQ(parsed_as<ListCommand>({"list", "profiles"}).of, Of::profiles);
}

TEST(Commands, ListExplainsColumnsAndWhatElseResultsHave) {
  const Declared copy(
      "copy", {},
      {measured("copy", "from the call to the end").column("time", {MetricDeclaration::Companion::interval}),
       derived("of_limit", "1", Better::higher, "close to the limit").column("of limit"),
       derived_time("copy", "the same name once more"), measured("half", "the first half"),
       label("suggestion", "what to try")});
  const std::array<const Scenario*, 1> all{&copy};
  const std::string text = to_text(std::get<HelpCommand>(parse(Words{"list", "copy"}, all)).page);
  EXPECT_TRUE(
      text.ends_with("\nColumns:\n"
                     "  time       from the call to the end [copy: s, lower is better]\n"
                     "  ±          half-width of the 95 % interval of copy\n"
                     "  of limit   close to the limit [of_limit: a ratio, higher is better]\n"
                     "\nRows of the measurements table:\n"
                     "  half       the first half [s, lower is better]\n"
                     "\nIn results files only:\n"
                     "  suggestion what to try [a word]\n"))
      << text;
}

TEST(Commands, InfoIsOfAGpuAndMayBeJson) {
  EXPECT_EQ(parsed_as<InfoCommand>({"info", "--gpu", "1"}).device.gpu, (GpuSelection{.numbers = {1}}));
  EXPECT_FALSE(parsed_as<InfoCommand>({"info"}).files.json);
  EXPECT_EQ(parsed_as<InfoCommand>({"info", "--json"}).files.json, "-");
  EXPECT_EQ(parsed_as<InfoCommand>({"info", "--json", "facts.json"}).files.json, "facts.json");
  const auto simulated = parsed_as<InfoCommand>({"info", "--json", "--simulate", "h200"});
  EXPECT_EQ(simulated.files.json, "-");
  EXPECT_EQ(simulated.device.simulate, "h200");
}

TEST(Commands, HelpIsAFlagOrAWord) {
  EXPECT_EQ(page({"help"}), page({"--help"}));
  EXPECT_EQ(page({"-h"}), page({"--help"}));
  EXPECT_EQ(page({"help", "mover"}), page({"mover", "--help"}));
  EXPECT_EQ(page({"--help", "mover"}), page({"mover", "--help"}));
  EXPECT_EQ(page({"list", "mover", "--help"}), page({"mover", "--help"}));
  for (const char* command : {"run", "tune", "compare", "check", "expect", "explain", "list", "info", "help", "version",
                              "completion", "man"}) {
    EXPECT_EQ(page({"help", command}), page({command, "--help"})) << command;
    EXPECT_TRUE(page({"help", command}).starts_with(std::string(command) + ": "));
  }
  EXPECT_TRUE(mentions(page({"tune", "cutter", "--help"}), "tune tries 1:8"));
  EXPECT_EQ(page({"help", "tune", "cutter"}), page({"tune", "cutter", "--help"}));
}

TEST(Commands, VersionIsAFlagOrAWord) {
  for (const Words& words : {Words{"--version"}, {"-V"}, {"version"}, {"mover", "-V"}}) {
    EXPECT_TRUE(std::holds_alternative<VersionCommand>(parsed(words)));
  }
}

TEST(Commands, CompareTakesFilesInThreeWays) {
  const auto two =
      parsed_as<CompareCommand>({"compare", "a", "b", "c", "--threshold", "5", "--only", "x*", "--only", "y"});
  EXPECT_EQ(two.base, Words{"a"});
  EXPECT_EQ(two.new_side, (Words{"b", "c"}));
  EXPECT_DOUBLE_EQ(two.options.threshold, 0.05);
  EXPECT_EQ(two.options.only, (Words{"x*", "y"}));
  const auto sides = parsed_as<CompareCommand>({"compare", "--base", "a", "b", "--new", "c", "d", "--json", "-"});
  EXPECT_EQ(sides.base, (Words{"a", "b"}));
  EXPECT_EQ(sides.new_side, (Words{"c", "d"}));
  EXPECT_EQ(sides.files.json, "-");
  const auto across = parsed_as<CompareCommand>({"compare", "a", "--quiet", "--across", "b", "-"});
  EXPECT_EQ(across.across, (Words{"a", "b", "-"}));
  EXPECT_TRUE(across.show.quiet);
  EXPECT_EQ(parsed_as<CompareCommand>({"compare", "-", "b"}).base, Words{"-"});
  EXPECT_EQ(parsed_as<CompareCommand>({"compare", "a", "b", "--annotations", "github"}).annotations,
            Annotations::github);
}

TEST(Commands, RunsAndReportsTakeFormatsWithFiles) {
  const auto run = parsed_as<RunCommand>({"--format", "bmf", "mover", "--format=github-bigger=a=b.json"});
  EXPECT_EQ(run.measuring.files.formats,
            (std::map<ReportFormat, std::string>{{ReportFormat::bmf, "-"}, {ReportFormat::github_bigger, "a=b.json"}}));
  const auto report = parsed_as<ReportCommand>({"report", "r.json", "--format", "nvbandwidth=n.json"});
  EXPECT_EQ(report.files.formats.at(ReportFormat::nvbandwidth), "n.json");
}

TEST(Commands, ExpectTakesGoodRunsAndWhereToWrite) {
  const auto one = parsed_as<ExpectCommand>({"expect", "good.json"});
  EXPECT_EQ(one.good, Words{"good.json"});
  EXPECT_EQ(one.output, "-");
  EXPECT_DOUBLE_EQ(one.assumed_spread, 0.02);
  const auto more = parsed_as<ExpectCommand>(
      {"expect", "a", "b", "-o", "mine.json", "--assume-spread", "1.5", "--allow-doubtful", "--allow-simulated"});
  EXPECT_EQ(more.good, (Words{"a", "b"}));
  EXPECT_EQ(more.output, "mine.json");
  EXPECT_DOUBLE_EQ(more.assumed_spread, 0.015);
  EXPECT_TRUE(more.allow_doubtful && more.allow_simulated);
  EXPECT_EQ(parsed_as<ExpectCommand>({"expect", "a", "--output", "m"}).output, "m");
}

TEST(Commands, CheckTakesFilesAndWhatToExpectOfThem) {
  const auto check =
      parsed_as<CheckCommand>({"check", "r.json", "--expect", "h200", "--markdown", "m", "--allow-simulated"});
  EXPECT_EQ(check.results, Words{"r.json"});
  EXPECT_EQ(parsed_as<CheckCommand>({"check", "a", "b", "-", "--expect", "h200"}).results, (Words{"a", "b", "-"}));
  EXPECT_EQ(check.expect, "h200");
  EXPECT_EQ(check.files.markdown, "m");
  EXPECT_TRUE(check.allow_simulated);
  EXPECT_EQ(check.annotations, Annotations::none);
  const auto ci = parsed_as<CheckCommand>(
      {"check", "r", "--expect", "h200", "--junit", "j", "--openmetrics", "o", "--annotations", "github"});
  EXPECT_EQ(ci.files.junit, "j");
  EXPECT_EQ(ci.files.openmetrics, "o");
  EXPECT_EQ(ci.annotations, Annotations::github);
}

TEST(Tune, TriesTheValuesToTuneWhereNoFlagIsGiven) {
  EXPECT_EQ(keys({"tune"}), (Words{"cutter/size=1KiB/parts=1/effort=7", "cutter/size=1KiB/parts=2/effort=7",
                                   "cutter/size=1KiB/parts=4/effort=7", "cutter/size=1KiB/parts=8/effort=7"}));
  EXPECT_EQ(keys({"tune", "--size", "4K", "cutter", "--parts", "2,3"}),
            (Words{"cutter/size=4KiB/parts=2/effort=7", "cutter/size=4KiB/parts=3/effort=7"}));
  EXPECT_EQ(tune({"tune", "--parts", "2", "--size", "4K", "--seed", "3"}).given, (Words{"size", "parts"}));
}

TEST(Tune, HasABudgetAndLimitsOfItsOwn) {
  EXPECT_DOUBLE_EQ(tune({"tune"}).measuring.policy.budget, 3);
  EXPECT_DOUBLE_EQ(tune({"tune", "--budget", "3"}).measuring.policy.budget, 3);
  EXPECT_FALSE(tune({"tune"}).exhaustive);
  EXPECT_TRUE(tune({"tune", "cutter", "--parts", "2", "--exhaustive"}).exhaustive);
  EXPECT_EQ(tune({"tune"}).objective, Objective::device);
  EXPECT_EQ(tune({"tune", "--objective", "wall"}).objective, Objective::wall);
  EXPECT_GT(tune({"tune", "--exhaustive"}).measuring.policy.budget, 3600) << "it ends when all are measured";
  EXPECT_EQ(tune({"tune", "--memory-limit", "4K"}).memory_limit, 4096U);
  EXPECT_FALSE(tune({"tune"}).memory_limit);
}

// --- Back to a command ----------------------------------------------------------------------------------------------

std::string again(const Words& arguments, std::size_t index = 0) {
  const TuneCommand command = tune(arguments);
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
  EXPECT_EQ(again({"tune", "--gpu", "1", "--simulate", "h200-x2"}, 2), "xferbench cutter --simulate h200-x2 --gpu 1");
  EXPECT_EQ(again({"tune", "--numa", "1"}, 2), "xferbench cutter --numa 1");
  for (const char* gpus : {"all", "2", "3,0"}) {
    const auto command = std::get<TuneCommand>(parse(Words{"tune", "multipath", "--gpus", gpus}, scenarios()));
    EXPECT_TRUE(command_line(command, command.cases.front()).ends_with(std::string(" --gpus ") + gpus)) << gpus;
  }
}

}  // namespace
}  // namespace xferbench::cli
