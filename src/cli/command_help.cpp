// The content of help, the manual page and shell completion. It is generated from the flags and commands declared in
// CLI11, so that no second list must be kept up to date.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "cli/command_line.hpp"
#include "cli/completion.hpp"
#include "core/lists.hpp"

namespace xferbench::cli {

namespace {

/// Adds an entry to the section with this title. Adds the section first if it is missing.
void add_entry(std::vector<Section>& sections, const std::string& title, const std::string& tag,
               const std::string& help) {
  auto section = std::ranges::find(sections, title, &Section::title);
  if (section == sections.end()) section = sections.insert(sections.end(), Section{title, {}});
  section->entries.push_back({tag, split(help, '\n')});
}

/// Adds flags to the sections of their groups. Leaves out hidden flags and those that help shows with the scenarios.
void add_flags(std::vector<Section>& sections, const std::vector<const CLI::Option*>& flags) {
  for (const CLI::Option* flag : flags) {
    const std::string& group = flag->get_group();
    if (flag->get_positional() || group.empty() || group == kOfScenarios) continue;
    std::string tag = flag->get_name();
    for (const std::string& letter : flag->get_snames()) tag = fmt::format("-{}, {}", letter, tag);
    if (flag->get_expected_max() > 0) tag += " " + flag->get_type_name();
    // If a flag has several long names, the last one is an older name that is still accepted.
    std::string help = flag->get_description();
    const std::vector<std::string>& names = flag->get_lnames();
    if (names.size() > 1) help.insert(std::min(help.find('\n'), help.size()), "; older name: --" + names.back());
    add_entry(sections, group, tag, help);
  }
}

/// Returns the flags that may follow the words read so far.
Flags flags_here(const CommandLine& line) {
  const CLI::App& here = line.innermost();
  std::vector<const CLI::App*> owners{&here};
  if (line.scenario_of(here) != nullptr) owners.push_back(here.get_parent());
  Flags flags;
  for (const CLI::App* owner : owners) {
    const Flags& taken = line.known.at(owner).taken;
    // of the program's flags, only those in `taken` may follow here
    const bool all_of_program = owner == &line.app && owner != &here;
    for (const CLI::Option* option : owner->get_options()) {
      const bool hidden = option->get_positional() || option->get_group().empty() || option == owner->get_help_ptr();
      if (!hidden && !all_of_program) flags.push_back(option);
    }
    if (owner != &line.app || all_of_program) flags.insert(flags.end(), taken.begin(), taken.end());
  }
  flags.push_back(here.get_help_ptr());
  return flags;
}

std::vector<std::string> values_of(const CommandLine& line, const CLI::Option& option, const DataNames& names) {
  std::vector<std::string> words;
  if (const auto found = line.choices.find(&option); found != line.choices.end()) words = found->second;
  if (option.get_name() == "--expect") words = names.expectations;
  if (option.get_name() == "--suite") words = names.suites;
  constexpr std::string_view kProfile = "PROFILE";
  std::string type = option.get_type_name();
  if (const auto place = type.find(kProfile); place != std::string::npos) type.erase(place, kProfile.size());
  const bool is_path = type.find("FILE") != std::string::npos || type.find("FOLDER") != std::string::npos;
  if (is_path) words.emplace_back(kFiles);
  return words;
}

}  // namespace

Page page(const CommandLine& line, const CLI::App& app) {
  const CommandLine::Known& known = line.known.at(&app);
  Page page{.name = app.get_name(), .summary = app.get_description(), .usage = known.usage, .footer = app.get_footer()};
  for (const CLI::App* command : app.get_subcommands({})) {
    add_entry(page.sections, command->get_group(), command->get_name(), command->get_description());
  }
  if (&app == &line.app) return page;  // the flags of the program itself are shown on the page of `run`
  Flags flags = app.get_options();
  std::rotate(flags.begin(), flags.begin() + 1, flags.end());  // --help comes last
  add_flags(page.sections, flags);
  add_flags(page.sections, known.taken);
  return page;
}

std::string manual(const CommandLine& line) {
  std::vector<Section> run_flags;
  add_flags(run_flags, line.app.get_options());
  std::vector<Page> commands;
  std::vector<Page> scenarios;
  for (const CLI::App* command : line.app.get_subcommands({})) {
    (line.scenario_of(*command) == nullptr ? commands : scenarios).push_back(page(line, *command));
  }
  return man_page(page(line, line.app), run_flags, commands, scenarios);
}

Candidates candidates(Scenarios scenarios, std::span<const std::string> before, const std::string& flag,
                      bool another_flag, const DataNames& names) {
  CommandLine line(scenarios);
  static_cast<void>(line.read(before));  // ignore errors, because a line that is still being typed may have mistakes
  const Flags flags = flags_here(line);
  Candidates candidates;
  const auto valued = std::ranges::find_if(
      flags, [&](const CLI::Option* o) { return o->check_name(flag) && o->get_expected_max() > 0; });
  if (valued != flags.end()) {
    candidates = {.words = values_of(line, **valued, names), .of_flag = true};
    if ((*valued)->get_expected_min() > 0) return candidates;
  }
  std::vector<std::string>& words = candidates.words;
  if (another_flag) {
    for (const CLI::Option* option : flags) {
      // Offer all names of the flag, including older ones that are still accepted.
      for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
    }
    return candidates;
  }
  for (const CLI::Option* option : line.innermost().get_options()) {
    if (!option->get_positional()) continue;
    std::ranges::copy(values_of(line, *option, names), std::back_inserter(words));
  }
  const auto named = line.app.get_subcommands();
  const std::string first = named.empty() ? "" : named.front()->get_name();
  const bool topic = named.size() == 1 && (first == "list" || first == "help");
  const bool tunes = first == "tune" && line.tune->get_subcommands().empty();
  const bool takes_command = named.empty() || (topic && first == "help");
  const bool takes_scenario =
      named.empty() || topic || tunes || first == "run" || line.scenario_of(*named.front()) != nullptr;
  for (const CLI::App* word : (tunes ? *line.tune : line.app).get_subcommands({})) {
    if (line.scenario_of(*word) != nullptr ? takes_scenario : takes_command) words.push_back(word->get_name());
  }
  return candidates;
}

}  // namespace xferbench::cli
