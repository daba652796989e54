#include "app/resume.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "app/repeat.hpp"
#include "core/error.hpp"
#include "core/lists.hpp"
#include "core/standard_error.hpp"
#include "results/journal.hpp"
#include "results/json.hpp"
#include "run/findings.hpp"
#include "scenarios/scenarios.hpp"

namespace xferbench::app {

namespace {

std::string node_of(const Environment::Host& host) {
  return host.numa_policy + (host.numa_node ? fmt::format(" {}", *host.numa_node) : "");
}

/// Returns the profile's description without the injected fault, so that a run can be resumed when the fault is gone.
std::string profile_of(Environment environment) {
  std::erase_if(environment.profile_changes, [](const auto& change) { return change.name == kInjectField; });
  return environment.profile_text();
}

std::string of_gpus(const Environment& environment, std::string Environment::Gpu::*what) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < environment.gpu_count(); ++i) all.push_back(environment.gpu_at(i).*what);
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string text_of(const std::vector<std::pair<std::string, std::string>>& variables) {
  const auto others = those_of(variables, [](const auto& one) { return one.first != kInjectVariable; });
  auto all = list_of(others, [](const auto& one) { return one.first + "=" + one.second; });
  std::ranges::sort(all);
  return fmt::format("{}", fmt::join(all, " "));
}

/// Returns whether every result belongs to a case of the command. True for a suite, whose cases are unknown here.
bool makes_all(const cli::RunCommand& run, const Report& report) {
  if (run.suite) return true;
  const auto keys = set_of(run.cases, [](const PlannedCase& c) { return c.config.key(); });
  return std::ranges::all_of(report.results, [&](const Result& r) { return keys.contains(r.config.key()); });
}

/// Returns the command of the run that wrote the file. In older versions an axis flag after several scenarios applied
/// to all of them. If the current rule does not give the cases in the file, the command line is parsed by the old rule.
cli::RunCommand command_of(const Report& report, const std::string& file) {
  const std::vector<std::string> arguments(report.command.begin() + 1, report.command.end());
  const auto read_as = [&](cli::AxisFlags flags) {
    const cli::Command command = cli::parse(arguments, scenarios(), flags);
    const auto* run = std::get_if<cli::RunCommand>(&command);
    if (run == nullptr || run->measuring.dry_run || run->resume) {
      throw UsageError("only a run can be resumed, not tune; run the command again");
    }
    return *run;
  };
  try {
    if (cli::RunCommand run = read_as(cli::AxisFlags::of_scenario); makes_all(run, report)) return run;
  } catch (const UsageError&) {  // parsing by the old rule below reports the error
  }
  try {
    return read_as(cli::AxisFlags::of_all);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: its command cannot be resumed: {}", file, error.what()));
  }
}

/// Reports a damaged journal and keeps it under another name. The resumed run replaces the journal by a new one with
/// the results that could be read.
void keep_damaged_journal(const StoredRun& run, const std::string& damage) {
  const ReplacedFile* ordinary = run.json.ordinary();
  if (ordinary == nullptr) return;
  tell(fmt::format("{}; the journal is damaged there: it is kept as {}, and lost cases are measured again", damage,
                   ordinary->keep_damaged_journal()));
}

}  // namespace

StoredRun read_run(const std::string& file) {
  if (file == "-") throw UsageError("--resume: standard input cannot be resumed; name a file");
  std::error_code unknown;
  if (std::filesystem::is_directory(file, unknown)) {
    throw UsageError(fmt::format("--resume: {} is a folder; name the results file of the stopped run", file));
  }
  if (const std::string first = numbered(file, 1); !std::filesystem::exists(file) && std::filesystem::exists(first)) {
    throw UsageError(
        fmt::format("there is no {}, but there is {}, written by one of the processes of --repeat: resume each process "
                    "by its own file",
                    file, first));
  }
  // Lock the file before reading it. Otherwise a process that is still writing the file could be disturbed, or could
  // write after the file was read.
  ResultsFile json(file);
  StoredReport stored = read_stored(file);
  StoredRun run{.file = file, .json = std::move(json), .report = std::move(stored.report), .command = {}};
  if (run.report.fleet) {
    throw UsageError(fmt::format("--resume: {} is from {} ranks, which cannot be resumed; run the command again", file,
                                 run.report.fleet->ranks.size()));
  }
  if (stored.journal_is_of_another_run) {
    throw UsageError(fmt::format("--resume: {} is from another run than {} and would be overwritten; move it away",
                                 journal_of(file), file));
  }
  if (run.report.command.empty()) throw UsageError(fmt::format("{}: it does not contain its command", file));
  run.command = command_of(run.report, file);
  if (run.command.measuring.files.timeline) {
    throw UsageError(fmt::format("{}: a run with --timeline cannot be resumed", file));
  }
  run.command.measuring.files = {};  // dropped, because relative paths may name other files in the current folder
  if (!stored.damage.empty()) keep_damaged_journal(run, stored.damage);
  return run;
}

