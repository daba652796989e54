#include "cli/completion.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "cli/command_line.hpp"

namespace xferbench::cli {

namespace {

constexpr const char* kFiles = ":files";

using Words = std::vector<std::string>;

/// bash makes three words of --flag=value.
Words without_equals_signs(std::span<const std::string> words) {
  Words joined(words.begin(), words.end());
  if (!joined.empty() && joined.back() == "=") joined.back().clear();
  std::erase(joined, "=");
  return joined;
}

bool takes_files(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type == "FILES" || (type.find("FILE") != std::string::npos && type.find("PROFILE") == std::string::npos);
}

/// What a flag, or words that belong to no flag, may be.
Words values_of(const CommandLine& line, const CLI::Option& option, const DataNames& names) {
  Words words = line.choices(option);
  if (option.get_name() == "--expect") words = names.expectations;
  if (option.get_name() == "--suite") words = names.suites;
  if (takes_files(option)) words.emplace_back(kFiles);
  return words;
}

Words candidates(const CommandLine& line, const CLI::Option* flag, const std::string& word, const DataNames& names) {
  Words words;
  if (flag != nullptr) {
    words = values_of(line, *flag, names);
    if (flag->get_expected_min() > 0) return words;
  }
  if (word.starts_with("-")) {
    for (const CLI::Option* option : line.flags_of(line.innermost())) words.push_back(option->get_name());
    return words;
  }
  const Words next = line.next_words();
  words.insert(words.end(), next.begin(), next.end());
  for (const CLI::Option* option : line.innermost().get_options()) {
    if (option->get_positional() && option->get_name() == "FILES") words.emplace_back(kFiles);
  }
  return words;
}

}  // namespace

std::vector<const CLI::Option*> CommandLine::flags_of(const CLI::App& command) const {
  std::vector<const CLI::Option*> flags;
  std::vector<const CLI::App*> owners{&command};
  if (scenario_of(command) != nullptr) owners.push_back(command.get_parent());
  if (&command == &app_) owners = {app_.get_subcommands({}).front(), &app_};  // the first scenario is the default
  for (const CLI::App* owner : owners) {
    for (const CLI::Option* option : owner->get_options()) {
      const bool is_help = option == owner->get_help_ptr();
      const bool shared = owner == &app_ && &command != &app_;  // those that are taken follow
      if (!option->get_positional() && !option->get_group().empty() && !is_help && !shared) flags.push_back(option);
    }
    const auto taken = taken_.find(owner);
    if (taken == taken_.end() || (owner == &app_ && &command == &app_)) continue;
    flags.insert(flags.end(), taken->second.begin(), taken->second.end());
  }
  flags.push_back(command.get_help_ptr());
  return flags;
}

const CLI::Option* CommandLine::flag(const std::string& name) const {
  const auto flags = flags_of(innermost());
  const auto found = std::ranges::find_if(flags, [&](const CLI::Option* option) { return option->check_name(name); });
  return found == flags.end() ? nullptr : *found;
}

std::vector<std::string> CommandLine::choices(const CLI::Option& option) const {
  const auto found = choices_.find(&option);
  return found == choices_.end() ? Words{} : found->second;
}

std::vector<std::string> CommandLine::next_words() const {
  const auto named = app_.get_subcommands();
  const std::string first = named.empty() ? "" : named.front()->get_name();
  const bool nothing_yet = named.empty();
  const bool more_scenarios = nothing_yet || first == "run" || scenario_of(*named.front()) != nullptr;
  Words words;
  if (first == "completion") words = {"bash", "zsh"};
  if (first == "list" && named.size() == 1) words = {"suites"};
  const bool one_scenario = (first == "list" || first == "help") && named.size() == 1;
  const bool any_command = nothing_yet || (first == "help" && named.size() == 1);
  const CLI::App& parent = first == "tune" ? *tune_app_ : app_;
  if (first == "tune" && !tune_app_->get_subcommands().empty()) return words;
  for (const CLI::App* command : parent.get_subcommands({})) {
    const bool scenario = scenario_of(*command) != nullptr;
    if (scenario ? more_scenarios || one_scenario || first == "tune" : any_command)
      words.push_back(command->get_name());
  }
  return words;
}

std::string complete(std::span<const std::string> words, Scenarios scenarios, const DataNames& names) {
  Words before = without_equals_signs(words);
  std::string word = before.empty() ? "" : before.back();
  if (!before.empty()) before.pop_back();
  std::string prefix;  // of the word, that every answer repeats
  std::string flag_name;
  if (const auto equals = word.find('='); word.starts_with("--") && equals != std::string::npos) {
    flag_name = word.substr(0, equals);
    prefix = word.substr(0, equals + 1);
    word.erase(0, equals + 1);
  } else if (!before.empty() && before.back().starts_with("--")) {
    flag_name = before.back();
    before.pop_back();
  }
  CommandLine line(scenarios);
  static_cast<void>(line.read(before));  // what is wrong with it may yet become right
  const CLI::Option* flag = flag_name.empty() ? nullptr : line.flag(flag_name);
  if (flag != nullptr && flag->get_expected_max() == 0) flag = nullptr;
  const Words all = candidates(line, flag, word, names);
  if (const auto comma = word.rfind(','); flag != nullptr && comma != std::string::npos) {
    prefix += word.substr(0, comma + 1);  // the next of a list
    word.erase(0, comma + 1);
  }
  std::string text;
  for (const std::string& answer : all) {
    if (answer == kFiles) {
      text += answer + "\n";
    } else if (answer.starts_with(word)) {
      text += prefix + answer + "\n";
    }
  }
  return text;
}

std::string_view bash_completion() {
  return R"sh(# shellcheck shell=bash
# Completion of xferbench for bash; made by: xferbench completion bash

_xferbench() {
  local word
  COMPREPLY=()
  while IFS= read -r word; do
    if [[ $word == :files ]]; then
      compopt -o filenames 2> /dev/null
      while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]#=}")
    else
      COMPREPLY+=("$word")
    fi
  done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
  return 0
}

complete -F _xferbench xferbench
)sh";
}

std::string_view zsh_completion() {
  return R"sh(#compdef xferbench
# Completion of xferbench for zsh; made by: xferbench completion zsh

_xferbench() {
  local -a answers
  answers=("${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2> /dev/null)}")
  compadd -- ${answers:#:files}
  if (( ${answers[(Ie):files]} )); then compset -P '*='; _files; fi
}

if [[ $funcstack[1] == _xferbench ]]; then _xferbench "$@"; else compdef _xferbench xferbench; fi
)sh";
}

}  // namespace xferbench::cli
