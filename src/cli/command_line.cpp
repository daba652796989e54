#include "cli/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>
#include <utility>

#include "cli/command_flags.hpp"
#include "core/error.hpp"
#include "core/spelling.hpp"

namespace xferbench::cli {

CommandLine::CommandLine(Scenarios all, AxisFlags flags_of_axes)
    : scenarios(all), axis_flags(flags_of_axes), app(std::string(kSummary), "xferbench") {
  app.option_defaults()->disable_flag_override()->group(kFlags);
  app.set_help_flag("-h,--help", "show this help");
  app.add_flag("-V,--version")->description("version, build, and the libraries found on this machine");
  app.allow_extras();  // reject_leftover_words() reports unknown words instead
  add_program_flags(*this);
  add_scenarios(*this);
  add_run_and_tune(*this);
  add_commands(*this);
  app.footer(std::string(short_examples()));  // set last, because subcommands inherit the footer
}

// --- Declaring ------------------------------------------------------------------------------------------------------

CLI::App* CommandLine::add_command(const std::string& name, const std::string& description, std::string_view footer,
                                   Known what) {
  CLI::App* command = app.add_subcommand(name, description)->group(kCommands);
  command->footer(std::string(footer))->get_help_ptr()->group(kFlags);
  known[command] = std::move(what);
  return command;
}

Flags CommandLine::named(std::initializer_list<const char*> flags) const {
  Flags options;
  for (const char* flag : flags) options.push_back(app.get_option(flag));
  return options;
}

CLI::Option* CommandLine::add_value(CLI::App& of, const Axis& axis, const char* argument,
                                    const std::function<void(const Value&)>& store) {
  const CLI::callback_t read = [axis, store](const CLI::results_t& texts) {
    const std::vector<Value> values = parse_axis(axis, texts.front(), flag_of(axis));
    if (values.size() != 1) throw UsageError(flag_of(axis) + " takes one value");
    store(values.front());
    return true;
  };
  const std::string note = axis.defaults.empty() ? "" : " [" + axis.defaults + "]";
  CLI::Option* option = valued(of.add_option(flag_names(axis), read, axis.help + note), argument, axis.implicit_value);
  choices[option] = axis.choices;
  return option;
}

CLI::Option* CommandLine::add_share(CLI::App& of, Axis axis, double& share) {
  constexpr double kPercent = 100;
  axis.kind = AxisKind::real;
  axis.defaults = fmt::format("{}", share * kPercent);
  return add_value(of, axis, "PERCENT", [&share](const Value& v) { share = std::get<double>(v) / kPercent; });
}

void CommandLine::contradict(CLI::Option* one, CLI::Option* other, const std::string& why) {
  one->excludes(other);
  contradictions.push_back({one, other, why});
}

// --- Reading ---------------------------------------------------------------------------------------------------------

namespace {

/// Returns a clearer message than that of CLI11's error.
std::string explained(const CommandLine& line, const CLI::ParseError& error) {
  for (const CLI::App* app : {&line.app, &line.innermost()}) {
    for (const CLI::Option* option : app->get_options()) {
      const bool one_value = option->get_multi_option_policy() == CLI::MultiOptionPolicy::Throw;
      if (one_value && option->get_expected_max() == 1 && option->count() > 1) {
        return option->get_name() + " is given more than once";
      }
    }
  }
  for (const CommandLine::Contradiction& c : line.contradictions) {
    if (c.one->count() == 0 || c.other->count() == 0) continue;
    return fmt::format("{} and {} contradict each other: {}", c.one->get_name(), c.other->get_name(), c.why);
  }
  const std::string what = error.what();
  const std::string command = line.innermost().get_name();
  const std::string see = fmt::format(" (see xferbench {} --help)", command == "xferbench" ? "overlap" : command);
  if (error.get_name() != "ArgumentMismatch") return what + see;
  const std::string flag = what.substr(0, what.find_first_of(": "));
  return flag.starts_with("-") ? flag + " needs a value" + see : fmt::format("--{} takes no value", flag);
}

/// Returns the name here of a flag of other tools, for example "; here it is --dir d2h"; empty if unknown.
std::string called_here(std::string flag) {
  static const std::map<std::string_view, std::string_view> kOfOthers{
      {"buffersize", "--size"},  {"device", "--gpu"},          {"direction", "--dir"},
      {"devices", "--gpus"},     {"dtod", "memcpy --dir d2d"}, {"dtoh", "memcpy --dir d2h"},
      {"gpu-id", "--gpu"},       {"htod", "memcpy --dir h2d"}, {"iterations", "--max-samples"},
      {"memory-type", "--host"}, {"output", "--json"},         {"repetitions", "--max-samples"},
      {"runs", "--repeat"},      {"samples", "--max-samples"}, {"testsamples", "--max-samples"},
      {"verbose", "--details"},  {"warmup", "automatic"}};
  flag = lower_case(flag.substr(std::min(flag.find_first_not_of('-'), flag.size())));
  const auto found = kOfOthers.find(flag);
  return found == kOfOthers.end() ? "" : fmt::format("; here it is {}", found->second);
}

[[noreturn]] void reject_flag(const CommandLine& line, const std::string& argument) {
  const std::string flag = argument.substr(0, argument.find('='));
  std::vector<std::string> known;
  const auto add = [&known](const CLI::App& app) {
    for (const CLI::Option* option : app.get_options()) {
      if (!option->get_positional() && option->get_group() != kOfScenarios) known.push_back(option->get_name());
    }
  };
  add(line.app);
  const bool is_default = line.app.get_subcommands().empty();
  add(is_default ? *line.app.get_subcommand(descriptor_of(*line.scenarios.front()).name) : line.innermost());
  for (const CLI::App* command : line.app.get_subcommands({})) {
    if (command->get_option_no_throw(flag) != nullptr) {
      throw UsageError(fmt::format("{} does nothing here: it belongs to {}; leave it out", flag, command->get_name()));
    }
  }
  std::string meant = called_here(flag);
  if (meant.empty()) meant = suggestion(flag, known);
  throw UsageError(fmt::format("unknown flag {}{} (see xferbench {} --help)", flag, meant,
                               is_default ? "overlap" : line.innermost().get_name()));
}

}  // namespace

std::optional<std::string> CommandLine::read(std::span<const std::string> arguments) {
  // Reject `--json=` here, because CLI11 would take the next word as its value.
  const auto lacks_value = [](const std::string& word) {
    return word.starts_with("--") && word.find('=') + 1 == word.size();
  };
  const auto empty = std::ranges::find_if(arguments, lacks_value);
  // CLI11 expects the arguments in reverse order
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::Success&) {  // the user asked for help
  } catch (const CLI::ParseError& error) {
    return explained(*this, error);
  } catch (const UsageError& error) {  // a value was illegal
    return error.what();
  }
  if (empty != arguments.end()) return fmt::format("{} needs a value", empty->substr(0, empty->size() - 1));
  return misplaced;
}