void refuse_another_machine(const std::string& file, const Environment& before, const Tool& tool,
                            const Device& device) {
  const Environment& now = device.capabilities().environment;
  const auto same = [&](const char* what, const std::string& then, const std::string& here) {
    if (then == here) return;
    throw UsageError(fmt::format(
        "{} was measured with {} '{}', but here it is '{}': one file cannot contain both; run the command again", file,
        what, then, here));
  };
  same("backend", before.backend, now.backend);
  same("profile", profile_of(before), profile_of(now));
  same("GPU", of_gpus(before, &Environment::Gpu::name), of_gpus(now, &Environment::Gpu::name));
  same("GPU", of_gpus(before, &Environment::Gpu::uuid), of_gpus(now, &Environment::Gpu::uuid));
  same("driver", before.driver, now.driver);
  same("CUDA runtime", before.runtime, now.runtime);
  same("host", before.host.cpu, now.host.cpu);
  same("kernel", before.host.kernel, now.host.kernel);
  same("NUMA node", node_of(before.host), node_of(now.host));
  same("CUDA variables", text_of(before.variables), text_of(cuda_variables()));
  same("xferbench", tool.version, this_tool().version);
  same("commit", tool.git, this_tool().git);
  same("build type", tool.type, this_tool().type);
}

ResumePlan resume_plan(StoredRun& stored, const std::vector<PlannedCase>& cases) {
  std::map<std::string, Result*, std::less<>> there;
  for (Result& result : stored.report.results) there[result.config.key()] = &result;
  ResumePlan left;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string key = cases[i].config.key();
    const auto found = there.find(key);
    if (found == there.end() || !ran_to_its_end(*found->second)) left.missing.push_back(i);
    if (found == there.end()) continue;
    left.known.emplace_back(i, std::move(*found->second));
    left.known.back().second.config = cases[i].config;  // restores each AxisKind, which files do not store
    there.erase(found);
  }
  if (!there.empty()) {
    throw UsageError(fmt::format("{} contains a case that its command does not produce: {}; run the command again",
                                 stored.file, there.begin()->first));
  }
  const auto known = list_of(left.known, [](const auto& of_index) -> const Result* { return &of_index.second; });
  refuse_unusable(scenarios(), known, stored.file);
  return left;
}

void drop_still_skipped(ResumePlan& left, const std::vector<PlannedCase>& cases, Machine& machine, bool verify) {
  std::set<std::size_t> stay;
  for (const auto& [index, result] : left.known) {
    if (result.status != Status::skipped) continue;
    const auto reason = skip_reason(cases[index], machine, verify);
    if (reason && reason->text == result.reason) stay.insert(index);
  }
  std::erase_if(left.missing, [&](std::size_t index) { return stay.contains(index); });
}

Report continue_report(const StoredRun& stored, const Device& device, Descriptors scenarios) {
  Report report = begin_report(stored.command.measuring, device, scenarios);
  report.verified = report.verified && stored.report.verified;
  const std::string fault = stored.report.environment.injected_fault();
  if (!fault.empty() && report.environment.injected_fault().empty()) {
    report.environment.variables.emplace_back(kInjectVariable, fault);
  }
  report.resumed_at = stored.report.resumed_at;
  report.resumed_at.push_back(report.started_at);
  report.started_at = stored.report.started_at;
  return report;
}

}  // namespace xferbench::app
