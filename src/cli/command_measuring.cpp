// Declares the scenarios with the flags of their axes, and the commands that measure them: `run` and `tune`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "cli/command_flags.hpp"
#include "core/error.hpp"
#include "core/lists.hpp"

namespace xferbench::cli {

// --- Axes -----------------------------------------------------------------------------------------------------------

namespace {

/// Adds the flag of an axis to `app`. CLI11 only finds the words that the flag takes; plan() parses the values. After
/// the flag of a text axis, a word with dashes is a value unless it is a flag of the program.
CLI::Option* add_axis(CommandLine& line, CLI::App& app, const Axis& axis, const std::string& help,
                      const CLI::callback_t& read = {}) {
  CLI::Option* option = app.add_option(flag_names(axis), read, help);
  return valued(option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll), placeholder(axis), axis.implicit_value,
                axis.kind == AxisKind::text ? &line.app : nullptr);
}

/// Adds the axis flags that may stand before all scenarios and apply to every scenario that has the axis.
void add_shared_axes(CommandLine& line) {
  line.app.option_defaults()->group(kOfScenarios);
  std::set<std::string> added;  // names of all flags so far; CLI11 would search its whole list for each new one
  for (const CLI::Option* option : line.app.get_options()) added.insert(option->get_name());
  for (const Scenario* scenario : line.scenarios) {
    for (const Axis& axis : descriptor_of(*scenario).axes) {
      if (!added.insert("--" + axis.name).second) continue;
      const CLI::callback_t read = [&line, name = axis.name,
                                    separator = std::string(1, axis.separator)](const CLI::results_t& texts) {
        const Scenario* behind = line.scenario_of(line.innermost());
        if (behind == nullptr || line.axis_flags == AxisFlags::of_all) {
          std::string& text = line.shared[name];
          text += fmt::format("{}{}", text.empty() ? "" : separator, fmt::join(texts, separator));
        } else if (!line.misplaced) {
          line.misplaced = lacks(*behind, name, line.scenarios);
        }
        return true;
      };
      add_axis(line, line.app, axis, "", read)->trigger_on_parse();
    }
  }
}

void add_scenario(CommandLine& line, CLI::App& parent, const Scenario& scenario) {
  const auto& about = descriptor_of(scenario);
  CLI::App* app = parent.add_subcommand(about.name, about.summary);
  const std::string before = &parent == &line.app ? "" : parent.get_name() + " ";
  line.known[app] = {.usage = fmt::format("  xferbench {}{} [FLAGS]\n", before, about.name), .scenario = &scenario};
  app->group(kScenarios)->get_help_ptr()->group(kFlags);
  app->footer(fmt::format("Values:\n{}\nFlags of every run and exit codes: xferbench help run\n", value_grammar()));
  if (line.axis_flags == AxisFlags::of_all) return;
  for (const Axis& axis : about.axes) {
    std::vector<std::string>& choices = line.choices[add_axis(line, *app, axis, description_of(axis))];
    choices = axis.choices;
    if (axis.kind == AxisKind::choice) choices.emplace_back("all");
  }
}

/// Returns the axis flags of each scenario. A flag before all scenarios applies to every scenario that has the axis, a
/// flag after a scenario only to that scenario.
std::vector<ScenarioFlags> flags_of_scenarios(const CommandLine& line, const CLI::App& parent) {
  std::vector<ScenarioFlags> all;
  for (const CLI::App* app : parent.get_subcommands()) {
    const Scenario* scenario = line.scenario_of(*app);
    if (scenario == nullptr) continue;
    AxisTexts texts;
    for (const CLI::Option* option : app->get_options()) {
      if (option->count() == 0) continue;
      const auto& axes = descriptor_of(*scenario).axes;
      const auto axis = std::ranges::find(axes, option->get_name(), flag_of);
      if (axis != axes.end())
        texts[axis->name] = fmt::format("{}", fmt::join(option->results(), std::string(1, axis->separator)));
    }
    all.push_back({scenario, std::move(texts)});
  }
  if (all.empty()) all.push_back({line.scenarios.front(), {}});
  for (const auto& [axis, text] : line.shared) {
    bool held = false;
    for (ScenarioFlags& flags : all) {
      if (!has_axis(*flags.scenario, axis)) continue;
      const auto [own, is_first] = flags.texts.emplace(axis, text);
      if (!is_first) own->second = text + "," + own->second;
      held = true;
    }
    if (!held) throw UsageError(lacks(*all.front().scenario, axis, line.scenarios));
  }
  return all;
}

bool has_timeline(const Scenario& scenario) { return descriptor_of(scenario).has_timeline; }

/// The names of the scenarios for which `holds` is true, for example "overlap, smem".
std::string names_matching(bool (*holds)(const Scenario&), Scenarios all) {
  const auto those = those_of(all, [&](const Scenario* scenario) { return holds(*scenario); });
  const auto names = list_of(those, [](const Scenario* scenario) { return name_of(*scenario); });
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Throws UsageError if `holds` is false for all chosen scenarios, because `flag` then has no effect. `but` continues
/// the message "SCENARIO ..." with the reason, for example "uses one GPU".
void refuse_unless_any(bool (*holds)(const Scenario&), std::span<const ScenarioFlags> chosen, Scenarios all,
                       const char* flag, const char* but) {
  if (std::ranges::any_of(chosen, [&](const ScenarioFlags& f) { return holds(*f.scenario); })) return;
  throw UsageError(fmt::format("{} does nothing here: {} {}: {}", flag, name_of(*chosen.front().scenario), but,
                               names_matching(holds, all)));
}

void refuse_gpus_for_one(const CommandLine& line, std::span<const ScenarioFlags> chosen) {
  const auto uses_several = [](const Scenario& s) { return descriptor_of(s).gpus != UsesGpus::one; };
  if (!line.measuring.device.gpus) return;
  refuse_unless_any(uses_several, chosen, line.scenarios, "--gpus",
                    "uses one GPU, which --gpu chooses; these scenarios use several");
}

/// Throws UsageError if scenarios or axis flags are given besides the flag `source`, which defines the cases.
void refuse_beside(const CommandLine& line, const char* source) {
  const auto reject = [source](const std::string& what) {
    throw UsageError(fmt::format("{} defines what is run; leave {} out", source, what));
  };
  for (const CLI::App* app : line.app.get_subcommands()) {
    if (line.scenario_of(*app) != nullptr) reject("'" + app->get_name() + "'");
  }
  if (!line.shared.empty()) reject("--" + line.shared.begin()->first);
}

constexpr const char* kProgramUsage =
    R"(  xferbench [FLAGS]                               measures overlap, the pipeline
  xferbench [FLAGS] SCENARIO [FLAGS] ...          each with its own flags; flags before them apply to all
  mpirun -n 8 xferbench ...                       on many GPUs and nodes; finds the slow ones
  xferbench COMMAND ...
)";

Command run_command(CommandLine& line) {
  finish_measuring(line, SamplingPolicy().budget);
  RunCommand& run = line.run;
  run.measuring = line.measuring;
  for (const CLI::Option* option : line.known.at(&line.app).taken) {
    if (option->count() > 0) run.flags.push_back(option->get_name().substr(2));
  }
  if (run.process && !run.repeat && !run.suite) throw UsageError("--process needs --repeat or --suite");
  if ((run.repeat || run.process) && (!line.measuring.files.json || line.measuring.files.json == "-")) {
    throw UsageError("--repeat needs --json FILE: each process writes its own file, FILE-1.json and so on");
  }
  if (run.spread) {
    if (*run.spread == "-")
      throw UsageError("--spread needs a file name, not -: spreads are added to an existing file");
    std::vector<NamedFile> files = line.measuring.files.named();
    files.push_back({"spread", *run.spread});
    refuse_shared_files(files);
  }
  if (run.suite) refuse_beside(line, "--suite");
  if (run.resume) refuse_beside(line, "--resume");
  if (!run.suite && !run.resume) {
    const std::vector<ScenarioFlags> flags = flags_of_scenarios(line, line.app);
    if (line.measuring.files.timeline) {
      refuse_unless_any(has_timeline, flags, line.scenarios, "--timeline", "has no timeline; these scenarios have one");
    }
    refuse_gpus_for_one(line, flags);
    run.cases = plan(flags);
  }
  constexpr std::array kOfThisPart{"resume", "csv",   "markdown", "html", "openmetrics",
                                   "quiet",  "color", "progress", "wide", "details"};
  for (const std::string& flag : run.flags) {
    if (!run.resume || has_item(kOfThisPart, flag)) continue;
    throw UsageError(fmt::format("--resume continues the command stored in the file; leave --{} out", flag));
  }
  return run;
}

constexpr const char* kTuneExamples = R"(Examples:
  xferbench tune --size 64M                          which streams, chunks, strategy are best for 64 MiB?
  xferbench tune --size 4G --memory-limit 1G         with at most 1 GiB of device memory
  xferbench tune smem --intensity 48                 another scenario; its flags: xferbench tune smem --help
)";

