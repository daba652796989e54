#include "cli/compare_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "cli/values.hpp"
#include "core/error.hpp"

namespace xferbench::cli {

namespace {

enum class Takes { nothing, value, files };

struct Flag {
  const char* name;
  Takes takes;
  const char* argument;
  const char* help;
};

constexpr std::array<Flag, 15> kFlags{{
    {"--base", Takes::files, "FILES", "several processes of the base: the medians of the files are the samples"},
    {"--new", Takes::files, "FILES", "the same of what is compared with it"},
    {"--across", Takes::files, "FILES", "side by side: a column for each file, the best marked"},
    {"--metric", Takes::value, "NAME", "a measurement or metric; else the time that a run's table shows first"},
    {"--only", Takes::value, "PATTERN", "cases whose keys match: * is anything, ? one character; may be repeated"},
    {"--threshold", Takes::value, "PERCENT", "changes within it do not matter [3]"},
    {"--strict", Takes::nothing, "", "exit code 4 where a case is inconclusive, changed or missing"},
    {"--bootstrap", Takes::nothing, "", "judge by the ratio of medians and its bootstrap interval"},
    {"--allow-simulated", Takes::nothing, "", "compare simulated with real times, or different profiles"},
    {"--markdown", Takes::value, "FILE", "for the comment of a pull request; - is standard output"},
    {"--json", Takes::value, "FILE", "for programs; - is standard output"},
    {"--all", Takes::nothing, "", "list every case, however many there are"},
    {"--quiet", Takes::nothing, "", "no warnings"},
    {"--color", Takes::value, "WHEN", "auto, always or never [auto]"},
    {"--help", Takes::nothing, "", "this text"},
}};

constexpr const char* kSeeHelp = "(see xferbench compare --help)";

/// What was written: words, and the values of each flag.
struct Written {
  std::vector<std::string> words;
  std::array<std::vector<std::string>, kFlags.size()> values;
  std::array<bool, kFlags.size()> given{};

  [[nodiscard]] static std::size_t index_of(std::string_view name) {
    const auto at = std::ranges::find(kFlags, name, &Flag::name);
    return static_cast<std::size_t>(at - kFlags.begin());
  }
  [[nodiscard]] bool has(std::string_view name) const { return given[index_of(name)]; }
  [[nodiscard]] const std::vector<std::string>& all(std::string_view name) const { return values[index_of(name)]; }
  [[nodiscard]] std::optional<std::string> one(std::string_view name) const {
    return has(name) ? std::optional(all(name).front()) : std::nullopt;
  }
};

bool is_flag(const std::string& argument) { return argument.size() > 1 && argument.front() == '-'; }

std::size_t known_flag(const std::string& name) {
  const std::size_t index = Written::index_of(name == "-h" ? "--help" : name);
  if (index < kFlags.size()) return index;
  std::vector<std::string> known;
  for (const Flag& flag : kFlags) known.emplace_back(flag.name);
  throw UsageError(fmt::format("compare: unknown flag {}{} {}", name, suggestion(name, known), kSeeHelp));
}

Written read(std::span<const std::string> arguments) {
  Written written;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (!is_flag(argument)) {
      written.words.push_back(argument);
      continue;
    }
    const std::size_t equals = argument.find('=');
    const std::size_t index = known_flag(argument.substr(0, equals));
    const Flag& flag = kFlags[index];
    std::vector<std::string>& values = written.values[index];
    const bool repeatable = flag.takes == Takes::files || std::string_view(flag.name) == "--only";
    if (written.given[index] && flag.takes != Takes::nothing && !repeatable) {
      throw UsageError(fmt::format("compare: {} is given more than once", flag.name));
    }
    written.given[index] = true;
    if (flag.takes == Takes::nothing) {
      if (equals != std::string::npos) throw UsageError(fmt::format("compare: {} takes no value", flag.name));
      continue;
    }
    const std::size_t before = values.size();
    if (equals != std::string::npos) {
      values.push_back(argument.substr(equals + 1));
    } else {
      const std::size_t most = flag.takes == Takes::value ? 1 : arguments.size();
      while (values.size() - before < most && i + 1 < arguments.size() && !is_flag(arguments[i + 1])) {
        values.push_back(arguments[++i]);
      }
    }
    if (values.size() == before || values.back().empty()) {
      throw UsageError(fmt::format("compare: {} needs {} {}", flag.name,
                                   flag.takes == Takes::files ? "at least one file" : "a value", kSeeHelp));
    }
  }
  return written;
}

double threshold(const Written& written) {
  const auto text = written.one("--threshold");
  if (!text) return compare::Options().threshold;
  double percent = 0;
  const auto [rest, error] = std::from_chars(text->data(), text->data() + text->size(), percent);
  constexpr double kMost = 100;
  if (error == std::errc() && rest == text->data() + text->size() && percent >= 0 && percent < kMost) {
    return percent / 100;
  }
  throw UsageError(fmt::format("compare: --threshold: '{}' is not a percentage of 0 or more and below 100", *text));
}

std::optional<bool> color(const Written& written) {
  const std::string when = written.one("--color").value_or("auto");
  if (when == "auto") return std::nullopt;
  if (when == "always" || when == "never") return when == "always";
  const std::vector<std::string> known{"auto", "always", "never"};
  throw UsageError(fmt::format("compare: --color: '{}' is not auto, always or never{}", when, suggestion(when, known)));
}

void read_across(const Written& written, CompareCommand& command) {
  for (const char* flag : {"--base", "--new", "--threshold", "--strict", "--bootstrap", "--all"}) {
    if (written.has(flag)) {
      throw UsageError(
          fmt::format("compare: --across shows files side by side and judges nothing: leave out {}", flag));
    }
  }
  // A list of files takes every word that follows it, so all other words stand before it.
  command.across = written.words;
  const std::vector<std::string>& listed = written.all("--across");
  command.across.insert(command.across.end(), listed.begin(), listed.end());
  if (command.across.size() < 2) throw UsageError("compare: --across needs at least two files");
}

/// `BASE NEW...`, or flags for both sides.
void read_sides(const Written& written, CompareCommand& command) {
  if (written.has("--base") || written.has("--new")) {
    if (!written.has("--base") || !written.has("--new")) {
      throw UsageError(
          fmt::format("compare: {} is missing: --base FILES --new FILES", written.has("--base") ? "--new" : "--base"));
    }
    if (!written.words.empty()) {
      throw UsageError(
          fmt::format("compare: '{}' belongs to no side; write it after --base or --new", written.words.front()));
    }
    command.base = written.all("--base");
    command.next = written.all("--new");
    return;
  }
  if (written.words.size() < 2) {
    throw UsageError(fmt::format("compare needs two results files, as in xferbench compare base.json new.json; {} {}",
                                 written.words.empty() ? "there is none" : "there is one", kSeeHelp));
  }
  command.base = {written.words.front()};
  command.next.assign(written.words.begin() + 1, written.words.end());
}

void check_standard_streams(const CompareCommand& command) {
  std::ptrdiff_t inputs = 0;
  for (const auto* files : {&command.base, &command.next, &command.across}) inputs += std::ranges::count(*files, "-");
  if (inputs > 1) throw UsageError("compare: only one file can be - (standard input)");
  if (command.markdown && command.markdown == command.json) {
    throw UsageError("compare: --markdown and --json name the same file; give them one each");
  }
}

}  // namespace

