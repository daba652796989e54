#include "cli/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "cli/compare_command.hpp"
#include "cli/flags.hpp"
#include "cli/reproduce.hpp"
#include "cli/texts.hpp"
#include "device/open.hpp"

namespace xferbench::cli {

namespace {

using Words = std::vector<std::string>;
using Scenarios = Descriptors;

std::string joined(const Words& words) { return fmt::format("{}", fmt::join(words, " ")); }

Words names_of(std::span<const RunFlag> flags) {
  Words names;
  for (const RunFlag& flag : flags) names.push_back("--" + flag.axis.name);
  return names;
}

/// A shell function that prints words for the first of its patterns that fits its arguments.
std::string word_function(const std::string& name, const std::string& subject,
                          const std::vector<std::pair<std::string, std::string>>& choices) {
  std::string text = fmt::format("{}() {{\n  case \"{}\" in\n", name, subject);
  for (const auto& [pattern, words] : choices) {
    if (!words.empty()) text += fmt::format("    {}) echo '{}' ;;\n", pattern, words);
  }
  return text + "    *) ;;\n  esac\n}\n\n";
}

std::string axes_function(Scenarios scenarios) {
  std::vector<std::pair<std::string, std::string>> choices;
  for (const ScenarioDescriptor* scenario : scenarios) {
    Words flags;
    for (const Axis& axis : scenario->axes) flags.push_back("--" + axis.name);
    choices.emplace_back(scenario->name, joined(flags));
  }
  return word_function("_xferbench_axes", "$1", choices);
}

/// The flags of a command beside those of axes.
std::string flags_function() {
  std::vector<std::pair<std::string, std::string>> choices;
  for (const Usage& usage : usages()) {
    Words flags;
    if (usage.all_run_flags) flags = names_of(run_flags());
    for (const std::string& flag : usage.flags) flags.push_back("--" + flag);
    if (usage.name == "compare") flags = names_of(compare_flags());
    if (flags.empty() || flags.back() != "--help") flags.emplace_back("--help");
    if (usage.name.empty()) flags.emplace_back("--version");
    choices.emplace_back(usage.name.empty() ? "''" : usage.name, joined(flags));
  }
  return word_function("_xferbench_flags", "$1", choices);
}

/// Names of files are anything. One with a blank or a quote would be another word, or the end of one, in the script.
Words plain(const Words& names) {
  Words plain;
  std::ranges::copy_if(names, std::back_inserter(plain), [](const std::string& n) { return shell_quoted(n) == n; });
  return plain;
}

/// The words that a flag of a scenario or of all takes.
std::string choices_function(Scenarios scenarios, const DataNames& names) {
  std::vector<std::pair<std::string, std::string>> choices;
  for (const ScenarioDescriptor* scenario : scenarios) {
    for (const Axis& axis : scenario->axes) {
      if (axis.choices.empty()) continue;
      choices.emplace_back(fmt::format("{}:--{}", scenario->name, axis.name), joined(axis.choices) + " all");
    }
  }
  for (const RunFlag& flag : run_flags()) {
    if (!flag.axis.choices.empty()) choices.emplace_back("*:--" + flag.axis.name, joined(flag.axis.choices));
  }
  Words profiles;
  for (const auto& [name, description] : simulated_profiles()) profiles.push_back(name);
  choices.emplace_back("*:--simulate", joined(profiles));
  choices.emplace_back("*:--expect", joined(plain(names.expectations)));
  choices.emplace_back("*:--suite", joined(plain(names.suites)));
  return word_function("_xferbench_choices", "$1:$2", choices);
}

bool takes_file(const RunFlag& flag) {
  return flag.argument.find("FILE") != std::string::npos && flag.argument.find("PROFILE") == std::string::npos;
}

/// What follows a flag: "file", "value", or "maybe" where it may be left out; nothing for a switch.
std::string takes_function(Scenarios scenarios) {
  std::map<std::string, std::set<std::string>> kinds;
  const auto add = [&kinds](std::span<const RunFlag> flags) {
    for (const RunFlag& flag : flags) {
      if (flag.argument.empty()) continue;
      const bool optional = flag.argument.starts_with('[');
      kinds[takes_file(flag) ? "file" : optional ? "maybe" : "value"].insert("--" + flag.axis.name);
    }
  };
  add(run_flags());
  add(check_flags());
  add(compare_flags());
  for (const ScenarioDescriptor* scenario : scenarios) {
    for (const Axis& axis : scenario->axes)
      kinds[axis.implicit_value.empty() ? "value" : "maybe"].insert("--" + axis.name);
  }
  std::vector<std::pair<std::string, std::string>> choices;
  for (const auto& [kind, flags] : kinds) choices.emplace_back(fmt::format("{}", fmt::join(flags, " | ")), kind);
  return word_function("_xferbench_takes", "$1", choices);
}

Words names_of(Scenarios scenarios) {
  Words names;
  for (const ScenarioDescriptor* scenario : scenarios) names.emplace_back(scenario->name);
  return names;
}

Words command_names() {
  Words names;
  for (const Usage& usage : usages()) {
    if (!usage.name.empty()) names.push_back(usage.name);
  }
  names.insert(names.end(), {"help", "version"});
  return names;
}

/// What may stand after a command beside flags: words, or "file".
std::string operands_function(Scenarios scenarios) {
  std::vector<std::pair<std::string, std::string>> choices;
  for (const Usage& usage : usages()) {
    std::string words = joined(usage.words);
    if (usage.operand == Operand::scenarios) words = joined(names_of(scenarios));
    choices.emplace_back(usage.name.empty() ? "''" : usage.name, usage.operand == Operand::files ? "file" : words);
  }
  choices.emplace_back("help", joined(names_of(scenarios)));
  choices.emplace_back("commands", joined(command_names()));
  return word_function("_xferbench_operands", "$1", choices);
}

/// Tells commands, scenarios and all other words apart.
std::string kinds_function(Scenarios scenarios) {
  return word_function("_xferbench_kind", "$1",
                       {{fmt::format("{}", fmt::join(names_of(scenarios), " | ")), "scenario"},
                        {fmt::format("{}", fmt::join(command_names(), " | ")), "command"}});
}

// The same for both shells. Values are passed over: --api async names no scenario.
constexpr std::string_view kReader =
    R"sh(# Sets command, scenarios and flag (whose value comes next) from the words before the cursor.
_xferbench_read() {
  local word kind='' choices
  command='' scenarios='' flag=''
  for word in "$@"; do
    [ "$word" = '=' ] && continue # bash splits --flag=value there
    if [ "$kind" = maybe ]; then
      choices=" $(_xferbench_choices "${scenarios:-$_xferbench_default}" "$flag") "
      [ "${choices#* "${word%%,*}" }" = "$choices" ] && kind=''
    fi
    if [ -n "$kind" ]; then
      kind='' flag=''
      continue
    fi
    flag=''
    case "$word" in
      --*=*) ;;
      --*) flag=$word kind=$(_xferbench_takes "$word") ;;
      *)
        case "$(_xferbench_kind "$word")" in
          command) [ -z "$command$scenarios" ] && command=$word ;;
          scenario) scenarios="${scenarios:+$scenarios }$word" ;;
          *) ;;
        esac
        ;;
    esac
  done
  [ -n "$kind" ] || flag=''
}