Command tune_command(CommandLine& line, TuneCommand tune) {
  constexpr double kDay = 86400;
  const auto after = line.words_after_command();
  const auto chosen = line.tune->get_subcommands();
  if (chosen.size() + after.size() > 1) throw UsageError("tune takes at most one scenario");
  if (!after.empty() || (chosen.empty() && !can_tune(*line.scenarios.front()))) {
    throw UsageError(fmt::format("{} cannot be tuned; these scenarios can: {}",
                                 after.empty() ? name_of(*line.scenarios.front()) : after.front()->get_name(),
                                 names_matching(can_tune, line.scenarios)));
  }
  const std::vector<ScenarioFlags> flags = flags_of_scenarios(line, *line.tune);
  finish_measuring(line, tune.exhaustive ? kDay : descriptor_of(*flags.front().scenario).tune_budget);
  tune.measuring = line.measuring;
  refuse_gpus_for_one(line, flags);
  tune.cases = plan(flags, true);
  for (const Axis& axis : descriptor_of(*flags.front().scenario).axes) {
    if (flags.front().texts.contains(axis.name)) tune.given.push_back(axis.name);
  }
  return tune;
}

}  // namespace

void add_scenarios(CommandLine& line) {
  add_shared_axes(line);
  line.app.option_defaults()->group(kFlags);
  line.app.fallthrough();  // all subcommands that are added after this line inherit it
  for (const Scenario* scenario : line.scenarios) add_scenario(line, line.app, *scenario);
}

