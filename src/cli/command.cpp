#include "cli/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <map>

#include "cli/flags.hpp"
#include "cli/texts.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"
#include "device/open.hpp"

namespace xferbench::cli {

namespace {

constexpr std::size_t kMostCases = 100'000;

using Scenarios = std::span<const Scenario* const>;

/// What was written, before it means anything: words and the text of every flag.
struct Written {
  std::vector<std::string> words;
  std::map<std::string, std::string> texts;  // by flag name without dashes; switches have an empty text
  [[nodiscard]] bool has(const std::string& flag) const { return texts.contains(flag); }
};

std::vector<std::string> names_of(Scenarios scenarios) {
  std::vector<std::string> names;
  for (const Scenario* s : scenarios) names.emplace_back(s->descriptor().name);
  return names;
}

const Scenario* find(Scenarios scenarios, std::string_view name) {
  const auto found =
      std::ranges::find_if(scenarios, [name](const Scenario* s) { return s->descriptor().name == name; });
  return found == scenarios.end() ? nullptr : *found;
}

bool has_axis(const Scenario& scenario, const std::string& name) {
  return std::ranges::find(scenario.descriptor().axes, name, &Axis::name) != scenario.descriptor().axes.end();
}

// --- From argv to what was written ----------------------------------------------------------------------------------

bool negative_number(const std::string& text) {
  return text.size() > 1 && text[0] == '-' &&
         (std::isdigit(static_cast<unsigned char>(text[1])) != 0 || text[1] == '.');
}

/// The axis of a flag that means something without a value, too; null for any other argument.
const Axis* bare_axis(const std::string& argument, Scenarios scenarios) {
  if (!argument.starts_with("--")) return nullptr;
  for (const Scenario* scenario : scenarios) {
    const auto& axes = scenario->descriptor().axes;
    const auto axis = std::ranges::find(axes, argument.substr(2), &Axis::name);
    if (axis != axes.end() && !axis->implicit_value.empty()) return &*axis;
  }
  return nullptr;
}

/// Whether a word can be a value of that axis: one of its choices, or a list of them.
bool can_be_value(const Axis& axis, const std::string& word) {
  const std::string first = word.substr(0, word.find(','));
  return first == "all" || std::ranges::find(axis.choices, first) != axis.choices.end();
}

/// Three spellings that a parser of flags would misread are made plain: a negative number after a flag is its value;
/// --simulate takes the next word only if that is not a scenario or a flag; a flag that means something without a value
/// takes the next word only if it can be one.
std::vector<std::string> made_plain(std::span<const std::string> arguments, Scenarios scenarios) {
  std::vector<std::string> plain;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const bool has_next = i + 1 < arguments.size();
    if (argument == "--simulate") {
      const bool takes_next = has_next && !arguments[i + 1].starts_with("-") &&
                              find(scenarios, arguments[i + 1]) == nullptr && arguments[i + 1] != "info" &&
                              arguments[i + 1] != "tune";
      plain.push_back("--simulate=" + (takes_next ? arguments[++i] : simulated_profiles().front().first));
    } else if (has_next && argument.starts_with("--") && argument.find('=') == std::string::npos &&
               negative_number(arguments[i + 1])) {
      plain.push_back(argument + "=" + arguments[++i]);
    } else if (const Axis* axis = bare_axis(argument, scenarios)) {
      const bool takes_next = has_next && can_be_value(*axis, arguments[i + 1]);
      plain.push_back(argument + "=" + (takes_next ? arguments[++i] : axis->implicit_value));
    } else {
      plain.push_back(argument);
    }
  }
  return plain;
}

/// Names of every flag there is; true for those that take a value.
std::map<std::string, bool> all_flags(Scenarios scenarios) {
  std::map<std::string, bool> flags;
  for (const RunFlag& flag : run_flags()) flags[flag.axis.name] = !flag.argument.empty();
  for (const RunFlag& flag : check_flags()) flags[flag.axis.name] = !flag.argument.empty();
  for (const Scenario* scenario : scenarios) {
    for (const Axis& axis : scenario->descriptor().axes) flags[axis.name] = true;
  }
  flags["help"] = flags["version"] = false;
  return flags;
}

bool is_run_flag(const std::string& name) {
  const auto named = [&name](const RunFlag& flag) { return flag.axis.name == name; };
  return std::ranges::any_of(run_flags(), named) || std::ranges::any_of(check_flags(), named);
}

[[noreturn]] void reject_flag(const std::string& argument, Scenarios scenarios) {
  std::vector<std::string> known;
  for (const auto& [name, takes_value] : all_flags(scenarios)) known.push_back("--" + name);
  const std::string flag = argument.substr(0, argument.find('='));
  throw UsageError(fmt::format("unknown flag {}{} (see xferbench --help)", flag, suggestion(flag, known)));
}

/// A flag without its value or with one that it cannot take. CLI11 would take `--json --quiet` for a file named
/// --quiet, and words the other mistakes for programmers.
void check_values(std::span<const std::string> arguments, Scenarios scenarios) {
  const std::map<std::string, bool> flags = all_flags(scenarios);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (!argument.starts_with("--")) continue;
    const std::size_t equals = argument.find('=');
    const bool joined = equals != std::string::npos;
    const auto flag = flags.find(argument.substr(2, joined ? equals - 2 : equals));
    if (flag == flags.end()) continue;
    const auto& [name, takes_value] = *flag;
    if (!takes_value && joined) throw UsageError(fmt::format("--{} takes no value", name));
    const bool value_follows = i + 1 < arguments.size() && !arguments[i + 1].starts_with("--");
    const bool needs_none = name == "simulate" || bare_axis(argument, scenarios) != nullptr;
    const bool has_value = joined ? equals + 1 < argument.size() : value_follows || needs_none;
    if (takes_value && !has_value) throw UsageError(fmt::format("--{} needs a value (see xferbench --help)", name));
  }
}

