#include "cli/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "cli/command_line.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "device/open.hpp"
#include "ranks/gpu_probe.hpp"
#include "results/calibration.hpp"

namespace xferbench::cli {

// --- What CLI11 has read --------------------------------------------------------------------------------------------

std::optional<std::string> CommandLine::read(std::span<const std::string> arguments) {
  // CLI11 takes `--json= next` for a value that comes next.
  const auto lacks_value = [](const std::string& word) {
    return word.starts_with("--") && word.find('=') + 1 == word.size();
  };
  const auto empty = std::ranges::find_if(arguments, lacks_value);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // CLI11 takes them last first
  try {
    app_.parse(reversed);
  } catch (const CLI::Success&) {  // help was asked for
  } catch (const CLI::ParseError& error) {
    return explained(error);
  } catch (const UsageError& error) {  // of a value
    return error.what();
  }
  if (empty != arguments.end()) return fmt::format("{} needs a value", empty->substr(0, empty->size() - 1));
  return misplaced_;
}

std::string CommandLine::explained(const CLI::ParseError& error) const {
  for (const CLI::App* app : {&app_, &innermost()}) {
    for (const CLI::Option* option : app->get_options()) {
      const bool one_value = option->get_multi_option_policy() == CLI::MultiOptionPolicy::Throw;
      if (one_value && option->get_expected_max() == 1 && option->count() > 1) {
        return option->get_name() + " is given more than once";
      }
    }
  }
  for (const Contradiction& c : contradictions_) {
    if (c.one->count() == 0 || c.other->count() == 0) continue;
    return fmt::format("{} and {} contradict each other: {}", c.one->get_name(), c.other->get_name(), c.why);
  }
  const std::string what = error.what();
  const std::string command = innermost().get_name();
  const std::string see = fmt::format(" (see xferbench {} --help)", command == "xferbench" ? "overlap" : command);
  if (error.get_name() != "ArgumentMismatch") return what + see;
  const std::string flag = what.substr(0, what.find_first_of(": "));
  if (flag.starts_with("-")) return flag + " needs a value" + see;
  return fmt::format("--{} takes no value", flag);
}

const CLI::App& CommandLine::innermost() const {
  const CLI::App* app = &app_;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().back();
  return *app;
}

/// Wherever it stands, help is given: even beside a mistake.
bool CommandLine::asks_for_help() const {
  const auto asks = [](const CLI::App* app) { return app->get_help_ptr()->count() > 0; };
  return asks(&app_) || asks(&innermost()) || std::ranges::any_of(app_.get_subcommands(), asks);
}

std::vector<const CLI::App*> CommandLine::words_after_command() const {
  const auto named = app_.get_subcommands();
  return {named.begin() + 1, named.end()};
}

namespace {

void refuse_several_inputs(const char* command, const std::vector<std::string>& files) {
  if (std::ranges::count(files, "-") > 1) {
    throw UsageError(fmt::format("{}: only one file can be - (standard input)", command));
  }
}

}  // namespace

// --- What nobody knows ----------------------------------------------------------------------------------------------

void CommandLine::reject_what_is_left() const {
  for (const std::string& argument : app_.remaining()) {
    if (argument.size() > 1 && argument.starts_with("-")) reject_flag(argument);
    reject_word(argument);
  }
}

void CommandLine::reject_flag(const std::string& argument) const {
  const std::string flag = argument.substr(0, argument.find('='));
  std::vector<std::string> known;
  const auto add = [&known](const CLI::App& app) {
    for (const CLI::Option* option : app.get_options()) {
      if (!option->get_positional()) known.push_back(option->get_name());
    }
  };
  add(app_);
  for (const CLI::App* command : app_.get_subcommands({})) {
    add(*command);
    if (command->get_option_no_throw(flag) != nullptr) {
      throw UsageError(fmt::format("{} does nothing here: it belongs to {}; leave it out", flag, command->get_name()));
    }
  }
  throw UsageError(fmt::format("unknown flag {}{} (see xferbench {} --help)", flag, suggestion(flag, known),
                               app_.get_subcommands().empty() ? "overlap" : innermost().get_name()));
}

void CommandLine::reject_word(const std::string& word) const {
  const auto named = app_.get_subcommands();
  const std::string first = named.empty() ? "" : named.front()->get_name();
  if (named.empty() || scenario_of(*named.front()) != nullptr || named.front() == tune_app_ || first == "run") {
    static_cast<void>(topic(word));
    return;
  }
  const std::string see = fmt::format("(see xferbench {} --help)", first);
  if (first == "list")
    throw UsageError(fmt::format("list is of what can be run, and '{0}' is a command: xferbench help {0}", word));
  const auto positional = named.front()->get_options([](const CLI::Option* o) { return o->get_positional(); });
  const bool takes_files = std::ranges::any_of(
      positional, [](const CLI::Option* o) { return o->get_type_name().find("FILE") != std::string::npos; });
  if (takes_files) {
    throw UsageError(fmt::format("{} does not take '{}'; a file of that name is ./{} {}", first, word, word, see));
  }
  if (first == "explain") {
    throw UsageError(
        fmt::format("explain does not take '{}'; a program to run goes behind --, with all its arguments, "
                    "as in xferbench explain -- ./my_app args",
                    word));
  }
  throw UsageError(fmt::format("{} does not take '{}'; leave it out {}", first, word, see));
}

const Scenario& CommandLine::topic(const std::string& word) const {
  std::vector<std::string> scenarios;
  std::vector<std::string> commands;
  for (const CLI::App* command : app_.get_subcommands({})) {
    const Scenario* scenario = scenario_of(*command);
    if (scenario != nullptr && command->get_name() == word) return *scenario;
    (scenario != nullptr ? scenarios : commands).push_back(command->get_name());
  }
  if (!word.empty() && std::isdigit(static_cast<unsigned char>(word.front())) != 0) {
    throw UsageError(fmt::format("unknown scenario '{}'; values of one flag are joined by commas, as in 4K,8K", word));
  }
  if (std::ranges::find(kListed, word) != kListed.end()) {
    throw UsageError(fmt::format("'{0}' is neither a scenario nor a command; xferbench list {0} shows them", word));
  }
  std::vector<std::string> known = scenarios;
  known.insert(known.end(), commands.begin(), commands.end());
  throw UsageError(fmt::format("'{}' is neither a scenario nor a command; scenarios are {}; commands are {}{}", word,
                               fmt::join(scenarios, ", "), fmt::join(commands, ", "), suggestion(word, known)));
}

/// Some commands take few of the program's flags; any other would do nothing.
void CommandLine::reject_unused_flags(const CLI::App& command) const {
  const Flags& taken = known_.at(&command).taken;
  const bool takes_axes = &command == &app_ || &command == tune_app_ || command.get_name() == "run";
  for (const CLI::Option* option : app_.get_options()) {
    const std::string& group = option->get_group();
    if (option->count() == 0 || group.empty() || (takes_axes && group == kOfScenarios)) continue;
    if (std::ranges::find(taken, option) != taken.end()) continue;
    throw UsageError(fmt::format("{} does not take {}", command.get_name(), option->get_name()));
  }
}

// --- What it means --------------------------------------------------------------------------------------------------

/// Before the scenarios a flag holds for all that have it, behind one for that one.
std::vector<ScenarioFlags> CommandLine::flags_of_scenarios(const CLI::App& parent) const {
  std::vector<ScenarioFlags> all;
  for (const CLI::App* app : parent.get_subcommands()) {
    const Scenario* scenario = scenario_of(*app);
    if (scenario == nullptr) continue;
    AxisTexts texts;
    for (const CLI::Option* option : app->get_options()) {
      const std::string axis = option->get_name().substr(2);
      if (option->count() > 0 && has_axis(*scenario, axis))
        texts[axis] = fmt::format("{}", fmt::join(option->results(), ","));
    }
    all.push_back({scenario, std::move(texts)});
  }
  if (all.empty()) all.push_back({scenarios_.front(), {}});
  for (const auto& [axis, text] : shared_) {
    bool held = false;
    for (ScenarioFlags& flags : all) {
      if (!has_axis(*flags.scenario, axis)) continue;
      const auto [own, is_first] = flags.texts.emplace(axis, text);
      if (!is_first) own->second = text + "," + own->second;
      held = true;
    }
    if (!held) throw UsageError(lacks(*all.front().scenario, axis, scenarios_));
  }
  return all;
}

void CommandLine::finish_measuring(double budget) {
  Measuring& m = measuring_;
  if (m.device.simulate && given("--numa") && m.device.numa.kind != NumaPolicy::Kind::none) {
    throw UsageError("--numa and --simulate contradict each other: a simulated run is the same on every node");
  }
  refuse_shared_files(m.files.named());
  m.policy = policy_of(m.sampling, budget);
  if (m.show.quiet) m.show.progress = ProgressMode::never;
}

namespace {

bool has_timeline(const Scenario& scenario) { return described(scenario).has_timeline; }

/// "overlap, smem": those of which it holds.
std::string names_where(bool (*holds)(const Scenario&), Scenarios all) {
  std::vector<std::string> names;
  for (const Scenario* scenario : all) {
    if (holds(*scenario)) names.push_back(name_of(*scenario));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// A timeline of what has none would be a flag that does nothing.
void check_timeline(std::span<const ScenarioFlags> chosen, Scenarios all) {
  if (std::ranges::any_of(chosen, [](const ScenarioFlags& f) { return has_timeline(*f.scenario); })) return;
  throw UsageError(fmt::format("--timeline does nothing here: {} has no timeline; these have: {}",
                               name_of(*chosen.front().scenario), names_where(has_timeline, all)));
}

}  // namespace

/// Several GPUs for what is about one would be a flag that does nothing.
void CommandLine::refuse_gpus_for_one(std::span<const ScenarioFlags> chosen) const {
  const auto uses_several = [](const Scenario& s) { return described(s).gpus != UsesGpus::one; };
  if (!measuring_.device.gpus) return;
  if (std::ranges::any_of(chosen, [&](const ScenarioFlags& f) { return uses_several(*f.scenario); })) return;
  throw UsageError(
      fmt::format("--gpus does nothing here: {} is about one GPU, which --gpu chooses; these use several: {}",
                  name_of(*chosen.front().scenario), names_where(uses_several, scenarios_)));
}

/// What stands beside a flag that says itself where the cases come from.
void CommandLine::refuse_beside(const char* source) const {
  const auto reject = [source](const std::string& what) {
    throw UsageError(fmt::format("{} says itself what is run; leave {} out", source, what));
  };
  for (const CLI::App* app : app_.get_subcommands()) {
    if (scenario_of(*app) != nullptr) reject("'" + app->get_name() + "'");
  }
  if (!shared_.empty()) reject("--" + shared_.begin()->first);
}

Command CommandLine::run_command() {
  finish_measuring(SamplingPolicy().budget);
  run_.measuring = measuring_;
  for (const CLI::Option* option : known_.at(&app_).taken) {
    if (option->count() > 0) run_.flags.push_back(option->get_name().substr(2));
  }
  for (const char* flag : {"pace", "threshold", "timeout", "share-gpus"}) {
    if (given(("--" + std::string(flag)).c_str())) run_.fleet.flags.emplace_back(flag);
  }
  if (run_.process && !run_.repeat && !run_.suite) throw UsageError("--process is one of --repeat, or of a suite");
  if ((run_.repeat || run_.process) && (!measuring_.files.json || measuring_.files.json == "-")) {
    throw UsageError("--repeat needs --json FILE: each process writes one of its own, FILE-1.json and so on");
  }
  if (run_.spread) {
    if (*run_.spread == "-") throw UsageError("--spread needs a file: it is added to when it is there");
    std::vector<NamedFile> files = measuring_.files.named();
    files.push_back({"spread", *run_.spread});
    refuse_shared_files(files);
  }
  if (run_.suite) refuse_beside("--suite");
  if (run_.resume) refuse_beside("--resume");
  if (!run_.suite && !run_.resume) {
    const std::vector<ScenarioFlags> flags = flags_of_scenarios(app_);
    if (measuring_.files.timeline) check_timeline(flags, scenarios_);
    refuse_gpus_for_one(flags);
    run_.cases = plan(flags);
  }
  constexpr std::array kOfThisPart{"resume", "csv",      "markdown", "openmetrics", "quiet",
                                   "color",  "progress", "wide",     "all-findings"};
  for (const std::string& flag : run_.flags) {
    if (!run_.resume || std::ranges::find(kOfThisPart, flag) != kOfThisPart.end()) continue;
    throw UsageError(fmt::format("--resume goes on with the command that the file holds; leave --{} out", flag));
  }
  return run_;
}

Command CommandLine::tune_command() {
  constexpr double kDay = 86400;
  const auto after = words_after_command();
  const auto chosen = tune_app_->get_subcommands();
  if (chosen.size() + after.size() > 1) throw UsageError("tune takes one scenario at most");
  if (!after.empty() || (chosen.empty() && !can_tune(*scenarios_.front()))) {
    throw UsageError(fmt::format("{} cannot be tuned; these can: {}",
                                 after.empty() ? name_of(*scenarios_.front()) : after.front()->get_name(),
                                 names_where(can_tune, scenarios_)));
  }
  finish_measuring(tune_.exhaustive ? kDay : SamplingPolicy().budget);
  tune_.measuring = measuring_;
  const std::vector<ScenarioFlags> flags = flags_of_scenarios(*tune_app_);
  refuse_gpus_for_one(flags);
  tune_.cases = plan(flags, true);
  for (const Axis& axis : described(*flags.front().scenario).axes) {
    if (flags.front().texts.contains(axis.name)) tune_.given.push_back(axis.name);
  }
  return tune_;
}

Command CommandLine::compare_command() {
  CompareCommand& c = compare_;
  c.files = measuring_.files;
  c.show = measuring_.show;
  if (!c.across.empty()) {
    // A list of files takes every word that follows it, so all other words stand before it.
    c.across.insert(c.across.begin(), compared_files_.begin(), compared_files_.end());
    if (c.across.size() < 2) throw UsageError("--across needs at least two files");
  } else if (!c.base.empty()) {
    if (!compared_files_.empty()) {
      throw UsageError(
          fmt::format("compare: '{}' belongs to no side; write it after --base or --new", compared_files_[0]));
    }
  } else if (compared_files_.size() < 2) {
    throw UsageError(
        fmt::format("compare needs two results files, as in xferbench compare base.json new.json; {} "
                    "(see xferbench compare --help)",
                    compared_files_.empty() ? "there is none" : "there is one"));
  } else {
    c.base = {compared_files_.front()};
    c.next.assign(compared_files_.begin() + 1, compared_files_.end());
  }
  std::ptrdiff_t inputs = 0;
  for (const auto* files : {&c.base, &c.next, &c.across}) inputs += std::ranges::count(*files, "-");
  if (inputs > 1) throw UsageError("compare: only one file can be - (standard input)");
  refuse_shared_files(c.files.named());
  return c;
}

Command CommandLine::check_command() {
  if (check_.results.empty()) {
    throw UsageError("check needs a results file: xferbench check results.json --expect h200");
  }
  refuse_several_inputs("check", check_.results);
  if (check_.expect.empty()) {
    throw UsageError("check needs --expect: a file of limits, or the name of one that comes with xferbench, as h200");
  }
  check_.files = measuring_.files;
  check_.show = measuring_.show;
  refuse_shared_files(check_.files.named());
  return check_;
}

namespace {

/// Before anything is measured: a profile of such a name would be refused when it is used.
void refuse_profile_name(const std::string& name) {
  if (is_built_in_profile(name)) {
    throw UsageError(
        fmt::format("--name {0}: that is a built-in profile; give this one a name of its own, as my-{0}", name));
  }
  if (name.size() > kLongestProfileWord) {
    throw UsageError(fmt::format("--name takes up to {} characters, and this has {}; give a shorter one",
                                 kLongestProfileWord, name.size()));
  }
}

}  // namespace

Command CommandLine::calibrate_command() {
  refuse_several_inputs("calibrate", calibrate_.results);
  refuse_profile_name(calibrate_.name);
  if (!calibrate_.results.empty()) {
    for (const auto& [flag, what] :
         {std::pair{"--gpu", "chooses what is measured"}, std::pair{"--numa", "chooses where it is measured"},
          std::pair{"--simulate", "chooses what is measured"}, std::pair{"--json", "keeps what is measured"}}) {
      if (!given(flag)) continue;
      throw UsageError(
          fmt::format("{} {}, and these results are measured already; leave it, or the files, out", flag, what));
    }
  }
  calibrate_.json = measuring_.files.json;
  if (calibrate_.json == "-") {
    throw UsageError("--json -: what calibrate measures is kept in a file, and not on standard output; name one");
  }
  if (calibrate_.json) {
    refuse_shared_files(std::array{NamedFile{"json", *calibrate_.json}, NamedFile{"output", calibrate_.output}});
  }
  calibrate_.device = measuring_.device;
  calibrate_.show = measuring_.show;
  return calibrate_;
}

Command CommandLine::validate_command() {
  if (validate_.results.empty()) {
    throw UsageError("validate needs results of a machine: xferbench validate held-out.json --simulate mine.json");
  }
  refuse_several_inputs("validate", validate_.results);
  if (!measuring_.device.simulate) {
    throw UsageError(
        "validate needs --simulate: the profile that is to predict these results, as --simulate mine.json");
  }
  validate_.profile = *measuring_.device.simulate;
  validate_.files = measuring_.files;
  validate_.show = measuring_.show;
  return validate_;
}

Command CommandLine::expect_command() {
  if (expect_.good.empty()) {
    throw UsageError("expect needs results of good runs: xferbench expect good-1.json good-2.json -o mine.json");
  }
  refuse_several_inputs("expect", expect_.good);
  expect_.show = measuring_.show;
  return expect_;
}

Command CommandLine::explain_command() {
  ExplainCommand& e = explain_;
  if (e.program.empty() && e.folder.empty()) {
    throw UsageError("explain needs a program behind --, or a recording: xferbench explain -- ./my_app args");
  }
  if (!e.program.empty() && !e.folder.empty()) {
    throw UsageError(
        fmt::format("explain takes a program or a recording, and there are both ('{}' before --)", e.folder));
  }
  if (e.program.empty()) {
    for (const char* flag : {"--recording", "--runs", "--no-bare", "--from", "--for", "--max-records", "--stacks",
                             "--exit-code", "--measure-limits"}) {
      if (app_.get_subcommand("explain")->get_option(flag)->count() == 0) continue;
      throw UsageError(fmt::format("{} is of a program that is run, and {} is read", flag, e.folder));
    }
  }
  e.files = measuring_.files;
  e.show = measuring_.show;
  e.simulate = measuring_.device.simulate;
  refuse_shared_files(e.files.named());
  return e;
}

Command CommandLine::soak_command() {
  const CLI::App& app = *app_.get_subcommand("soak");
  soak_.arguments = measuring_.arguments;
  soak_.device = measuring_.device;
  soak_.settings.seed = measuring_.seed;
  soak_.files = measuring_.files;
  soak_.resume = run_.resume;
  soak_.show = measuring_.show;
  soak_.dry_run = measuring_.dry_run;
  if (soak_.settings.size % 4096 != 0) {
    throw UsageError(fmt::format("--size {} is no multiple of 4 KiB, which copies of a soak are",
                                 format_size_exact(soak_.settings.size)));
  }
  if (soak_.resume) {
    for (const char* flag : {"--interval", "--load", "--size", "--floor", "--gpu", "--gpus", "--numa", "--simulate",
                             "--seed", "--json", "--dry-run"}) {
      const CLI::Option* own = app.get_option_no_throw(flag);
      if ((own != nullptr ? own : app_.get_option(flag))->count() == 0) continue;
      throw UsageError(fmt::format("--resume goes on with the soak that the file holds; leave {} out", flag));
    }
    if (soak_.resume == "-") throw UsageError("--resume needs a file: a soak goes on in its own");
  }
  std::vector<NamedFile> files = soak_.files.named();
  if (soak_.resume) files.push_back({"resume", *soak_.resume});
  refuse_shared_files(files);
  return soak_;
}

Command CommandLine::info_command() {
  finish_measuring(SamplingPolicy().budget);
  info_.device = measuring_.device;
  return info_;
}

Command CommandLine::completion_command() {
  const Axis shell{.name = "completion", .kind = AxisKind::choice, .choices = words(kShells)};
  const Value chosen = parse_axis(shell, word_, shell.name).front();
  return TextCommand{std::string(completion_script(std::get<std::string>(chosen)))};
}

Command CommandLine::list_command() {
  const auto after = words_after_command();
  if (after.size() > 1) throw UsageError("list takes one scenario at most");
  for (const CLI::Option* option : known_.at(app_.get_subcommand("list")).taken) {
    if (option->count() == 0 || word_ == kListed.back()) continue;
    throw UsageError(fmt::format("{} does nothing here: it belongs to list {}", option->get_name(), kListed.back()));
  }
  if (after.empty() && word_.empty()) return ListCommand{};
  if (const auto* of = std::ranges::find(kListed, word_); after.empty() && of != kListed.end()) {
    return ListCommand{static_cast<ListCommand::Of>(of - kListed.begin() + 1), measuring_.device};
  }
  const Scenario& about = topic(after.empty() ? word_ : after.front()->get_name());
  return TextCommand{to_text(page(*app_.get_subcommand(name_of(about)))) + explain_results(described(about))};
}

Command CommandLine::help_command() {
  const auto after = words_after_command();
  if (word_ == "help") return TextCommand{to_text(page(*app_.get_subcommand("help")))};
  if (!word_.empty()) static_cast<void>(topic(word_));
  if (after.size() > 1) {
    throw UsageError(fmt::format("help is of one thing at a time: xferbench help {}", after.front()->get_name()));
  }
  if (after.empty()) return TextCommand{to_text(page(app_))};
  const auto inner = after.front()->get_subcommands();  // of tune: a scenario
  return TextCommand{to_text(page(inner.empty() ? *after.front() : *inner.front()))};
}

Command CommandLine::command(std::span<const std::string> arguments, std::vector<std::string> program) {
  explain_.program = std::move(program);
  measuring_.arguments.assign(arguments.begin(), arguments.end());
  const std::optional<std::string> mistake = read(arguments);
  if (asks_for_help()) return TextCommand{to_text(page(innermost()))};
  if (given("--version")) return VersionCommand{};
  if (mistake) throw UsageError(*mistake);
  const auto named = app_.get_subcommands();
  const CLI::App& first = named.empty() || scenario_of(*named.front()) != nullptr ? app_ : *named.front();
  reject_what_is_left();
  reject_unused_flags(first);
  const std::string& name = first.get_name();
  const bool takes_scenarios = &first == &app_ || name == "run" || name == "tune" || name == "list";
  for (const CLI::App* word : named) {
    const bool scenario = scenario_of(*word) != nullptr;
    if (word == &first || name == "help" || (takes_scenarios && scenario)) continue;
    if (scenario || name == "list") reject_word(word->get_name());
    throw UsageError(fmt::format("{} comes first: xferbench {}", word->get_name(), word->get_name()));
  }
  if (!explain_.program.empty() && name != "explain") {
    throw UsageError(
        fmt::format("-- is of explain, which comes first: xferbench explain -- {}", explain_.program.front()));
  }
  return known_.at(&first).make();
}

// --- The rest -------------------------------------------------------------------------------------------------------

namespace {

GpuProbeCommand gpu_probe(const std::string& number) {
  GpuProbeCommand command;
  const char* const end = number.data() + number.size();
  if (std::from_chars(number.data(), end, command.gpu).ptr != end || command.gpu < 0) {
    throw UsageError(fmt::format("{} takes the number of a GPU, not '{}'", kGpuProbeArgument, number));
  }
  return command;
}

}  // namespace

Command parse(std::span<const std::string> arguments, Scenarios scenarios, AxisFlags axis_flags) {
  if (!arguments.empty() && arguments.front() == "__complete") {
    return CompleteCommand{{arguments.begin() + 1, arguments.end()}};
  }
  if (arguments.size() == 2 && arguments.front() == kGpuProbeArgument) return gpu_probe(arguments.back());
  const auto program = program_in(arguments);
  if (!program) return CommandLine(scenarios, axis_flags).command(arguments);
  if (program->empty()) throw UsageError("explain: there is no program behind --: xferbench explain -- ./my_app args");
  const auto own = arguments.first(arguments.size() - program->size() - 1);
  return CommandLine(scenarios, axis_flags).command(own, {program->begin(), program->end()});
}

std::optional<std::span<const std::string>> program_in(std::span<const std::string> arguments) {
  const auto dashes = std::ranges::find(arguments, "--");
  const auto explain = std::find(arguments.begin(), dashes, "explain");
  if (explain == dashes || dashes == arguments.end()) return std::nullopt;
  return arguments.subspan(static_cast<std::size_t>(dashes - arguments.begin()) + 1);
}

SamplingPolicy policy_of(const SamplingChoice& choice, double budget) {
  SamplingPolicy policy;
  if (choice.ci) policy.ci = *choice.ci / 100;
  policy.budget = choice.budget.value_or(budget);
  // A limit that was chosen moves the other one out of its way.
  const std::size_t most = choice.max_samples.value_or(policy.max_samples);
  policy.min_samples = choice.min_samples.value_or(std::min(policy.min_samples, most));
  policy.max_samples = choice.max_samples.value_or(std::max(most, policy.min_samples));
  if (policy.min_samples <= policy.max_samples) return policy;
  throw UsageError(
      fmt::format("--min-samples {} is more than --max-samples {}", policy.min_samples, policy.max_samples));
}

std::vector<NamedFile> OutputFiles::named() const {
  std::vector<NamedFile> files;
  if (json) files.push_back({"json", *json});
  if (csv) files.push_back({"csv", *csv});
  if (markdown) files.push_back({"markdown", *markdown});
  if (timeline) files.push_back({"timeline", *timeline});
  if (junit) files.push_back({"junit", *junit});
  if (openmetrics) files.push_back({"openmetrics", *openmetrics});
  return files;
}

void refuse_shared_files(std::span<const NamedFile> files) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto keeps = [&](const NamedFile& other) { return other.path + "~" == files[i].path; };
    if (const auto other = std::ranges::find_if(files, keeps); other != files.end()) {
      throw UsageError(fmt::format("--{} and --{} name the same file: what was in {} may be kept as {}; choose another",
                                   other->flag, files[i].flag, other->path, files[i].path));
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (files[i].path != files[j].path) continue;
      const std::string both = fmt::format("--{} and --{}", files[j].flag, files[i].flag);
      if (files[i].path != "-") throw UsageError(both + " name the same file; give them one each");
      throw UsageError(both + " cannot both be standard output; give one of them a file");
    }
  }
}

}  // namespace xferbench::cli
