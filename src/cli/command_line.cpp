#include "cli/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cli/values.hpp"
#include "core/error.hpp"
#include "device/open.hpp"

namespace xferbench::cli {

namespace {

constexpr const char* kDevice = "Device";
constexpr const char* kSampling = "Sampling";
constexpr const char* kOutput = "Output";
constexpr const char* kWholeRuns = "Whole runs";
constexpr const char* kFleets = "Under mpirun or srun";

/// A flag with a value that help calls `argument`. A word that looks like a flag is never the value of another one:
/// `--json --quiet` lacks the name of a file. `implicit` is what the flag means without a value; empty: it needs one.
/// With `flags`, which are then the only ones, other words of that look are values: `--kernel-option --use_fast_math`.
CLI::Option* valued(CLI::Option* option, const std::string& argument, const std::string& implicit = "",
                    const CLI::App* flags = nullptr) {
  const auto lacks_value = [flags](const std::string& text) {
    const bool is_flag = text.starts_with("--") &&
                         (flags == nullptr || flags->get_option_no_throw(text.substr(0, text.find('='))) != nullptr);
    return std::string(text.empty() || is_flag ? "needs a value" : "");
  };
  option->type_name(argument)->check(CLI::Validator(lacks_value, ""));
  if (!implicit.empty()) option->expected(0, 1)->default_str(implicit);
  return option;
}

/// A flag that names a file; "-" is standard output.
CLI::Option* add_file(CLI::App& app, const std::string& flag, const std::string& help,
                      std::optional<std::string>& target, const char* argument = "FILE") {
  return valued(app.add_option(flag, target, help), argument);
}

/// What --simulate is given: one of the axis' words, or the path of a file, which is read when the machine is opened.
std::string profile_of(const Axis& axis, const std::string& text) {
  if (is_profile_file(text)) return text;
  try {
    const std::vector<Value> values = parse_axis(axis, text, "--" + axis.name);
    if (values.size() == 1) return std::get<std::string>(values.front());
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{} (the path of a profile file has a / in it, or ends in .json)", error.what()));
  }
  throw UsageError(fmt::format("--{} takes one value", axis.name));
}

template <class Number>
auto into(Number& target) {
  return [&target](const Value& v) { target = std::get<std::uint64_t>(v); };
}

auto into(std::optional<double>& target) {
  return [&target](const Value& v) { target = std::get<double>(v); };
}

/// The words stand in the order of the target's enumerators.
template <class Enumeration>
auto into_enumerator(std::vector<std::string> words, Enumeration& target) {
  return [words = std::move(words), &target](const Value& v) {
    target = static_cast<Enumeration>(std::ranges::find(words, std::get<std::string>(v)) - words.begin());
  };
}

/// "local", "none" or the number of a node.
NumaPolicy numa_policy(const std::string& text) {
  const std::vector<std::string> words{"local", "none"};
  constexpr std::size_t kMostDigits = 4;  // Linux has 1024 nodes at most
  const bool digits = !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  if (digits && text.size() <= kMostDigits) return {NumaPolicy::Kind::node, std::stoi(text)};
  if (text == "none") return {NumaPolicy::Kind::none};
  if (text == "local") return {NumaPolicy::Kind::local};
  throw UsageError(fmt::format("--numa: '{}' is not {} or the number of a NUMA node{}", text, fmt::join(words, ", "),
                               suggestion(text, words)));
}

constexpr const char* kAnnotationsHelp =
    "notes for a CI system on standard error: github: a line for each thing that is wrong";

Axis annotations_axis() {
  return {.name = "annotations", .kind = AxisKind::choice, .help = kAnnotationsHelp, .choices = {"github"}};
}

std::vector<explain::FindingKind> finding_kinds(const std::string& text) {
  constexpr auto kKinds = texts_of(explain::FindingKind{});
  const Axis axis{.name = "mend", .kind = AxisKind::choice, .choices = words(kKinds)};
  std::vector<explain::FindingKind> kinds;
  for (const Value& value : parse_axis(axis, text, "--mend")) {
    const auto place = std::ranges::find(kKinds, std::get<std::string>(value)) - kKinds.begin();
    kinds.push_back(static_cast<explain::FindingKind>(place));
  }
  return kinds;
}

std::vector<SoakLoad> soak_loads(const std::string& text) {
  constexpr auto kLoads = texts_of(SoakLoad{});
  const Axis axis{.name = "load", .kind = AxisKind::choice, .choices = words(kLoads)};
  if (text == "all") return {};
  std::vector<SoakLoad> loads;
  for (const Value& value : parse_axis(axis, text, "--load")) {
    loads.push_back(static_cast<SoakLoad>(std::ranges::find(kLoads, std::get<std::string>(value)) - kLoads.begin()));
  }
  return loads;
}

}  // namespace

CommandLine::CommandLine(Scenarios scenarios, AxisFlags axis_flags)
    : scenarios_(scenarios), axis_flags_(axis_flags), app_(std::string(kSummary), "xferbench") {
  app_.option_defaults()->disable_flag_override()->group(kFlags);
  app_.set_help_flag("-h,--help", "this text");
  app_.add_flag("-V,--version")->description("version, build, and what was found here");
  app_.allow_extras();  // what nobody knows is said in our words
  add_device_flags();
  add_sampling_flags();
  add_output_flags();
  add_whole_run_flags();
  add_fleet_flags();
  add_contradictions();
  add_shared_axes();
  app_.option_defaults()->group(kFlags);
  app_.fallthrough();  // as all subcommands from here on
  for (const Scenario* scenario : scenarios_) add_scenario(app_, *scenario);
  add_run_and_tune();
  add_compare();
  add_check();
  add_expect();
  add_calibrate();
  add_validate();
  add_explain();
  add_soak();
  add_information();
  add_small_commands();
  app_.footer(std::string(short_examples()));  // last: subcommands inherit it
}

// --- Flags that belong to no scenario -------------------------------------------------------------------------------

/// A flag with one value in the grammar of axes: whole number, real number, size or one of some words.
CLI::Option* CommandLine::add_value(CLI::App& app, const Axis& axis, const char* argument,
                                    const std::function<void(const Value&)>& store) {
  const CLI::callback_t read = [axis, store](const CLI::results_t& texts) {
    const std::vector<Value> values = parse_axis(axis, texts.front(), "--" + axis.name);
    if (values.size() != 1) throw UsageError(fmt::format("--{} takes one value", axis.name));
    store(values.front());
    return true;
  };
  const std::string note = axis.defaults.empty() ? "" : " [" + axis.defaults + "]";
  CLI::Option* option = valued(app.add_option("--" + axis.name, read, axis.help + note), argument, axis.implicit_value);
  choices_[option] = axis.choices;
  return option;
}

CLI::Option* CommandLine::add_share(CLI::App& app, Axis axis, double& share) {
  constexpr double kPercent = 100;
  axis.kind = AxisKind::real;
  axis.defaults = fmt::format("{}", share * kPercent);
  return add_value(app, axis, "PERCENT", [&share](const Value& v) { share = std::get<double>(v) / kPercent; });
}

void CommandLine::add_device_flags() {
  app_.option_defaults()->group(kDevice);
  DeviceChoice& device = measuring_.device;
  add_value(app_,
            {.name = "gpu", .defaults = "0", .help = "number of the GPU, as CUDA counts them", .min = 0, .max = 1023},
            "N", [&device](const Value& v) { device.gpu = static_cast<int>(std::get<std::uint64_t>(v)); });
  CLI::Option* gpus = app_.add_option_function<std::string>(
      "--gpus", [&device](const std::string& text) { device.gpus = gpu_selection(text); },
      "several GPUs: all, the first so many (2), or these (0,3)");
  choices_[gpus->type_name("all|N|N,N,...")] = {"all"};
  CLI::Option* numa = app_.add_option_function<std::string>(
      "--numa", [&device](const std::string& text) { device.numa = numa_policy(text); },
      "NUMA node to run on and take memory from; local is the GPU's, none leaves it to the system [local]");
  choices_[numa->type_name("N|local|none")] = {"local", "none"};
  Axis profile{.name = "simulate",
               .kind = AxisKind::choice,
               .help = "use a modelled machine instead of this one; --gpu and --gpus choose among its GPUs"};
  for (const auto& [name, description] : simulated_profiles()) profile.choices.push_back(name);
  profile.implicit_value = profile.choices.front();
  const CLI::callback_t read = [profile, &device](const CLI::results_t& texts) {
    device.simulate = profile_of(profile, texts.front());
    return true;
  };
  CLI::Option* option = app_.add_option("--simulate", read, profile.help);
  choices_[valued(option, "[PROFILE|FILE]", profile.implicit_value)] = profile.choices;
}

void CommandLine::add_sampling_flags() {
  app_.option_defaults()->group(kSampling);
  SamplingChoice& sampling = measuring_.sampling;
  const SamplingPolicy defaults;
  add_value(app_,
            {.name = "ci",
             .kind = AxisKind::real,
             .defaults = fmt::format("{}", defaults.ci * 100),
             .help = "sample until the median's 95 % interval is within +- this many percent",
             .min = 0.001,
             .max = 100},
            "PCT", into(sampling.ci));
  add_value(app_,
            {.name = "budget",
             .kind = AxisKind::real,
             .defaults = fmt::format("{}", defaults.budget),
             .help = "seconds of warm-up and sampling per case, at most; for tune of all cases, and then 6",
             .min = 0.001,
             .max = 86400},
            "SECONDS", into(sampling.budget));
  add_value(app_,
            {.name = "min-samples",
             .defaults = fmt::format("{}", defaults.min_samples),
             .help = "samples to take even beyond the budget",
             .max = 1e6},
            "N", into(sampling.min_samples));
  add_value(app_,
            {.name = "max-samples",
             .defaults = fmt::format("{}", defaults.max_samples),
             .help = "samples after which to stop",
             .max = 1e6},
            "N", into(sampling.max_samples));
  add_value(app_, {.name = "seed", .defaults = "1", .help = "seed of the payload", .min = 0}, "N",
            into(measuring_.seed));
  app_.add_flag_callback(
      "--no-verify", [this] { measuring_.verify = false; }, "do not check results before and after timing");
  app_.add_flag("--dry-run", measuring_.dry_run, "print the cases and touch no device");
}

void CommandLine::add_output_flags() {
  app_.option_defaults()->group(kOutput);
  OutputFiles& files = measuring_.files;
  Presentation& show = measuring_.show;
  add_file(app_, "--json", "write everything as JSON, of a run with every sample; - is standard output", files.json);
  add_file(app_, "--csv", "write one row for each number, for spreadsheets, R, pandas; - is standard output",
           files.csv);
  add_file(app_, "--markdown", "write the tables as Markdown; - is standard output", files.markdown);
  add_file(app_, "--openmetrics",
           "write each case's headline, of check each margin, for monitoring; - is standard output", files.openmetrics);
  const auto add_mode = [this](const char* name, const char* help, std::vector<std::string> words, auto& target) {
    const Axis axis{.name = name, .kind = AxisKind::choice, .defaults = "auto", .help = help, .choices = words};
    add_value(app_, axis, "WHEN", into_enumerator(std::move(words), target));
  };
  add_mode("color", "colours in tables (NO_COLOR is respected)", {"auto", "always", "never"}, show.color);
  add_mode("progress", "auto: on a terminal; plain: one line for each case", {"auto", "plain", "never"}, show.progress);
  app_.add_flag("--wide", show.wide, "whole tables, however narrow the terminal is and whatever matrices show");
  app_.add_flag("--quiet", show.quiet, "no progress and no warnings on standard error");
}

void CommandLine::add_whole_run_flags() {
  app_.option_defaults()->group(kWholeRuns);
  add_file(app_, "--suite", "run the cases of a suite: quick, ci, full, gpus, or a file's", run_.suite, "NAME|FILE");
  add_file(app_, "--resume", "go on with the cases that are missing in this results file", run_.resume);
  add_value(app_,
            {.name = "turns",
             .defaults = "1",
             .help = "go through all cases so many times, so that drift spreads evenly; a suite may say another",
             .max = 100},
            "N", into(run_.turns));
  CLI::Option* repeat =
      add_value(app_,
                {.name = "repeat",
                 .defaults = "1",
                 .help = "do all of it in so many fresh processes, for compare; FILE.json becomes FILE-1.json ...",
                 .max = 1000},
                "N", into(run_.repeat));
  CLI::Option* spread = add_file(
      app_, "--spread", "with --repeat: keep how far the processes lie apart, for compare --spread", run_.spread);
  spread->needs(repeat);
  add_file(app_, "--timeline",
           "timeline of one more pass or explain's program, for ui.perfetto.dev; - is standard output",
           measuring_.files.timeline);
  app_.add_flag("--all-findings", measuring_.show.all_findings,
                "below tables, all that the results say together, not only the most telling");
  // Hidden: how --repeat tells a process that it starts which one it is.
  add_value(app_, {.name = "process", .max = 1000}, "N", into(run_.process))->needs(repeat)->group("");
}

void CommandLine::add_fleet_flags() {
  app_.option_defaults()->group(kFleets);
  FleetChoice& fleet = run_.fleet;
  CLI::Option* pace = app_.add_option_function<std::string>(
      "--pace", [&fleet](const std::string& text) { fleet.pace = paces(text); },
      "who measures at once: all ranks, those of one node, one rank; several to see what contention costs [all]");
  choices_[pace->type_name("all|node|one,...")] = words(texts_of(Pacing{}));
  add_share(app_, {.name = "threshold", .help = "a rank that is slower than its like by less is not named", .max = 100},
            fleet.threshold);
  add_value(app_,
            {.name = "timeout",
             .kind = AxisKind::real,
             .defaults = fmt::format("{}", fleet.timeout),
             .help = "seconds that a rank waits for one that does not answer",
             .min = 0.1,
             .max = 86400},
            "SECONDS", [&fleet](const Value& v) { fleet.timeout = std::get<double>(v); });
  app_.add_flag("--share-gpus", fleet.share_gpus, "let several ranks use one GPU, which slow each other");
  app_.add_flag("--mpi", fleet.mpi, "start MPI although no launcher that is known has started the program");
}

void CommandLine::contradict(CLI::Option* one, CLI::Option* other, const std::string& why) {
  one->excludes(other);
  contradictions_.push_back({one, other, why});
}

void CommandLine::add_contradictions() {
  constexpr std::array<std::array<const char*, 3>, 15> kContradictions{{
      {"--gpu", "--gpus", "one is a GPU by its number, the other says which several"},
      {"--json", "--dry-run", "a dry run has no results to write"},
      {"--csv", "--dry-run", "a dry run has no results to write"},
      {"--markdown", "--dry-run", "a dry run has no results to write"},
      {"--timeline", "--dry-run", "a dry run has nothing to watch"},
      {"--openmetrics", "--dry-run", "a dry run has no results to write"},
      {"--progress", "--quiet", "a quiet run shows no progress"},
      {"--suite", "--timeline", "run one of its commands by itself to watch it"},
      {"--repeat", "--timeline", "run it once to watch it"},
      {"--repeat", "--dry-run", "a dry run has no results to repeat"},
      {"--repeat", "--csv", "each process has results of its own, in a JSON file"},
      {"--repeat", "--markdown", "each process has results of its own, in a JSON file"},
      {"--repeat", "--openmetrics", "each process has results of its own, in a JSON file"},
      {"--repeat", "--all-findings", "each process has findings of its own, in a JSON file"},
      {"--all-findings", "--dry-run", "a dry run finds nothing"},
  }};
  for (const auto& [one, other, why] : kContradictions) contradict(app_.get_option(one), app_.get_option(other), why);
}

// --- Scenarios ------------------------------------------------------------------------------------------------------

namespace {

/// All that CLI11 has to know of an axis' flag is how many words it takes: its text is read with those of other axes.
/// `flags`: the program's, whose words are no text.
CLI::Option* shaped(CLI::Option* option, const Axis& axis, const CLI::App& flags) {
  return valued(option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll), placeholder(axis), axis.implicit_value,
                axis.kind == AxisKind::text ? &flags : nullptr);
}

}  // namespace

