#include "cli/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "cli/command_flags.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"
#include "device/open.hpp"

namespace xferbench::cli {

namespace {

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
             .help = "seconds of warm-up and sampling per case, at most; for tune of all cases together",
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
  // Hidden: how --repeat, or a suite of several processes, tells one that it starts which it is.
  add_value(app_, {.name = "process", .max = 1000}, "N", into(run_.process))->group("");
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
  std::set<std::string> added;  // CLI11 would look through all of them for each
  for (const CLI::Option* option : app_.get_options()) added.insert(option->get_name());
  for (const Scenario* scenario : scenarios_) {
    for (const Axis& axis : described(*scenario).axes) {
      const std::string flag = "--" + axis.name;
      if (!added.insert(flag).second) continue;
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

}  // namespace xferbench::cli