Written read(std::span<const std::string> arguments, Scenarios scenarios) {
  check_values(arguments, scenarios);
  CLI::App app;
  app.set_help_flag();  // help is made from the scenarios, not from CLI11's options
  app.allow_extras();
  Written written;
  app.add_option("words", written.words);
  std::map<std::string, std::vector<std::string>> values;
  std::map<std::string, bool> switches;
  for (const auto& [name, takes_value] : all_flags(scenarios)) {
    const std::string spelling = name == "help" ? "-h,--help" : "--" + name;
    if (takes_value) {
      app.add_option(spelling, values[name])->allow_extra_args(false);
    } else {
      app.add_flag(spelling, switches[name])->disable_flag_override();
    }
  }
  std::vector<std::string> reversed = made_plain(arguments, scenarios);
  std::ranges::reverse(reversed);  // CLI11 takes them last first
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{} (see xferbench --help)", error.what()));
  }
  for (const std::string& extra : app.remaining()) reject_flag(extra, scenarios);
  for (const auto& [name, texts] : values) {
    if (texts.size() > 1 && is_run_flag(name)) throw UsageError(fmt::format("--{} is given more than once", name));
    if (!texts.empty()) written.texts[name] = fmt::format("{}", fmt::join(texts, ","));
  }
  for (const auto& [name, on] : switches) {
    if (on) written.texts[name] = "";
  }
  return written;
}

// --- Run flags ------------------------------------------------------------------------------------------------------

const Axis& run_flag(const std::string& name) {
  return std::ranges::find(run_flags(), name, [](const RunFlag& f) { return f.axis.name; })->axis;
}

/// The one value of a run flag, as written or its default.
Value value_of(const Written& written, const std::string& name) {
  const Axis& axis = run_flag(name);
  const auto given = written.texts.find(name);
  const std::string flag = "--" + name;
  const std::vector<Value> values =
      parse_axis(axis, given == written.texts.end() ? axis.defaults : given->second, flag);
  if (values.size() != 1) throw UsageError(flag + " takes one value");
  return values.front();
}

std::size_t count_of(const Written& written, const std::string& name) {
  return std::get<std::uint64_t>(value_of(written, name));
}
double real_of(const Written& written, const std::string& name) { return std::get<double>(value_of(written, name)); }

void refuse_together(const Written& written, const char* one, const char* other, const char* why) {
  if (written.has(one) && written.has(other)) {
    throw UsageError(fmt::format("--{} and --{} contradict each other: {}", one, other, why));
  }
}

void check_profile(const std::string& profile) {
  std::vector<std::string> names;
  for (const auto& [name, description] : simulated_profiles()) names.push_back(name);
  if (std::ranges::find(names, profile) != names.end()) return;
  throw UsageError(fmt::format("--simulate: there is no profile '{}'; there are {}{}", profile, fmt::join(names, ", "),
                               suggestion(profile, names)));
}