const CLI::App& CommandLine::innermost() const {
  const CLI::App* last = &app;
  while (!last->get_subcommands().empty()) last = last->get_subcommands().back();
  return *last;
}

std::vector<const CLI::App*> CommandLine::words_after_command() const {
  const auto words = app.get_subcommands();
  return {words.begin() + 1, words.end()};
}

// --- Unknown words and flags -----------------------------------------------------------------------------------------

void reject_leftover_words(const CommandLine& line) {
  for (const std::string& argument : line.app.remaining()) {
    if (argument.size() > 1 && argument.starts_with("-")) reject_flag(line, argument);
    reject_word(line, argument);
  }
}

void reject_word(const CommandLine& line, const std::string& word) {
  const auto named = line.app.get_subcommands();
  const std::string first = named.empty() ? "" : named.front()->get_name();
  if (named.empty() || line.scenario_of(*named.front()) != nullptr || named.front() == line.tune || first == "run") {
    static_cast<void>(topic(line, word));
    return;
  }
  const std::string see = fmt::format("(see xferbench {} --help)", first);
  if (first == "list")
    throw UsageError(fmt::format("list takes a scenario, and '{0}' is a command; write xferbench help {0}", word));
  const auto positional = named.front()->get_options([](const CLI::Option* o) { return o->get_positional(); });
  const bool takes_files = std::ranges::any_of(
      positional, [](const CLI::Option* o) { return o->get_type_name().find("FILE") != std::string::npos; });
  if (takes_files) {
    throw UsageError(fmt::format("{} does not take '{}'; a file of that name is ./{} {}", first, word, word, see));
  }
  if (first == "explain") {
    throw UsageError(
        fmt::format("explain does not take '{}'; write the program and its arguments after --, as in xferbench explain "
                    "-- ./my_app args",
                    word));
  }
  throw UsageError(fmt::format("{} does not take '{}'; leave it out {}", first, word, see));
}

const Scenario& topic(const CommandLine& line, const std::string& word) {
  std::vector<std::string> scenarios;
  std::vector<std::string> commands;
  for (const CLI::App* command : line.app.get_subcommands({})) {
    const Scenario* scenario = line.scenario_of(*command);
    if (scenario != nullptr && command->get_name() == word) return *scenario;
    (scenario != nullptr ? scenarios : commands).push_back(command->get_name());
  }
  if (!word.empty() && std::isdigit(static_cast<unsigned char>(word.front())) != 0) {
    throw UsageError(fmt::format("unknown scenario '{}'; join several values of a flag by commas, as in 4K,8K", word));
  }
  if (std::ranges::find(kListed, word) != kListed.end()) {
    throw UsageError(
        fmt::format("'{0}' is neither a scenario nor a command; to see all {0}, write xferbench list {0}", word));
  }
  std::vector<std::string> known = scenarios;
  known.insert(known.end(), commands.begin(), commands.end());
  throw UsageError(fmt::format("'{}' is neither a scenario nor a command; scenarios are {}; commands are {}{}", word,
                               fmt::join(scenarios, ", "), fmt::join(commands, ", "), suggestion(word, known)));
}

/// Throws UsageError if a flag of the program is given that this command does not use.
void reject_unused_flags(const CommandLine& line, const CLI::App& command) {
  const Flags& taken = line.known.at(&command).taken;
  const bool takes_axes = &command == &line.app || &command == line.tune || command.get_name() == "run";
  for (const CLI::Option* option : line.app.get_options()) {
    const std::string& group = option->get_group();
    if (option->count() == 0 || group.empty() || (takes_axes && group == kOfScenarios)) continue;
    if (std::ranges::find(taken, option) != taken.end()) continue;
    throw UsageError(fmt::format("{} does not take {}", command.get_name(), option->get_name()));
  }
}

}  // namespace xferbench::cli