void CommandLine::add_shared_axes() {
  app_.option_defaults()->group(kOfScenarios);
  for (const Scenario* scenario : scenarios_) {
    for (const Axis& axis : described(*scenario).axes) {
      const std::string flag = "--" + axis.name;
      if (app_.get_option_no_throw(flag) != nullptr) continue;
      const CLI::callback_t read = [this, name = axis.name](const CLI::results_t& texts) {
        const Scenario* behind = scenario_of(innermost());
        if (behind == nullptr || axis_flags_ == AxisFlags::of_all) {
          std::string& text = shared_[name];
          text += fmt::format("{}{}", text.empty() ? "" : ",", fmt::join(texts, ","));
        } else if (!misplaced_) {
          misplaced_ = lacks(*behind, name, scenarios_);
        }
        return true;
      };
      shaped(app_.add_option(flag, read), axis, app_)->trigger_on_parse();
    }
  }
}

void CommandLine::add_scenario(CLI::App& parent, const Scenario& scenario) {
  const auto& about = described(scenario);
  CLI::App* app = parent.add_subcommand(about.name, about.summary);
  const std::string before = &parent == &app_ ? "" : parent.get_name() + " ";
  known_[app] = {.usage = fmt::format("  xferbench {}{} [FLAGS]\n", before, about.name), .scenario = &scenario};
  app->group(kScenarios)->get_help_ptr()->group(kFlags);
  app->footer(fmt::format("Values:\n{}\nFlags of every run and exit codes: xferbench help run\n", value_grammar()));
  if (axis_flags_ == AxisFlags::of_all) return;
  for (const Axis& axis : about.axes) {
    CLI::Option* option =
        shaped(app->add_option("--" + axis.name, CLI::callback_t(), description_of(axis)), axis, app_);
    choices_[option] = axis.choices;
    if (!axis.choices.empty()) choices_[option].emplace_back("all");
  }
}