/// "local", "none" or the number of a node.
NumaPolicy numa_policy(const std::string& text) {
  const std::vector<std::string>& words = run_flag("numa").choices;
  constexpr std::size_t kMostDigits = 4;  // Linux has 1024 nodes at most
  const bool digits = !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
  if (digits && text.size() <= kMostDigits) return {NumaPolicy::Kind::node, std::stoi(text)};
  if (text == "none") return {NumaPolicy::Kind::none};
  if (text == "local") return {NumaPolicy::Kind::local};
  throw UsageError(fmt::format("--numa: '{}' is not {} or the number of a NUMA node{}", text, fmt::join(words, ", "),
                               suggestion(text, words)));
}

/// The file that a flag names, or "-" for standard output.
std::optional<std::string> file_name(const Written& written, const std::string& flag) {
  if (!written.has(flag)) return std::nullopt;
  const std::string& name = written.texts.at(flag);
  if (name.empty()) throw UsageError(fmt::format("--{}: the name of a file is missing; - is standard output", flag));
  return name;
}

void read_progress(const Written& written, Command& command) {
  refuse_together(written, "progress", "quiet", "a quiet run shows no progress");
  const std::string progress = std::get<std::string>(value_of(written, "progress"));
  command.progress = command.quiet || progress == "never" ? ProgressMode::never
                     : progress == "plain"                ? ProgressMode::plain
                                                          : ProgressMode::automatic;
}

void read_files(const Written& written, Command& command) {
  command.json = file_name(written, "json");
  command.csv = file_name(written, "csv");
  command.markdown = file_name(written, "markdown");
  command.timeline = file_name(written, "timeline");
  std::vector<NamedFile> files;
  for (const char* flag : {"json", "csv", "markdown", "timeline"}) {
    if (const auto path = file_name(written, flag)) files.push_back({flag, *path});
  }
  refuse_shared_files(files);
}

void read_run_flags(const Written& written, Command& command) {
  refuse_together(written, "gpu", "simulate", "a simulated run uses no GPU");
  for (const char* flag : {"json", "csv", "markdown"}) {
    refuse_together(written, flag, "dry-run", "a dry run has no results to write");
  }
  refuse_together(written, "timeline", "dry-run", "a dry run has nothing to watch");
  if (written.has("numa")) command.numa = numa_policy(written.texts.at("numa"));
  if (command.numa.kind != NumaPolicy::Kind::none) {
    refuse_together(written, "numa", "simulate", "a simulated run is the same on every node");
  }
  if (written.has("gpu")) command.gpu = static_cast<int>(count_of(written, "gpu"));
  if (written.has("simulate")) {
    command.simulate = written.texts.at("simulate");
    check_profile(*command.simulate);
  }
  read_files(written, command);
  command.policy.ci = real_of(written, "ci") / 100;
  command.policy.budget = real_of(written, "budget");
  if (written.has("memory-limit")) command.memory_limit = std::get<std::uint64_t>(value_of(written, "memory-limit"));
  command.policy.min_samples = count_of(written, "min-samples");
  command.policy.max_samples = count_of(written, "max-samples");
  if (written.has("min-samples") && !written.has("max-samples")) {
    command.policy.max_samples = std::max(command.policy.max_samples, command.policy.min_samples);
  }
  if (written.has("max-samples") && !written.has("min-samples")) {
    command.policy.min_samples = std::min(command.policy.max_samples, command.policy.min_samples);
  }
  if (command.policy.min_samples > command.policy.max_samples) {
    throw UsageError(fmt::format("--min-samples {} is more than --max-samples {}", command.policy.min_samples,
                                 command.policy.max_samples));
  }
  command.seed = count_of(written, "seed");
  command.verify = !written.has("no-verify");
  command.quiet = written.has("quiet");
  command.turns = count_of(written, "turns");
  read_progress(written, command);
  for (const RunFlag& flag : run_flags()) {
    if (written.has(flag.axis.name)) command.run_flags.push_back(flag.axis.name);
  }
  const std::string color = std::get<std::string>(value_of(written, "color"));
  command.color = color == "always" ? ColorMode::always : color == "never" ? ColorMode::never : ColorMode::automatic;
}

// --- Cases ----------------------------------------------------------------------------------------------------------

