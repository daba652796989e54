#include "cli/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cli/command_line.hpp"
#include "core/error.hpp"
#include "device/cufile.hpp"
#include "ranks/gpu_probe.hpp"

namespace xferbench::cli {

namespace {

/// Returns whether the user asks for help. The help flag counts anywhere on the line, even if the line has a mistake.
bool asks_for_help(const CommandLine& line) {
  const auto asks = [](const CLI::App* app) { return app->get_help_ptr()->count() > 0; };
  return asks(&line.app) || asks(&line.innermost()) || std::ranges::any_of(line.app.get_subcommands(), asks);
}

/// Copies the values of the output flags, which are the same for all commands, into the command.
Command with_output(const CommandLine& line, Command command) {
  const auto take = [&line](auto& one) {
    if constexpr (requires { one.show; }) one.show = line.measuring.show;
    if constexpr (requires { one.files.named(); }) one.files = line.measuring.files;
    if constexpr (requires { one.files.named(); }) refuse_shared_files(one.files.named());
  };
  std::visit(take, command);
  return command;
}

Command command(CommandLine& line, std::span<const std::string> arguments, std::vector<std::string> program) {
  line.program = std::move(program);
  line.measuring.arguments.assign(arguments.begin(), arguments.end());
  const std::optional<std::string> mistake = line.read(arguments);
  if (asks_for_help(line)) return HelpCommand{page(line, line.innermost())};
  if (line.given("--version")) return VersionCommand{};
  if (mistake) throw UsageError(*mistake);
  const auto named = line.app.get_subcommands();
  const CLI::App& first = named.empty() || line.scenario_of(*named.front()) != nullptr ? line.app : *named.front();
  reject_leftover_words(line);
  reject_unused_flags(line, first);
  const std::string& name = first.get_name();
  const bool takes_scenarios = &first == &line.app || name == "run" || name == "tune" || name == "list";
  for (const CLI::App* word : named) {
    const bool scenario = line.scenario_of(*word) != nullptr;
    if (word == &first || name == "help" || (takes_scenarios && scenario)) continue;
    if (scenario || name == "list") reject_word(line, word->get_name());
    throw UsageError(fmt::format("{} comes first: xferbench {}", word->get_name(), word->get_name()));
  }
  if (!line.program.empty() && name != "explain") {
    throw UsageError(
        fmt::format("-- is for explain only, which comes first: xferbench explain -- {}", line.program.front()));
  }
  return with_output(line, line.known.at(&first).make());
}

/// Returns the internal command with which the program starts itself as a child process; nothing for a user's command.
std::optional<Command> internal_command(std::span<const std::string> arguments) {
  if (arguments.size() != 2) return std::nullopt;
  const std::string& name = arguments.front();
  const std::string& number = arguments.back();
  if (name != kGpuProbeArgument && name != kCufileArgument) return std::nullopt;
  int gpu = 0;
  const char* const end = number.data() + number.size();
  if (std::from_chars(number.data(), end, gpu).ptr != end || gpu < 0) {
    throw UsageError(fmt::format("{} takes the number of a GPU, not '{}'", name, number));
  }
  if (name == kCufileArgument) return CufileCommand{gpu};
  return GpuProbeCommand{gpu};
}

}  // namespace

Command parse(std::span<const std::string> arguments, Scenarios scenarios, AxisFlags axis_flags) {
  if (!arguments.empty() && arguments.front() == "__complete") {
    return CompleteCommand{{arguments.begin() + 1, arguments.end()}};
  }
  if (const std::optional<Command> own = internal_command(arguments)) return *own;
  const auto program = program_in(arguments);
  CommandLine line(scenarios, axis_flags);
  if (!program) return command(line, arguments, {});
  if (program->empty())
    throw UsageError("explain: no program after --; write one, as in xferbench explain -- ./my_app args");
  const auto own = arguments.first(arguments.size() - program->size() - 1);
  return command(line, own, {program->begin(), program->end()});
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
  // A given maximum lowers a larger default minimum, and a given minimum raises a smaller default maximum.
  const std::size_t most = choice.max_samples.value_or(policy.max_samples);
  policy.min_samples = choice.min_samples.value_or(std::min(policy.min_samples, most));
  policy.max_samples = choice.max_samples.value_or(std::max(most, policy.min_samples));
  if (policy.min_samples <= policy.max_samples) return policy;
  throw UsageError(
      fmt::format("--min-samples {} is more than --max-samples {}", policy.min_samples, policy.max_samples));
}

std::string flag_of_format(ReportFormat format) { return fmt::format("format {}", to_text(format)); }

std::vector<NamedFile> OutputFiles::named() const {
  std::vector<NamedFile> files;
  if (json) files.push_back({"json", *json});
  if (csv) files.push_back({"csv", *csv});
  if (markdown) files.push_back({"markdown", *markdown});
  if (html) files.push_back({"html", *html});
  if (timeline) files.push_back({"timeline", *timeline});
  if (junit) files.push_back({"junit", *junit});
  if (openmetrics) files.push_back({"openmetrics", *openmetrics});
  for (const auto& [format, path] : formats) files.push_back({flag_of_format(format), path});
  return files;
}

void refuse_shared_files(std::span<const NamedFile> files) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto keeps = [&](const NamedFile& other) { return other.path + "~" == files[i].path; };
    if (const auto other = std::ranges::find_if(files, keeps); other != files.end()) {
      throw UsageError(
          fmt::format("--{} and --{} name the same file: the old {} may be kept as {}; choose another name",
                      other->flag, files[i].flag, other->path, files[i].path));
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (files[i].path != files[j].path) continue;
      const std::string both = fmt::format("--{} and --{}", files[j].flag, files[i].flag);
      if (files[i].path != "-") throw UsageError(both + " name the same file; give each its own");
      throw UsageError(both + " cannot both be standard output; give one of them a file name");
    }
  }
}

}  // namespace xferbench::cli