// --- Commands -------------------------------------------------------------------------------------------------------

CommandLine::Flags CommandLine::named(std::span<const char* const> flags) const {
  Flags options;
  for (const char* flag : flags) options.push_back(app_.get_option(flag));
  return options;
}

CLI::App* CommandLine::add_command(const std::string& name, const std::string& description, Known known) {
  CLI::App* command = app_.add_subcommand(name, description)->group(kCommands);
  command->get_help_ptr()->group(kFlags);
  known_[command] = std::move(known);
  return command;
}

void CommandLine::add_run_and_tune() {
  const auto of_groups = [this](std::initializer_list<std::string_view> groups) {
    const auto taken = [groups](const CLI::Option* o) {
      return std::ranges::find(groups, o->get_group()) != groups.end();
    };
    return std::as_const(app_).get_options(taken);
  };
  const Known run{.usage = "  xferbench [run] [FLAGS] [SCENARIO [FLAGS]]...\n",
                  .taken = of_groups({kDevice, kSampling, kOutput, kWholeRuns, kFleets}),
                  .make = [this] { return run_command(); }};
  known_[&app_] = {.usage = std::string(program_usage()), .taken = run.taken, .make = run.make};
  add_command("run", "measure; the word may be left out", run)
      ->footer(fmt::format("Values:\n{}\nProfiles for --simulate:\n{}\nExit codes:\n{}", value_grammar(),
                           profile_lines(), exit_codes()));
  // Not of whole runs: a search makes its own passes through the cases. Nor for monitoring: it has hundreds of them.
  Flags of_tune = of_groups({kDevice, kSampling, kOutput});
  std::erase(of_tune, app_.get_option("--openmetrics"));
  tune_app_ = add_command("tune", "find the fastest configuration for what the flags fix",
                          {.usage = "  xferbench tune [FLAGS] [SCENARIO [FLAGS]]\n",
                           .taken = std::move(of_tune),
                           .make = [this] { return tune_command(); }});
  tune_app_->footer(std::string(tune_examples()));
  add_value(*tune_app_,
            {.name = "memory-limit", .kind = AxisKind::size, .help = "leave out what needs more device memory"}, "SIZE",
            into(tune_.memory_limit));
  const Axis objective = choice_axis(
      "objective", words(texts_of(Objective())),
      {.defaults = "device",
       .help = "the time to search for: device: of the GPU's work; wall: until a program that waits has the result"});
  add_value(*tune_app_, objective, "TIME", into_enumerator(objective.choices, tune_.objective));
  tune_app_->add_flag("--exhaustive", tune_.exhaustive, "measure every configuration, however long it takes");
  for (const Scenario* scenario : scenarios_) {
    if (can_tune(*scenario)) add_scenario(*tune_app_, *scenario);
  }
}