// --- Values of the flags ---------------------------------------------------------------------------------------------

void finish_measuring(CommandLine& line, double budget) {
  Measuring& m = line.measuring;
  if (m.device.simulate && line.given("--numa") && m.device.numa.kind != NumaPolicy::Kind::none) {
    throw UsageError("--numa and --simulate contradict each other: the NUMA node does not affect a simulated run");
  }
  refuse_shared_files(m.files.named());
  m.policy = policy_of(m.sampling, budget);
  if (m.show.quiet) m.show.progress = ProgressMode::never;
}

void add_run_and_tune(CommandLine& line) {
  const auto of_groups = [&line](std::initializer_list<std::string_view> groups) {
    const auto taken = [groups](const CLI::Option* o) { return has_item(groups, o->get_group()); };
    return std::as_const(line.app).get_options(taken);
  };
  const CommandLine::Known run{.usage = "  xferbench [run] [FLAGS] [SCENARIO [FLAGS]]...\n",
                               .taken = of_groups({kDevice, kSampling, kOutput, kWholeRuns, kFleets}),
                               .make = [&line] { return run_command(line); }};
  line.known[&line.app] = {.usage = kProgramUsage, .taken = run.taken, .make = run.make};
  const std::string footer = fmt::format("Values:\n{}\nProfiles for --simulate:\n{}\nExit codes:\n{}", value_grammar(),
                                         profile_lines(), exit_codes());
  line.add_command("run", "measure scenarios; the word run may be left out", footer, run);
  // `tune` does not accept flags of runs, because it decides itself how often to measure. It does not accept
  // --openmetrics, because a search measures hundreds of cases.
  Flags of_tune = of_groups({kDevice, kSampling, kOutput});
  std::erase(of_tune, line.app.get_option("--openmetrics"));
  auto& tune = line.keep<TuneCommand>();
  line.tune = line.add_command("tune", "find the fastest configuration; flags that are given stay fixed", kTuneExamples,
                               {.usage = "  xferbench tune [FLAGS] [SCENARIO [FLAGS]]\n",
                                .taken = std::move(of_tune),
                                .make = [&line, &tune] { return tune_command(line, tune); }});
  line.add_value(
      *line.tune,
      {.name = "memory-limit", .kind = AxisKind::size, .help = "skip configurations that need more device memory"},
      "SIZE", into(tune.memory_limit));
  const Axis objective = choice_axis(
      "objective", words(texts_of(Objective())),
      {.defaults = "device", .help = "time to minimise: device: time on the GPU; wall: time to result, on the host"});
  line.add_value(*line.tune, objective, "TIME", into_enumerator(objective.choices, tune.objective));
  line.tune->add_flag("--exhaustive", tune.exhaustive, "measure every configuration, without a time limit");
  for (const Scenario* scenario : line.scenarios) {
    if (can_tune(*scenario)) add_scenario(line, *line.tune, *scenario);
  }
}

}  // namespace xferbench::cli
