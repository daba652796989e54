#include "app/resume.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "app/session.hpp"
#include "core/error.hpp"
#include "scenarios/scenarios.hpp"
#include "version.hpp"

namespace xferbench::app {

namespace {

using cli::Command;

std::vector<std::string> arguments_of(const StoredReport& report) {
  return {report.command.begin() + std::min<std::ptrdiff_t>(1, std::ssize(report.command)), report.command.end()};
}

/// Whether all that the case was to give is there. What was skipped may be possible now.
bool finished(const StoredResult& result) {
  if (result.status == Status::skipped) return false;
  return std::ranges::none_of(result.measurements, [](const Measurement& m) { return m.stop == Stop::interrupted; });
}

Result restored(const StoredResult& stored, const Case& config) {
  Result result(config);
  result.status = stored.status;
  result.reason = stored.reason;
  result.warnings = stored.warnings;
  result.measurements = stored.measurements;
  result.metrics = stored.metrics;
  result.labels = stored.labels;
  return result;
}

}  // namespace

StoredRun read_run(const std::string& file) {
  if (file == "-") throw UsageError("--resume: standard input cannot be gone on with; name a file");
  StoredRun run{.file = file, .report = read_report(file), .command = {}};
  try {
    run.command = cli::parse(arguments_of(run.report), scenarios());
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: its command is none of this program: {}", file, error.what()));
  }
  if (run.command.action != cli::Action::run || run.command.resume) {
    throw UsageError(fmt::format("{}: only a run can be resumed, and not a tune; run the command again", file));
  }
  if (run.command.timeline) throw UsageError(fmt::format("{}: a run with --timeline cannot be resumed", file));
  run.command.json = file;
  return run;
}

void refuse_another_machine(const StoredRun& stored, const Device& device) {
  const Environment& before = stored.report.environment;
  const Environment& now = device.capabilities().environment;
  const auto same = [&](const char* what, const std::string& then, const std::string& here) {
    if (then == here) return;
    throw UsageError(
        fmt::format("{} was measured with {} '{}', and here it is '{}': both do not belong into one file; "
                    "run the command again",
                    stored.file, what, then, here));
  };
  same("backend", before.backend, now.backend);
  same("profile", before.profile, now.profile);
  same("GPU", before.gpu.name, now.gpu.name);
  same("GPU", before.gpu.uuid, now.gpu.uuid);
  same("driver", before.driver, now.driver);
  same("host", before.host.cpu, now.host.cpu);
  same("xferbench", stored.report.tool.version, build::kVersion);
  same("commit", stored.report.tool.git, build::kGit);
  same("build type", stored.report.tool.type, build::kType);
}

WhatIsLeft what_is_left(const StoredRun& stored, const std::vector<PlannedCase>& cases) {
  std::map<std::string_view, const StoredResult*> there;
  for (const StoredResult& result : stored.report.results) there[result.key] = &result;
  WhatIsLeft left;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string key = cases[i].config.key();
    const auto found = there.find(key);
    if (found == there.end() || !finished(*found->second)) {
      left.missing.push_back(i);
    } else {
      left.known.emplace_back(i, restored(*found->second, cases[i].config));
    }
    if (found != there.end()) there.erase(found);
  }
  if (there.empty()) return left;
  throw UsageError(fmt::format("{} has a case that its command does not make: {}; run the command again", stored.file,
                               there.begin()->first));
}

Report continue_report(const StoredRun& stored, const Device& device) {
  Report report = begin_report(arguments_of(stored.report), device);
  report.resumed_at = stored.report.resumed_at;
  report.resumed_at.push_back(report.started_at);
  report.started_at = stored.report.started_at;
  return report;
}

}  // namespace xferbench::app
