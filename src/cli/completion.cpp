#include "cli/completion.hpp"

namespace xferbench::cli {

namespace {

using Words = std::vector<std::string>;

/// Removes words that consist only of an equals sign, because bash splits --flag=value into three words.
Words without_equals_signs(std::span<const std::string> words) {
  Words joined(words.begin(), words.end());
  if (!joined.empty() && joined.back() == "=") joined.back().clear();
  std::erase(joined, "=");
  return joined;
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

std::string_view fish_completion() {
  return R"sh(# Completion of xferbench for fish; made by: xferbench completion fish

function __xferbench_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l flag (string match -r '^--[^=]*=' -- "$current")
    for answer in ($words[1] __complete $words[2..-1] "$current" 2> /dev/null)
        if test "$answer" = :files
            for path in (__fish_complete_path (string replace -r '^--[^=]*=' '' -- "$current"))
                echo "$flag$path"
            end
        else
            echo $answer
        end
    end
end

complete -c xferbench -f -a '(__xferbench_complete)'
)sh";
}

}  // namespace

std::string complete(std::span<const std::string> words, Scenarios scenarios, const DataNames& names) {
  // After "--" any file may follow, because the flags of the other program are unknown.
  if (const auto program = program_in(words); program && !program->empty()) return std::string(kFiles) + "\n";
  Words before = without_equals_signs(words);
  std::string word = before.empty() ? "" : before.back();
  if (!before.empty()) before.pop_back();
  std::string prefix;  // beginning of the word (flag, earlier list items) that every answer must repeat
  std::string flag_name;
  if (const auto equals = word.find('='); word.starts_with("--") && equals != std::string::npos) {
    flag_name = word.substr(0, equals);
    prefix = word.substr(0, equals + 1);
    word.erase(0, equals + 1);
  } else if (!before.empty() && before.back().starts_with("--")) {
    flag_name = before.back();
    before.pop_back();
  }
  const Candidates all = candidates(scenarios, before, flag_name, word.starts_with("-"), names);
  if (const auto comma = word.rfind(','); all.of_flag && comma != std::string::npos) {
    prefix += word.substr(0, comma + 1);  // complete only the last item of a list
    word.erase(0, comma + 1);
  }
  std::string text;
  for (const std::string& answer : all.words) {
    if (answer == kFiles) {
      text += answer + "\n";
    } else if (answer.starts_with(word)) {
      text += prefix + answer + "\n";
    }
  }
  return text;
}

std::string_view completion_script(std::string_view shell) {
  if (shell == "fish") return fish_completion();
  return shell == "zsh" ? zsh_completion() : bash_completion();
}

}  // namespace xferbench::cli
