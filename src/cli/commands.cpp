// Every command that is no scenario, with the flags of its own.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cli/command_flags.hpp"
#include "cli/command_line.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"
#include "device/open.hpp"

namespace xferbench::cli {

namespace {

constexpr const char* kAnnotationsHelp =
    "notes for a CI system on standard error: github: a line for each thing that is wrong";

Axis annotations_axis() {
  return {.name = "annotations", .kind = AxisKind::choice, .help = kAnnotationsHelp, .choices = {"github"}};
}

}  // namespace

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
      "--mend", [this](const std::string& text) { explain_.mended = enumerators<explain::FindingKind>(text, "mend"); },
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
      "--load",
      [this](const std::string& text) {
        soak_.settings.loads = text == "all" ? std::vector<SoakLoad>() : enumerators<SoakLoad>(text, "load");
      },
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