CompareCommand parse_compare(std::span<const std::string> arguments) {
  CompareCommand command;
  const Written written = read(arguments);
  command.help = written.has("--help");
  if (command.help) return command;
  if (written.has("--across")) {
    read_across(written, command);
  } else {
    read_sides(written, command);
  }
  command.options.threshold = threshold(written);
  command.options.metric = written.one("--metric");
  command.options.only = written.all("--only");
  command.options.bootstrap = written.has("--bootstrap");
  command.options.allow_simulated = written.has("--allow-simulated");
  command.markdown = written.one("--markdown");
  command.json = written.one("--json");
  command.strict = written.has("--strict");
  command.all = written.has("--all");
  command.quiet = written.has("--quiet");
  command.color = color(written);
  check_standard_streams(command);
  return command;
}

std::vector<RunFlag> compare_flags() {
  std::vector<RunFlag> flags;
  for (const Flag& flag : kFlags) {
    const Axis axis{.name = std::string(flag.name).substr(2), .kind = AxisKind::choice, .help = flag.help};
    flags.push_back({axis, flag.argument});
  }
  return flags;
}

std::string compare_help() {
  std::string text =
      R"(xferbench compare says what became slower or faster between runs, case by case, and how sure that is.

Usage:
  xferbench compare BASE NEW [NEW]...                two results files; several NEW are several processes
  xferbench compare --base FILES --new FILES         several processes a side
  xferbench compare --across FILES                   different machines side by side

Examples:
  xferbench --json base.json                         before a change ...
  xferbench --json new.json                          ... after it ...
  xferbench compare base.json new.json               ... and what it did
  xferbench compare --base main-*.json --new pr-*.json --markdown comment.md
  xferbench compare base.json new.json --metric bandwidth --only 'memcpy/dir=h2d*'
  xferbench compare --across a100.json h100.json h200.json

Flags:
)";
  for (const Flag& flag : kFlags) {
    const std::string name = std::string_view(flag.name) == "--help" ? "-h, --help" : flag.name;
    text += fmt::format("  {:<24} {}\n", flag.takes == Takes::nothing ? name : name + " " + flag.argument, flag.help);
  }
  return text + R"(
Verdicts:
  regressed, improved      significant over all cases, and the whole 95 % interval of new/base is beyond the threshold
  changed                  the same of a number of which it is not known whether more is better
  same                     the whole interval lies within the threshold
  inconclusive             neither: take more samples, or several processes
  missing, new             only base has a number, or only new

Exit codes:
  0 nothing regressed   1 a case regressed, or fails that did not   2 usage, or a file that cannot be read or compared
  4 with --strict: a case is inconclusive, changed or missing
)";
}

}  // namespace xferbench::cli