void CommandLine::add_compare() {
  CLI::App* app = add_command("compare", "what changed between results files",
                              {.usage = std::string(compare_usage()),
                               .taken = named(std::array{"--json", "--markdown", "--color", "--quiet", "--wide"}),
                               .make = [this] { return compare_command(); }});
  app->footer(std::string(compare_footer()));
  const auto add_files = [app](const char* flag, std::vector<std::string>& target, const char* help) {
    return valued(app->add_option(flag, target, help), "FILES");
  };
  app->add_option("FILES", compared_files_)->type_name("FILES");
  CLI::Option* base =
      add_files("--base", compare_.base, "several processes of the base: the medians of the files are the samples");
  CLI::Option* next = add_files("--new", compare_.next, "the same of what is compared with it");
  CLI::Option* across = add_files("--across", compare_.across, "side by side: a column for each file, the best marked");
  base->needs(next);
  next->needs(base);
  compare::Options& options = compare_.options;
  valued(app->add_option("--metric", options.metric,
                         "a measurement or metric; else the time that a run's table shows first"),
         "NAME");
  valued(app->add_option("--only", options.only,
                         "cases whose keys match: * is anything, ? one character; may be repeated"),
         "PATTERN")
      ->allow_extra_args(false);
  CLI::Option* threshold =
      add_share(*app, {.name = "threshold", .help = "changes within it do not matter", .min = 0, .max = 99.999},
                options.threshold);
  CLI::Option* assumed =
      add_share(*app,
                {.name = "assume-spread",
                 .help = "how far processes are taken to lie apart where nothing is known; 0: nothing is taken",
                 .min = 0,
                 .max = 100},
                options.assumed_spread);
  add_file(*app, "--spread", "how far processes lie apart on this machine: a file of --repeat N --spread FILE",
           compare_.spread);
  CLI::Option* strict =
      app->add_flag("--strict", options.strict, "exit code 4 where a case is inconclusive, changed or missing");
  CLI::Option* bootstrap =
      app->add_flag("--bootstrap", options.bootstrap, "judge by the ratio of medians and its bootstrap interval");
  app->add_flag("--allow-simulated", options.allow_simulated,
                "compare simulated with real times, or different profiles");
  static constexpr auto kMatches = texts_of(compare::Match{});
  add_value(*app,
            {.name = "match",
             .kind = AxisKind::choice,
             .help = "which ranks of mpirun or srun are compared; else by UUID where GPUs have any",
             .choices = {kMatches.begin(), kMatches.end()}},
            "WHAT", [&options](const Value& v) {
              const auto place = std::ranges::find(kMatches, std::get<std::string>(v)) - kMatches.begin();
              options.match = static_cast<compare::Match>(place);
            });
  CLI::Option* all = app->add_flag("--all", compare_.all, "list every case, however many there are");
  CLI::Option* annotations = add_value(*app, annotations_axis(), "SYSTEM",
                                       [this](const Value&) { compare_.annotations = Annotations::github; });
  CLI::Option* spread = app->get_option("--spread");
  for (CLI::Option* judging : {base, next, threshold, strict, bootstrap, all, spread, assumed, annotations}) {
    contradict(across, judging, "--across shows files side by side and judges nothing");
  }
}

