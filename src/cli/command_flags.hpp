// Helpers for the source files that declare flags.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/values.hpp"
#include "core/axis.hpp"
#include "core/lists.hpp"
#include "device/open.hpp"

namespace xferbench::cli {

/// Makes an axis whose values are the names of the built-in profiles.
inline Axis profile_axis(const char* name, const char* help) {
  Axis axis{.name = name, .kind = AxisKind::choice, .help = help};
  for (const auto& [profile, description] : simulated_profiles()) axis.choices.push_back(profile);
  return axis;
}

// Titles of the groups in which help lists the program's own flags.
inline constexpr const char* kDevice = "Device";
inline constexpr const char* kSampling = "Sampling";
inline constexpr const char* kOutput = "Output";
inline constexpr const char* kWholeRuns = "Whole runs";
inline constexpr const char* kFleets = "Under mpirun or srun";

/// Lets a flag take a value, which help calls `argument`. A word that looks like a flag is never taken as the value:
/// `--json --quiet` is an error. If `flags` is set, only its flags count as flags, so that values may begin with
/// dashes: `--kernel-option --use_fast_math`. `implicit` is the value if none is given; if empty, a value must be
/// given.
inline CLI::Option* valued(CLI::Option* option, const std::string& argument, const std::string& implicit = "",
                           const CLI::App* flags = nullptr) {
  const auto lacks_value = [flags](const std::string& text) {
    const bool is_flag = text.starts_with("--") &&
                         (flags == nullptr || flags->get_option_no_throw(text.substr(0, text.find('='))) != nullptr);
    return std::string(text.empty() || is_flag ? "needs a value" : "");
  };
  option->type_name(argument)->check(CLI::Validator(lacks_value, ""));
  if (!implicit.empty()) option->expected(0, 1)->default_str(implicit);
  return option;
}

/// Adds a flag whose value is a file name; "-" is standard output.
inline CLI::Option* add_file(CLI::App& app, const std::string& flag, const std::string& help,
                             std::optional<std::string>& target, const char* argument = "FILE") {
  return valued(app.add_option(flag, target, help), argument);
}

template <class Number>
auto into(Number& target) {
  return [&target](const Value& v) { target = std::get<std::uint64_t>(v); };
}

inline auto into(double& target) {
  return [&target](const Value& v) { target = std::get<double>(v); };
}
inline auto into(std::optional<double>& target) {
  return [&target](const Value& v) { target = std::get<double>(v); };
}

/// Returns a function that stores the enumerator for a word; `words` must be in the order of the enumerators.
template <class Target, class Enumeration = Target>
auto into_enumerator(std::vector<std::string> words, Target& target) {
  return [words = std::move(words), &target](const Value& v) {
    target = static_cast<Enumeration>(std::ranges::find(words, std::get<std::string>(v)) - words.begin());
  };
}

/// Parses a comma-separated list of words and returns the enumerator of each word. texts_of() defines the words.
template <class Enumeration>
std::vector<Enumeration> enumerators(const std::string& text, const std::string& flag) {
  constexpr auto kWords = texts_of(Enumeration{});
  const Axis axis{.name = flag, .kind = AxisKind::choice, .choices = words(kWords)};
  return list_of(parse_axis(axis, text, "--" + flag), [&](const Value& value) {
    return static_cast<Enumeration>(std::ranges::find(kWords, std::get<std::string>(value)) - kWords.begin());
  });
}

}  // namespace xferbench::cli
