#include "cli/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <utility>

#include "cli/pages.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"
#include "device/open.hpp"

namespace xferbench::cli {

namespace {

constexpr const char* kDevice = "Device";
constexpr const char* kSampling = "Sampling";
constexpr const char* kOutput = "Output";
constexpr const char* kWholeRuns = "Whole runs";
constexpr const char* kFlags = "Flags";

/// A word that looks like a flag is never the value of another one: `--json --quiet` lacks the name of a file.
CLI::Validator no_flag() {
  return CLI::Validator(
      [](const std::string& text) { return std::string(text.starts_with("--") ? "needs a value" : ""); }, "");
}

/// A flag with one value, which `store` is given as a text.
template <class Store>
CLI::Option* add_text(CLI::App& app, const std::string& name, const char* argument, const std::string& help,
                      Store store) {
  const auto callback = [store](const CLI::results_t& texts) {
    store(texts.front());
    return true;
  };
  return app.add_option("--" + name, CLI::callback_t(callback), help)->type_name(argument)->check(no_flag());
}

/// A flag with one value in the grammar of axes: whole number, real number, size or one of some words.
template <class Store>
CLI::Option* add_value(CLI::App& app, const Axis& axis, const char* argument, Store store) {
  const std::string note = axis.defaults.empty() ? "" : " [" + axis.defaults + "]";
  return add_text(app, axis.name, argument, axis.help + note, [axis, store](const std::string& text) {
    const std::vector<Value> values = parse_axis(axis, text, "--" + axis.name);
    if (values.size() != 1) throw UsageError(fmt::format("--{} takes one value", axis.name));
    store(values.front());
  });
}

template <class Count>
CLI::Option* add_count(CLI::App& app, Axis axis, Count& target, const char* argument = "N") {
  return add_value(app, axis, argument, [&target](const Value& v) { target = std::get<std::uint64_t>(v); });
}

/// A flag that names a file; "-" is standard output.
CLI::Option* add_file(CLI::App& app, const std::string& name, const std::string& help,
                      std::optional<std::string>& target, const char* argument = "FILE") {
  return add_text(app, name, argument, help, [name, &target](const std::string& text) {
    if (text.empty()) throw UsageError(fmt::format("--{}: the name of a file is missing", name));
    target = text;
  });
}

CLI::Option* add_switch(CLI::App& app, const std::string& name, const std::string& help, bool& target) {
  return app.add_flag("--" + name, target, help)->disable_flag_override();
}

std::string profile_named(const std::string& text) {
  std::vector<std::string> names;
  for (const auto& [name, description] : simulated_profiles()) names.push_back(name);
  if (std::ranges::find(names, text) != names.end()) return text;
  throw UsageError(fmt::format("--simulate: there is no profile '{}'; there are {}{}", text, fmt::join(names, ", "),
                               suggestion(text, names)));
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

}  // namespace

CommandLine::CommandLine(Scenarios scenarios, AxisFlags axis_flags)
    : scenarios_(scenarios), axis_flags_(axis_flags), app_(std::string(kSummary), "xferbench") {
  app_.set_help_flag("-h,--help", "this text");
  app_.add_flag("-V,--version")->description("version and build")->disable_flag_override();
  app_.allow_extras();  // what nobody knows is said in our words
  add_device_flags();
  add_sampling_flags();
  add_output_flags();
  add_whole_run_flags();
  add_contradictions();
  add_shared_axes();
  for (const Scenario* scenario : scenarios_) add_scenario(app_, *scenario);
  add_run_and_tune();
  add_compare();
  add_check();
  add_small_commands();
  app_.footer(std::string(short_examples()));  // last: subcommands inherit it
  app_.formatter(std::make_shared<Page>(std::string(program_usage()), std::vector<const CLI::Option*>{}));
}

// --- Flags that belong to no scenario -------------------------------------------------------------------------------

void CommandLine::add_device_flags() {
  DeviceChoice& device = measuring_.device;
  add_value(app_,
            {.name = "gpu", .defaults = "0", .help = "number of the GPU, as CUDA counts them", .min = 0, .max = 1023},
            "N", [&device](const Value& v) { device.gpu = static_cast<int>(std::get<std::uint64_t>(v)); })
      ->group(kDevice);
  CLI::Option* numa =
      add_text(app_, "numa", "N|local|none",
               "NUMA node to run on and take memory from; local is the GPU's, none leaves it to the system [local]",
               [&device](const std::string& text) { device.numa = numa_policy(text); });
  choices_[numa->group(kDevice)] = {"local", "none"};
  CLI::Option* simulate = add_text(app_, "simulate", "[PROFILE]", "use a modelled GPU instead of a real one",
                                   [&device](const std::string& text) { device.simulate = profile_named(text); });
  simulate->expected(0, 1)->default_str(simulated_profiles().front().first)->group(kDevice);
  for (const auto& [name, description] : simulated_profiles()) choices_[simulate].push_back(name);
}

void CommandLine::add_sampling_flags() {
  SamplingChoice& sampling = measuring_.sampling;
  const SamplingPolicy defaults;
  constexpr double kPercent = 100;
  const auto add = [](CLI::Option* option) { option->group(kSampling); };
  add(add_value(app_,
                {.name = "ci",
                 .kind = AxisKind::real,
                 .defaults = fmt::format("{}", defaults.ci * kPercent),
                 .help = "sample until the median's 95 % interval is within +- this many percent",
                 .min = 0.001,
                 .max = 100},
                "PCT", [&sampling](const Value& v) { sampling.ci = std::get<double>(v) / kPercent; }));
  add(add_value(app_,
                {.name = "budget",
                 .kind = AxisKind::real,
                 .defaults = fmt::format("{}", defaults.budget),
                 .help = "seconds of warm-up and sampling per case, at most; for tune of all cases, and then 6",
                 .min = 0.001,
                 .max = 86400},
                "SECONDS", [&sampling](const Value& v) { sampling.budget = std::get<double>(v); }));
  add(add_count(app_,
                {.name = "min-samples",
                 .defaults = fmt::format("{}", defaults.min_samples),
                 .help = "samples to take even beyond the budget",
                 .max = 1e6},
                sampling.min_samples));
  add(add_count(app_,
                {.name = "max-samples",
                 .defaults = fmt::format("{}", defaults.max_samples),
                 .help = "samples after which to stop",
                 .max = 1e6},
                sampling.max_samples));
  add(add_count(app_, {.name = "seed", .defaults = "1", .help = "seed of the payload", .min = 0}, measuring_.seed));
  add(app_.add_flag_callback(
              "--no-verify", [this] { measuring_.verify = false; }, "do not check results before and after timing")
          ->disable_flag_override());
  add(add_switch(app_, "dry-run", "print the cases and touch no device", measuring_.dry_run));
}

void CommandLine::add_output_flags() {
  OutputFiles& files = measuring_.files;
  Presentation& show = measuring_.show;
  const auto add = [](CLI::Option* option) { return option->group(kOutput); };
  add(add_file(app_, "json", "write everything as JSON, of a run with every sample; - is standard output", files.json));
  add(add_file(app_, "csv", "write one row for each number, for spreadsheets, R, pandas; - is standard output",
               files.csv));
  add(add_file(app_, "markdown", "write the tables as Markdown; - is standard output", files.markdown));
  const auto add_word = [&](const Axis& axis, auto store) {
    choices_[add(add_value(app_, axis, "WHEN", store))] = axis.choices;
  };
  add_word(
      {.name = "color",
       .kind = AxisKind::choice,
       .defaults = "auto",
       .help = "colours in tables (NO_COLOR is respected)",
       .choices = {"auto", "always", "never"}},
      [&show](const Value& v) {
        const auto& word = std::get<std::string>(v);
        show.color = word == "always" ? ColorMode::always : word == "never" ? ColorMode::never : ColorMode::automatic;
      });
  add_word({.name = "progress",
            .kind = AxisKind::choice,
            .defaults = "auto",
            .help = "auto: on a terminal; plain: one line for each case",
            .choices = {"auto", "plain", "never"}},
           [&show](const Value& v) {
             const auto& word = std::get<std::string>(v);
             show.progress = word == "plain"   ? ProgressMode::plain
                             : word == "never" ? ProgressMode::never
                                               : ProgressMode::automatic;
           });
  add(add_switch(app_, "quiet", "no progress and no warnings on standard error", show.quiet));
}

void CommandLine::add_whole_run_flags() {
  const auto add = [](CLI::Option* option) { option->group(kWholeRuns); };
  add(add_file(app_, "suite", "run the cases of a suite: quick, ci, full, or a file's", run_.suite, "NAME|FILE"));
  add(add_file(app_, "resume", "go on with the cases that are missing in this results file", run_.resume));
  add(add_count(app_,
                {.name = "turns",
                 .defaults = "1",
                 .help = "go through all cases so many times, so that drift spreads evenly; a suite may say another",
                 .max = 100},
                run_.turns));
  add(add_count(app_,
                {.name = "repeat",
                 .defaults = "1",
                 .help = "do all of it in so many fresh processes, for compare; FILE.json becomes FILE-1.json ...",
                 .max = 1000},
                run_.repeat));
  add(add_file(app_, "timeline", "watch one more pass; draw it, and write it for ui.perfetto.dev; - is standard output",
               measuring_.files.timeline));
}

void CommandLine::contradict(CLI::Option* one, CLI::Option* other, std::string why) {
  one->excludes(other);
  contradictions_.push_back({one, other, std::move(why)});
}

void CommandLine::add_contradictions() {
  const auto add = [this](const char* one, const char* other, const char* why) {
    contradict(app_.get_option(one), app_.get_option(other), why);
  };
  add("--gpu", "--simulate", "a simulated run uses no GPU");
  for (const char* file : {"--json", "--csv", "--markdown"}) {
    add(file, "--dry-run", "a dry run has no results to write");
  }
  add("--timeline", "--dry-run", "a dry run has nothing to watch");
  add("--progress", "--quiet", "a quiet run shows no progress");
  add("--suite", "--timeline", "run one of its commands by itself to watch it");
  add("--repeat", "--timeline", "run it once to watch it");
  add("--repeat", "--dry-run", "a dry run has no results to repeat");
  for (const char* file : {"--csv", "--markdown"}) {
    add("--repeat", file, "each process has results of its own, in a JSON file");
  }
}

// --- Scenarios ------------------------------------------------------------------------------------------------------

namespace {

/// All that CLI11 has to know of an axis' flag is how many words it takes: its text is read with those of other axes.
CLI::Option* shaped(CLI::Option* option, const Axis& axis) {
  option->type_name(placeholder(axis))->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->check(no_flag());
  if (!axis.implicit_value.empty()) option->expected(0, 1)->default_str(axis.implicit_value);
  return option;
}

void append(AxisTexts& texts, const std::string& axis, const CLI::results_t& more) {
  const auto [text, is_first] = texts.emplace(axis, "");
  const std::string joined = fmt::format("{}", fmt::join(more, ","));
  text->second += is_first ? joined : "," + joined;
}

std::vector<std::string> words_of(const Axis& axis) {
  std::vector<std::string> words = axis.choices;
  if (!words.empty()) words.emplace_back("all");
  return words;
}

}  // namespace

void CommandLine::add_shared_axes() {
  for (const Scenario* scenario : scenarios_) {
    for (const Axis& axis : described(*scenario).axes) {
      const std::string flag = "--" + axis.name;
      if (app_.get_option_no_throw(flag) != nullptr) continue;
      const auto read = [this, name = axis.name](const CLI::results_t& texts) {
        const Scenario* behind = scenario_of(innermost());
        if (behind == nullptr || axis_flags_ == AxisFlags::of_all) {
          append(shared_, name, texts);
        } else if (!misplaced_) {
          misplaced_ = lacks(*behind, name, scenarios_);
        }
        return true;
      };
      shaped(app_.add_option(flag, CLI::callback_t(read)), axis)->trigger_on_parse()->group(kOfScenarios);
    }
  }
}

void CommandLine::add_scenario(CLI::App& parent, const Scenario& scenario) {
  const auto& about = described(scenario);
  CLI::App* app = parent.add_subcommand(std::string(about.name), std::string(about.summary));
  scenario_of_[app] = &scenario;
  app->fallthrough()->group("Scenarios");
  const std::string before = &parent == &app_ ? "" : parent.get_name() + " ";
  const std::string usage = fmt::format("  xferbench {}{} [FLAGS]\n", before, about.name);
  app->formatter(std::make_shared<Page>(usage, std::vector<const CLI::Option*>{}));
  app->footer(fmt::format("Values:\n{}\nFlags of every run and exit codes: xferbench help run\n", value_grammar()));
  if (axis_flags_ == AxisFlags::of_all) return;
  for (const Axis& axis : about.axes) {
    CLI::Option* option = shaped(app->add_option("--" + axis.name, CLI::callback_t(), description_of(axis)), axis);
    choices_[option->group(kFlags)] = words_of(axis);
  }
}

// --- Commands -------------------------------------------------------------------------------------------------------

std::vector<const CLI::Option*> CommandLine::named(std::span<const char* const> flags) const {
  std::vector<const CLI::Option*> options;
  for (const char* flag : flags) options.push_back(app_.get_option(flag));
  return options;
}

CLI::App* CommandLine::add_command(const std::string& name, const std::string& usage, const std::string& description,
                                   std::vector<const CLI::Option*> taken) {
  CLI::App* command = app_.add_subcommand(name, description);
  command->fallthrough()->group("Commands");
  command->formatter(std::make_shared<Page>(usage, taken));
  taken_[command] = std::move(taken);
  return command;
}

void CommandLine::add_run_and_tune() {
  std::vector<const CLI::Option*> all;
  std::vector<const CLI::Option*> of_one_pass;  // through the cases: a search makes its own passes
  for (const CLI::Option* option : app_.get_options()) {
    const std::string& group = option->get_group();
    if (group != kDevice && group != kSampling && group != kOutput && group != kWholeRuns) continue;
    all.push_back(option);
    if (group != kWholeRuns) of_one_pass.push_back(option);
  }
  taken_[&app_] = all;
  add_command("run", "  xferbench [run] [FLAGS] [SCENARIO [FLAGS]]...\n", "measure; the word may be left out", all)
      ->footer(fmt::format("Values:\n{}\nProfiles for --simulate:\n{}\nExit codes:\n{}", value_grammar(),
                           profile_lines(), exit_codes()));
  tune_app_ = add_command("tune", "  xferbench tune [FLAGS] [SCENARIO [FLAGS]]\n",
                          "find the fastest configuration for what the flags fix", of_one_pass);
  tune_app_->footer(std::string(tune_examples()));
  add_count(*tune_app_,
            {.name = "memory-limit", .kind = AxisKind::size, .help = "leave out what needs more device memory"},
            tune_.memory_limit, "SIZE")
      ->group(kFlags);
  add_switch(*tune_app_, "exhaustive", "measure every configuration, however long it takes", tune_.exhaustive)
      ->group(kFlags);
  for (const Scenario* scenario : scenarios_) {
    if (can_tune(*scenario)) add_scenario(*tune_app_, *scenario);
  }
}

void CommandLine::add_compare() {
  CLI::App* app = add_command("compare", std::string(compare_usage()), "what changed between results files",
                              named(std::array{"--json", "--markdown", "--color", "--quiet"}));
  app->footer(std::string(compare_footer()));
  app->add_option("FILES", compared_files_);
  const auto files = [app](const char* flag, std::vector<std::string>& target, const char* help) {
    return app->add_option(flag, target, help)->type_name("FILES")->check(no_flag())->group(kFlags);
  };
  CLI::Option* base =
      files("--base", compare_.base, "several processes of the base: the medians of the files are the samples");
  CLI::Option* next = files("--new", compare_.next, "the same of what is compared with it");
  CLI::Option* across = files("--across", compare_.across, "side by side: a column for each file, the best marked");
  base->needs(next);
  next->needs(base);
  compare::Options& options = compare_.options;
  add_text(*app, "metric", "NAME", "a measurement or metric; else the time that a run's table shows first",
           [&options](const std::string& text) { options.metric = text; })
      ->group(kFlags);
  app->add_option("--only", options.only, "cases whose keys match: * is anything, ? one character; may be repeated")
      ->allow_extra_args(false)
      ->type_name("PATTERN")
      ->check(no_flag())
      ->group(kFlags);
  constexpr double kPercent = 100;
  CLI::Option* threshold =
      add_value(*app,
                {.name = "threshold",
                 .kind = AxisKind::real,
                 .defaults = fmt::format("{}", options.threshold * kPercent),
                 .help = "changes within it do not matter",
                 .min = 0,
                 .max = 99.999},
                "PERCENT", [&options](const Value& v) { options.threshold = std::get<double>(v) / kPercent; });
  threshold->group(kFlags);
  const auto add = [app](const char* name, const char* help, bool& target) {
    return add_switch(*app, name, help, target)->group(kFlags);
  };
  CLI::Option* strict = add("strict", "exit code 4 where a case is inconclusive, changed or missing", compare_.strict);
  CLI::Option* bootstrap =
      add("bootstrap", "judge by the ratio of medians and its bootstrap interval", options.bootstrap);
  add("allow-simulated", "compare simulated with real times, or different profiles", options.allow_simulated);
  CLI::Option* all = add("all", "list every case, however many there are", compare_.all);
  for (CLI::Option* judging : {base, next, threshold, strict, bootstrap, all}) {
    contradict(across, judging, "--across shows files side by side and judges nothing");
  }
}

void CommandLine::add_check() {
  CLI::App* app = add_command("check", "  xferbench check RESULTS --expect FILE|NAME [FLAGS]\n",
                              "whether results are within limits; exit code 1 if not",
                              named(std::array{"--json", "--markdown", "--color", "--quiet"}));
  app->footer("Example:\n  xferbench check results.json --expect h200\n");
  app->add_option("FILES", check_.results);
  add_text(*app, "expect", "FILE|NAME",
           "what to expect: a file of limits, or the name of one that comes with xferbench",
           [this](const std::string& text) { check_.expect = text; })
      ->group(kFlags);
  add_switch(*app, "allow-simulated", "check simulated results, too", check_.allow_simulated)->group(kFlags);
}

void CommandLine::add_small_commands() {
  const std::array display{"--color", "--quiet"};
  add_command("list", "  xferbench list [SCENARIO|suites]\n", "what can be run, with flags, units and defaults",
              named(display))
      ->add_option("TOPIC", list_topic_);
  add_command("info", "  xferbench info [FLAGS]\n", "GPU, link and its limit, driver, host, build",
              named(std::array{"--gpu", "--numa", "--simulate", "--color", "--quiet"}));
  add_command("help", "  xferbench help [SCENARIO|COMMAND]\n", "the flags of a scenario or a command", {})
      ->add_option("TOPIC", help_topic_);
  add_command("version", "  xferbench version\n", "version and build", {});
  add_command("completion", "  xferbench completion bash|zsh\n", "a script that completes commands and flags", {})
      ->add_option("SHELL", shell_);
  add_command("man", "  xferbench man | man -l -\n", "all help as a manual page", {});
}

}  // namespace xferbench::cli