void CommandLine::add_check() {
  CLI::App* app =
      add_command("check", "whether results are within limits; exit code 1 if not",
                  {.usage = "  xferbench check RESULTS... --expect FILE|NAME [FLAGS]\n",
                   .taken = named(std::array{"--json", "--markdown", "--openmetrics", "--color", "--quiet", "--wide"}),
                   .make = [this] { return check_command(); }});
  app->footer(std::string(check_footer()));
  app->add_option("FILES", check_.results)->type_name("FILES");
  valued(app->add_option("--expect", check_.expect,
                         "what to expect: a file of limits, or the name of one that comes with xferbench"),
         "FILE|NAME");
  app->add_flag("--allow-simulated", check_.allow_simulated, "check simulated results, too");
  add_file(*app, "--junit", "write a test case for each expectation, as CI servers show them; - is standard output",
           measuring_.files.junit);
  add_value(*app, annotations_axis(), "SYSTEM", [this](const Value&) { check_.annotations = Annotations::github; });
}

void CommandLine::add_expect() {
  CLI::App* app = add_command("expect", "limits for check, from runs that were good",
                              {.usage = "  xferbench expect GOOD... [-o FILE] [FLAGS]\n",
                               .taken = named(std::array{"--quiet"}),
                               .make = [this] { return expect_command(); }});
  app->footer(std::string(expect_footer()));
  app->add_option("FILES", expect_.good)->type_name("FILES");
  valued(app->add_option("-o,--output", expect_.output, "the file to write; - is standard output [-]"), "FILE");
  add_share(*app,
            {.name = "assume-spread",
             .help = "how far runs spread (standard deviation) where the good ones say little of it",
             .min = 0.01,
             .max = 50},
            expect_.assumed_spread);
  app->add_flag("--allow-simulated", expect_.allow_simulated, "take simulated runs, too");
  app->add_flag("--allow-doubtful", expect_.allow_doubtful,
                "take runs that were cut off, have failed cases, or were not verified");
}