# Prints the words that may come next, one a line; "file" stands for the names of files.
_xferbench_next() {
  local word=$1 takes scenario
  takes=$(_xferbench_takes "$flag")
  [ "$takes" = file ] && echo file
  for scenario in $(_xferbench_lines "${scenarios:-$_xferbench_default}"); do
    [ -n "$flag" ] && _xferbench_choices "$scenario" "$flag"
    case "$takes:$command:$word" in
      ::-* | :tune:-* | maybe::-* | maybe:tune:-*) _xferbench_axes "$scenario" ;;
      *) ;;
    esac
  done
  case "$takes:$word" in
    :-* | maybe:-*) _xferbench_flags "$command" ;;
    :* | maybe:*)
      [ -z "$command$scenarios" ] && _xferbench_operands commands
      _xferbench_operands "$command"
      ;;
    *) ;;
  esac
}

_xferbench_lines() { echo "$1" | tr ' ' '\n'; }

)sh";

std::string functions(Scenarios scenarios, const DataNames& names) {
  return axes_function(scenarios) + flags_function() + choices_function(scenarios, names) + takes_function(scenarios) +
         operands_function(scenarios) + kinds_function(scenarios) +
         fmt::format("_xferbench_default={}\n\n", scenarios.empty() ? "" : scenarios.front()->name) +
         std::string(kReader);
}

constexpr std::string_view kBash = R"sh(_xferbench() {
  local command scenarios flag cur list=''
  local -a before words
  cur=${COMP_WORDS[COMP_CWORD]}
  before=("${COMP_WORDS[@]:1:COMP_CWORD-1}")
  if [[ $cur == = ]]; then cur=''; fi
  _xferbench_read "${before[@]}"
  read -r -d '' -a words < <(_xferbench_next "$cur"; printf '\0')
  # After a comma the next of a list is completed.
  if [[ -n $flag && $cur == *,* ]]; then list=${cur%,*},; fi
  COMPREPLY=()
  local word
  for word in "${words[@]}"; do
    if [[ $word == file ]]; then
      compopt -o filenames 2> /dev/null
      while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$cur")
    elif [[ $list$word == "$cur"* ]]; then
      COMPREPLY+=("$list$word")
    fi
  done
  return 0
}

complete -F _xferbench xferbench
)sh";

constexpr std::string_view kZsh = R"sh(_xferbench() {
  local command scenarios flag current=$words[CURRENT]
  local -a next
  if [[ $current == --*=* ]]; then
    _xferbench_read "${(@)words[2,CURRENT-1]}" "${current%%=*}"
    compset -P '*='
    current=${current#*=}
  else
    _xferbench_read "${(@)words[2,CURRENT-1]}"
  fi
  next=(${=$(_xferbench_next "$current")})
  if [[ -n $flag ]]; then compset -P '*,'; fi
  if (( ${next[(Ie)file]} )); then _files; fi
  compadd -- ${next:#file}
}

if [[ $funcstack[1] == _xferbench ]]; then _xferbench "$@"; else compdef _xferbench xferbench; fi
)sh";

}  // namespace

std::string bash_completion(Scenarios scenarios, const DataNames& names) {
  return "# shellcheck shell=bash\n# Completion of xferbench for bash; made by: xferbench completion bash\n\n" +
         functions(scenarios, names) + std::string(kBash);
}

std::string zsh_completion(Scenarios scenarios, const DataNames& names) {
  return "#compdef xferbench\n# Completion of xferbench for zsh; made by: xferbench completion zsh\n\n" +
         functions(scenarios, names) + std::string(kZsh);
}

}  // namespace xferbench::cli