bool is_meaningless(const PlannedCase& c) {
  const auto reason = c.scenario->skip_reason(c.config, nullptr);
  return reason && reason->kind == SkipReason::Kind::meaningless;
}

/// The values of every axis of one scenario, as written or by default.
class Product {
 public:
  /// `tuning`: where a flag is not given, the values that the axis is to be tuned over.
  Product(const Scenario& scenario, const Written& written, bool tuning) : scenario_(scenario), written_(written) {
    for (const Axis& axis : scenario.descriptor().axes) {
      const auto given = written.texts.find(axis.name);
      const bool replaced = given == written.texts.end() && is_replaced(axis);
      const std::string& own = tuning && !axis.tuning.empty() ? axis.tuning : axis.defaults;
      const std::string text = given != written.texts.end() ? given->second : replaced ? "" : own;
      if (given == written.texts.end() && text.empty()) {
        values_.emplace_back();  // absent from every case
      } else {
        values_.push_back(parse_axis(axis, text, "--" + axis.name));
      }
    }
  }

  [[nodiscard]] std::vector<PlannedCase> cases() const {
    std::vector<PlannedCase> all;
    expand(0, Case(scenario_.descriptor().name), all);
    refuse_idle_flags(all);
    return with_meaning(all);
  }

 private:
  /// Whether a flag was given that takes this axis' place.
  [[nodiscard]] bool is_replaced(const Axis& axis) const {
    return std::ranges::any_of(scenario_.descriptor().axes, [&](const Axis& other) {
      return other.alternative_to == axis.name && written_.has(other.name);
    });
  }

  /// Whether an axis means nothing beside the values chosen so far.
  static bool is_idle(const Axis& axis, const Case& so_far) {
    if (axis.only_with_axis.empty()) return false;
    const Case::Param* other = so_far.find(axis.only_with_axis);
    return other == nullptr ||
           std::ranges::find(axis.only_with_values, to_text(other->value, other->kind)) == axis.only_with_values.end();
  }

  void expand(std::size_t index, const Case& so_far, std::vector<PlannedCase>& all) const {
    if (index == values_.size()) {
      if (all.size() >= kMostCases) throw UsageError(fmt::format("more than {} cases; give fewer values", kMostCases));
      all.push_back({&scenario_, so_far});
      return;
    }
    const Axis& axis = scenario_.descriptor().axes[index];
    if (is_idle(axis, so_far) || values_[index].empty()) return expand(index + 1, so_far, all);
    for (const Value& value : values_[index]) {
      Case next = so_far;
      next.set(axis, value);
      expand(index + 1, next, all);
    }
  }

  /// Without combinations that mean nothing; but of each value that was written at least one stays.
  [[nodiscard]] std::vector<PlannedCase> with_meaning(const std::vector<PlannedCase>& all) const {
    std::vector<bool> stays;
    for (const PlannedCase& c : all) stays.push_back(!is_meaningless(c));
    if (std::ranges::find(stays, false) == stays.end()) return all;
    for (std::size_t axis = 0; axis < values_.size(); ++axis) {
      if (!written_.has(scenario_.descriptor().axes[axis].name)) continue;
      for (const Value& value : values_[axis]) keep_one(scenario_.descriptor().axes[axis], value, all, stays);
    }
    std::vector<PlannedCase> kept;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (stays[i]) kept.push_back(all[i]);
    }
    return kept;
  }

  /// The first case with that value stays, if no other with it does.
  static void keep_one(const Axis& axis, const Value& value, const std::vector<PlannedCase>& all,
                       std::vector<bool>& stays) {
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Case::Param* param = all[i].config.find(axis.name);
      if (param == nullptr || param->value != value) continue;
      if (stays[i]) return;
      if (!first) first = i;
    }
    if (first) stays[*first] = true;
  }

  /// A flag that no case uses would be a flag that does nothing.
  void refuse_idle_flags(const std::vector<PlannedCase>& all) const {
    for (const Axis& axis : scenario_.descriptor().axes) {
      const bool used = std::ranges::any_of(all, [&](const PlannedCase& c) { return c.config.has(axis.name); });
      if (written_.has(axis.name) && !used) {
        throw UsageError(fmt::format("--{} does nothing here: it belongs to --{} {}; leave it out", axis.name,
                                     axis.only_with_axis, fmt::join(axis.only_with_values, ",")));
      }
    }
  }

  const Scenario& scenario_;
  const Written& written_;
  std::vector<std::vector<Value>> values_;
};