void CommandLine::add_calibrate() {
  CLI::App* app = add_command("calibrate", "a profile for --simulate, from measurements of this machine or another",
                              {.usage = "  xferbench calibrate [RESULTS...] [-o FILE] [FLAGS]\n",
                               .taken = named(std::array{"--gpu", "--numa", "--simulate", "--json", "--quiet"}),
                               .make = [this] { return calibrate_command(); }});
  app->footer(std::string(calibrate_footer()));
  app->add_option("FILES", calibrate_.results)->type_name("FILES");
  valued(app->add_option("-o,--output", calibrate_.output, "the file to write; - is standard output [-]"), "FILE");
  valued(app->add_option("--name", calibrate_.name, "what tables call the profile [calibrated]"), "NAME");
  Axis base{.name = "base", .kind = AxisKind::choice, .help = "the built-in profile that has what is not measured"};
  for (const auto& [name, description] : simulated_profiles()) base.choices.push_back(name);
  base.defaults = calibrate_.base;
  add_value(*app, base, "PROFILE", [this](const Value& v) { calibrate_.base = std::get<std::string>(v); });
  app->add_flag("--allow-simulated", calibrate_.allow_simulated, "take simulated results, too");
}

void CommandLine::add_validate() {
  CLI::App* app =
      add_command("validate", "how right a profile is about results that it was not made of",
                  {.usage = "  xferbench validate RESULTS... --simulate PROFILE|FILE [FLAGS]\n",
                   .taken = named(std::array{"--simulate", "--json", "--markdown", "--color", "--quiet", "--wide"}),
                   .make = [this] { return validate_command(); }});
  app->footer(std::string(validate_footer()));
  app->add_option("FILES", validate_.results)->type_name("FILES");
  app->add_flag("--allow-simulated", validate_.allow_simulated, "predict simulated results, too");
}