std::string flags_of(const Scenario& scenario) {
  std::vector<std::string> flags;
  for (const Axis& axis : scenario.descriptor().axes) flags.push_back("--" + axis.name);
  return fmt::format("{}", fmt::join(flags, " "));
}

/// Every axis flag that was written must belong to a chosen scenario, and replace no other that was written.
void check_axis_flags(const Written& written, Scenarios all, Scenarios chosen) {
  for (const Scenario* scenario : all) {
    for (const Axis& axis : scenario->descriptor().axes) {
      if (!written.has(axis.name)) continue;
      const bool belongs = std::ranges::any_of(chosen, [&](const Scenario* s) { return has_axis(*s, axis.name); });
      if (!belongs) {
        throw UsageError(fmt::format("{} has no --{}, which belongs to {}; {} has {}",
                                     chosen.front()->descriptor().name, axis.name, scenario->descriptor().name,
                                     chosen.front()->descriptor().name, flags_of(*chosen.front())));
      }
      if (!axis.alternative_to.empty() && written.has(axis.alternative_to)) {
        throw UsageError(fmt::format("--{} and --{} contradict each other: --{} chooses the other's value", axis.name,
                                     axis.alternative_to, axis.name));
      }
    }
  }
}

std::vector<const Scenario*> chosen_scenarios(const Written& written, Scenarios scenarios) {
  if (written.words.empty()) return {scenarios.front()};
  std::vector<std::string> known = names_of(scenarios);
  std::vector<const Scenario*> chosen;
  for (const std::string& word : written.words) {
    const Scenario* scenario = find(scenarios, word);
    if (scenario == nullptr) {
      if (word == "compare") throw UsageError("compare comes first, before any flag: xferbench compare BASE NEW");
      if (!word.empty() && std::isdigit(static_cast<unsigned char>(word.front())) != 0) {
        throw UsageError(
            fmt::format("unknown scenario '{}'; values of one flag are joined by commas, as in 4K,8K", word));
      }
      std::vector<std::string> words = known;
      words.insert(words.end(), {"help", "version"});
      for (const Usage& usage : usages()) {
        if (!usage.name.empty()) words.push_back(usage.name);
      }
      throw UsageError(
          fmt::format("unknown scenario '{}'; there are {}{}", word, fmt::join(known, ", "), suggestion(word, words)));
    }
    if (std::ranges::find(chosen, scenario) == chosen.end()) chosen.push_back(scenario);
  }
  return chosen;
}

/// A timeline of what has none would be a flag that does nothing.
void check_timeline(const Written& written, Scenarios all, Scenarios chosen) {
  const auto has_timeline = [](const Scenario* s) { return s->descriptor().has_timeline; };
  if (!written.has("timeline") || std::ranges::any_of(chosen, has_timeline)) return;
  std::vector<const Scenario*> able;
  std::ranges::copy_if(all, std::back_inserter(able), has_timeline);
  throw UsageError(fmt::format("--timeline does nothing here: {} has no timeline; these have: {}",
                               chosen.front()->descriptor().name, fmt::join(names_of(able), ", ")));
}

std::vector<PlannedCase> plan(const Written& written, Scenarios all, Scenarios chosen, bool tuning = false) {
  check_axis_flags(written, all, chosen);
  check_timeline(written, all, chosen);
  std::vector<PlannedCase> cases;
  for (const Scenario* scenario : chosen) {
    for (PlannedCase& c : Product(*scenario, written, tuning).cases()) cases.push_back(std::move(c));
  }
  // A combination that means nothing and is here all the same was asked for: it becomes a result that says why not.
  const auto impossible = [](const PlannedCase& c) {
    const auto reason = c.scenario->skip_reason(c.config, nullptr);
    return reason && reason->kind == SkipReason::Kind::impossible;
  };
  if (std::ranges::all_of(cases, impossible)) {
    throw UsageError(cases.front().scenario->skip_reason(cases.front().config, nullptr)->text);
  }
  return cases;
}

// --- Commands -------------------------------------------------------------------------------------------------------

/// Some commands take few flags; any other would do nothing.
void check_flags_of(const Written& written, const std::string& command) {
  const auto usage = std::ranges::find(usages(), command, &Usage::name);
  for (const auto& [flag, text] : written.texts) {
    if (std::ranges::find(usage->flags, flag) == usage->flags.end()) {
      throw UsageError(fmt::format("{} does not take --{}", command, flag));
    }
  }
}

const Scenario* scenario_after(const Written& written, Scenarios scenarios) {
  if (written.words.size() < 2) return nullptr;
  if (written.words.size() > 2) throw UsageError(written.words[0] + " takes one scenario at most");
  Written rest;
  rest.words = {written.words[1]};
  return chosen_scenarios(rest, scenarios).front();
}

/// The cases come from elsewhere: neither scenarios nor their flags may be named beside `flag`.
void refuse_cases_beside(const std::string& flag, const Written& written) {
  if (!written.words.empty()) {
    throw UsageError(fmt::format("--{} says itself what is run; leave '{}' out", flag, written.words.front()));
  }
  for (const auto& [name, text] : written.texts) {
    const bool of_run =
        std::ranges::find(run_flags(), name, [](const RunFlag& f) { return f.axis.name; }) != run_flags().end();
    if (!of_run) throw UsageError(fmt::format("--{} says itself what is run; leave --{} out", flag, name));
  }
}

void plan_suite(const Written& written, Command& command) {
  refuse_cases_beside("suite", written);
  refuse_together(written, "suite", "timeline", "run one of its commands by itself to watch it");
  command.suite = written.texts.at("suite");
}

void plan_resume(const Written& written, Command& command) {
  refuse_cases_beside("resume", written);
  for (const std::string& flag : command.run_flags) {
    constexpr std::array kOfThisPart{"resume", "csv", "markdown", "quiet", "color", "progress"};
    if (std::ranges::find(kOfThisPart, flag) != kOfThisPart.end()) continue;
    throw UsageError(fmt::format("--resume goes on with the command that the file holds; leave --{} out", flag));
  }
  command.resume = written.texts.at("resume");
}

void plan_repeat(const Written& written, Command& command) {
  if (!written.has("repeat")) return;
  refuse_together(written, "repeat", "timeline", "run it once to watch it");
  refuse_together(written, "repeat", "dry-run", "a dry run has no results to repeat");
  for (const char* flag : {"csv", "markdown"}) {
    refuse_together(written, "repeat", flag, "each process has results of its own, in a JSON file");
  }
  command.repeat = count_of(written, "repeat");
  if (!command.json || command.json == "-") {
    throw UsageError("--repeat needs --json FILE: each process writes one of its own, FILE-1.json and so on");
  }
}

/// A flag of `check` anywhere else would do nothing.
void refuse_check_flags(const Written& written) {
  for (const RunFlag& flag : check_flags()) {
    if (!written.has(flag.axis.name)) continue;
    throw UsageError(fmt::format("--{} does nothing here: it belongs to check; leave it out", flag.axis.name));
  }
}

/// The shell that `completion` is to write for.
std::string shell_of(const Written& written) {
  const std::vector<std::string>& shells = std::ranges::find(usages(), "completion", &Usage::name)->words;
  const std::string word = written.words.size() > 1 ? written.words[1] : "";
  if (written.words.size() == 2 && std::ranges::find(shells, word) != shells.end()) return word;
  throw UsageError(fmt::format("completion takes one of {}{}", fmt::join(shells, ", "), suggestion(word, shells)));
}

void plan_check(const Written& written, Command& command) {
  check_flags_of(written, "check");
  if (written.words.size() != 2) {
    throw UsageError("check takes one results file: xferbench check results.json --expect h200");
  }
  if (!written.has("expect") || written.texts.at("expect").empty()) {
    throw UsageError("check needs --expect: a file of limits, or the name of one that comes with xferbench, as h200");
  }
  command.action = Action::check;
  command.results = written.words[1];
  command.expect = written.texts.at("expect");
  command.allow_simulated = written.has("allow-simulated");
}

void plan_run(const Written& written, Scenarios scenarios, Command& command) {
  refuse_check_flags(written);
  for (const char* flag : {"memory-limit", "exhaustive"}) {
    if (!written.has(flag)) continue;
    throw UsageError(fmt::format("--{} does nothing here: it belongs to tune; leave it out", flag));
  }
  command.action = written.has("dry-run") ? Action::dry_run : Action::run;
  plan_repeat(written, command);
  if (written.has("resume")) return plan_resume(written, command);
  if (written.has("suite")) return plan_suite(written, command);
  command.cases = plan(written, scenarios, chosen_scenarios(written, scenarios));
}