void CommandLine::add_explain() {
  constexpr std::array kTaken{"--json", "--markdown", "--timeline", "--simulate", "--color", "--quiet", "--wide"};
  CLI::App* app = add_command(
      "explain", "what the transfers of any CUDA program cost it, and what mending them gains",
      {.usage = std::string(explain_usage()), .taken = named(kTaken), .make = [this] { return explain_command(); }});
  app->footer(std::string(explain_footer()));
  app->add_option("FOLDER", explain_.folder)->type_name("FOLDER");
  add_recording_flags(*app);
  add_explaining_flags(*app);
}

void CommandLine::add_recording_flags(CLI::App& app) {
  add_file(app, "--recording", "keep the recording in this new folder, to be read again: xferbench explain FOLDER",
           explain_.recording, "FOLDER");
  const auto add_number = [this, &app](Axis axis, const char* argument, auto& target) {
    return add_value(app, axis, argument, into(target));
  };
  CLI::Option* runs = add_number({.name = "runs",
                                  .defaults = "1",
                                  .help = "times that the program runs, once unwatched and once watched each time",
                                  .max = 1000},
                                 "N", explain_.runs);
  CLI::Option* no_bare = app.add_flag_callback(
      "--no-bare", [this] { explain_.bare = false; }, "run it only watched: what watching costs is not known then");
  add_file(app, "--range", "explain this NVTX range, from its first to its last; else the whole program",
           explain_.range, "NAME");
  const auto seconds = [](const char* name, const char* help, double least) {
    return Axis{.name = name, .kind = AxisKind::real, .help = help, .min = least, .max = 1e6};
  };
  add_value(app, seconds("from", "record from so many seconds after a process's start on", 0), "SECONDS",
            [this](const Value& v) { explain_.from = std::get<double>(v); });
  add_number(seconds("for", "record for so many seconds", 1e-6), "SECONDS", explain_.seconds);
  add_number({.name = "max-records", .defaults = "2000000", .help = "of each process, so many at most", .max = 1e9},
             "N", explain_.max_records);
  app.add_flag("--stacks", explain_.stacks, "record call stacks of the host, too: each call costs some us more");
  app.add_flag("--exit-code", explain_.exit_code, "end with the program's exit code");
  contradict(runs, no_bare, "without unwatched runs there is nothing to compare watched ones with");
}