const Scenario& scenario_to_tune(const Written& written, Scenarios scenarios) {
  const Scenario* named = scenario_after(written, scenarios);
  const Scenario& chosen = named != nullptr ? *named : *scenarios.front();
  if (can_tune(chosen)) return chosen;
  std::vector<std::string_view> names;
  for (const Scenario* s : scenarios) {
    if (can_tune(*s)) names.push_back(s->descriptor().name);
  }
  throw UsageError(
      fmt::format("{} cannot be tuned; {}", chosen.descriptor().name,
                  names.empty() ? "no scenario can" : fmt::format("these can: {}", fmt::join(names, ", "))));
}

void plan_tune(const Written& written, Scenarios scenarios, Command& command) {
  constexpr double kBudget = 6;  // seconds, for a whole space; the help of --budget says so
  constexpr double kDay = 86400;
  refuse_check_flags(written);
  const Scenario* scenario = &scenario_to_tune(written, scenarios);
  if (written.has("timeline")) {
    throw UsageError("tune does not take --timeline; run the command that it prints with --timeline");
  }
  for (const char* flag : {"suite", "resume", "repeat", "turns"}) {
    if (written.has(flag)) throw UsageError(fmt::format("tune does not take --{}", flag));
  }
  command.action = written.has("dry-run") ? Action::dry_tune : Action::tune;
  command.cases = plan(written, scenarios, {&scenario, 1}, true);
  command.exhaustive = written.has("exhaustive");
  if (!written.has("budget")) command.policy.budget = command.exhaustive ? kDay : kBudget;
  for (const Axis& axis : scenario->descriptor().axes) {
    if (written.has(axis.name)) command.given.push_back(axis.name);
  }
}

/// `compare` has files for words and flags of its own: it is read before anything else would misread them.
std::optional<Command> read_compare(std::span<const std::string> arguments) {
  const bool asks_for_help = arguments.size() == 2 && arguments[0] == "help" && arguments[1] == "compare";
  if (!asks_for_help && (arguments.empty() || arguments.front() != "compare")) return std::nullopt;
  Command command;
  command.action = Action::compare;
  if (asks_for_help) {
    command.compare.help = true;
  } else {
    command.compare = parse_compare(arguments.subspan(1));
  }
  return command;
}

}  // namespace

void refuse_shared_files(std::span<const NamedFile> files) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (files[i].path != files[j].path) continue;
      const std::string both = fmt::format("--{} and --{}", files[j].flag, files[i].flag);
      if (files[i].path != "-") throw UsageError(both + " name the same file; give them one each");
      throw UsageError(both + " cannot both be standard output; give one of them a file");
    }
  }
}

Command parse(std::span<const std::string> arguments, std::span<const Scenario* const> scenarios) {
  if (const auto comparison = read_compare(arguments)) return *comparison;
  const Written written = read(arguments, scenarios);
  const std::string first = written.words.empty() ? "" : written.words.front();
  Command command;
  if (written.has("help")) {
    command.action = Action::help;
    const bool second = (first == "list" || first == "tune") && written.words.size() > 1;
    command.about = find(scenarios, second ? written.words[1] : first);
    return command;
  }
  if (first == "help") {
    command.action = Action::help;
    command.about = scenario_after(written, scenarios);
    return command;
  }
  if (written.has("version") || (first == "version" && written.words.size() == 1)) {
    command.action = Action::version;
    return command;
  }
  read_run_flags(written, command);
  if (first == "list") {
    check_flags_of(written, "list");
    command.action = Action::list;
    command.about = scenario_after(written, scenarios);
  } else if (first == "info") {
    check_flags_of(written, "info");
    if (written.words.size() > 1) throw UsageError("info takes no scenario");
    command.action = Action::info;
  } else if (first == "completion") {
    check_flags_of(written, "completion");
    command.action = Action::completion;
    command.shell = shell_of(written);
  } else if (first == "man") {
    check_flags_of(written, "man");
    if (written.words.size() > 1) throw UsageError("man takes nothing: xferbench man | man -l -");
    command.action = Action::man;
  } else if (first == "check") {
    plan_check(written, command);
  } else if (first == "tune") {
    plan_tune(written, scenarios, command);
  } else {
    plan_run(written, scenarios, command);
  }
  return command;
}

}  // namespace xferbench::cli