void CommandLine::add_explaining_flags(CLI::App& app) {
  CLI::Option* limits =
      add_file(app, "--limits", "results of --suite limits that say what this machine can do", explain_.limits);
  CLI::Option* measure =
      app.add_flag("--measure-limits", explain_.measure_limits, "measure that anew, although it is known");
  app.add_flag("--all", explain_.all, "tell what gains little, too, and of all processes");
  constexpr auto kKinds = texts_of(explain::FindingKind{});
  CLI::Option* mend = app.add_option_function<std::string>(
      "--mend", [this](const std::string& text) { explain_.mended = finding_kinds(text); },
      "tell the time with just these kinds of findings mended, such as pageable,result-wait");
  choices_[valued(mend, "KIND,...")] = words(kKinds);
  contradict(limits, measure, "limits are read or measured");
}

void CommandLine::add_soak() {
  constexpr std::array kTaken{"--gpu",  "--gpus",   "--numa",  "--simulate", "--seed",       "--dry-run",
                              "--json", "--resume", "--color", "--quiet",    "--openmetrics"};
  CLI::App* app = add_command(
      "soak", "keep GPUs busy for hours, check every byte, watch rates, clocks and counters",
      {.usage = std::string(soak_usage()), .taken = named(kTaken), .make = [this] { return soak_command(); }});
  app->footer(std::string(soak_footer()));
  const auto add_duration = [app](const char* flag, const std::string& help, const auto& store) {
    valued(app->add_option_function<std::string>(
               flag, [flag, store](const std::string& text) { store(parse_duration(text, flag)); }, help),
           "DURATION");
  };
  add_duration("--for", "how long, as 20m or 8h [1h]", [this](double seconds) { soak_.seconds = seconds; });
  add_duration("--interval", "time between two lines [60s]",
               [this](double seconds) { soak_.settings.interval = seconds; });
  constexpr auto kLoads = texts_of(SoakLoad{});
  CLI::Option* load = app->add_option_function<std::string>(
      "--load", [this](const std::string& text) { soak_.settings.loads = soak_loads(text); },
      "what keeps them busy, in turns; p2p from each GPU to the next [all that the machine can carry]");
  choices_[valued(load, "LOAD,...")] = words(kLoads);
  choices_[load].emplace_back("all");
  add_value(*app,
            {.name = "size",
             .kind = AxisKind::size,
             .defaults = "256MiB",
             .help = "of one copy; six times as much is taken of each GPU's memory, and of the host's for each GPU",
             .min = 4096,
             .max = 1e12},
            "SIZE", into(soak_.settings.size));
  valued(app->add_option_function<std::string>(
             "--floor", [this](const std::string& text) { soak_.settings.floor = parse_percent(text, "--floor"); },
             "a rate below this share of its first minutes' is told as a drop [90%]"),
         "PERCENT");
}

void CommandLine::add_information() {
  CLI::App* list = add_command("list", "what can be run, with flags, units and defaults",
                               {.usage = fmt::format("  xferbench list [SCENARIO|{}]\n", fmt::join(kListed, "|")),
                                .taken = named(std::array{"--gpu", "--gpus", "--simulate"}),
                                .make = [this] { return list_command(); }});
  choices_[list->add_option("TOPIC", word_)] = words(kListed);
  CLI::App* info = add_command("info", "GPU, link and its limit, driver, host, build",
                               {.usage = "  xferbench info [FLAGS]\n",
                                .taken = named(std::array{"--gpu", "--gpus", "--numa", "--simulate"}),
                                .make = [this] { return info_command(); }});
  valued(info->add_option("--json", info_.json, "the same as JSON; without a file to standard output"), "[FILE]", "-");
  add_command("help", "the flags of a scenario or a command",
              {.usage = "  xferbench help [SCENARIO|COMMAND]\n", .make = [this] { return help_command(); }})
      ->add_option("TOPIC", word_);
  add_command("version", "version and build",
              {.usage = "  xferbench version\n", .make = [] { return VersionCommand{}; }});
}

void CommandLine::add_small_commands() {
  CLI::App* completion =
      add_command("completion", "a script that completes commands and flags",
                  {.usage = "  xferbench completion bash|zsh|fish\n", .make = [this] { return completion_command(); }});
  choices_[completion->add_option("SHELL", word_)] = words(kShells);
  add_command("man", "all help as a manual page",
              {.usage = "  xferbench man | man -l -\n", .make = [this] { return TextCommand{manual()}; }});
}

}  // namespace xferbench::cli
