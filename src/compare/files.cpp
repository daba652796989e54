#include "compare/files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "compare/fleets.hpp"
#include "core/error.hpp"
#include "core/lists.hpp"
#include "core/spelling.hpp"
#include "core/wildcards.hpp"
#include "measure/statistics.hpp"

namespace xferbench::compare {

namespace {

/// Returns the name of the profile that simulated the results; empty if they were measured.
std::string profile_of(const Report& report) {
  return report.environment.simulated() ? report.environment.profile_text() : "";
}

Source source_of(const NamedReport& named) {
  const Report& r = named.report;
  return {named.name,
          r.started_at,
          r.fleet ? gpus_text(*r.fleet) : r.environment.gpu.name,
          r.tool.git.empty() ? r.tool.version : r.tool.version + " " + r.tool.git,
          r.verified,
          r.environment.injected_fault(),
          r.complete,
          profile_of(r)};
}

[[noreturn]] void refuse_empty(const Files& files, const Options& options) {
  if (options.only.empty()) throw UsageError("these files have no cases");
  const auto example =
      std::ranges::find_if(files, [](const NamedReport* named) { return !named->report.results.empty(); });
  const std::string first = example == files.end() ? ""
                                                   : fmt::format("; the first case of {} is {}", (*example)->name,
                                                                 (*example)->report.results.front().config.key());
  throw UsageError(fmt::format("--only {}: no case matches{}", fmt::join(options.only, " --only "), first));
}

std::vector<std::string> numbers_in(const Files& files) {
  std::set<std::string> names;
  for (const NamedReport* file : files) {
    for (const Result& result : file->report.results) {
      for (const Measurement& m : result.measurements) {
        if (!m.gpu) names.insert(m.name);
      }
      for (const Metric& m : result.metrics) {
        if (!m.gpu) names.insert(m.name);
      }
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace

std::optional<Value> value_of(const Result& result, const std::optional<std::string>& name, const Options& options) {
  if (result.status != Status::ok) return std::nullopt;
  const Measurement* m = name ? result.measurement(*name)
                              : headline_of(result, declared_for(options.metrics_declared, result.config.scenario()));
  if (m != nullptr) return m->samples.empty() ? std::nullopt : std::optional(Value{m->name, m->unit, m->median, m});
  const Metric* metric = name ? result.metric(*name) : nullptr;
  return metric == nullptr ? std::nullopt : std::optional(Value{metric->name, metric->unit, metric->value});
}

Better better_of(const Value& value, std::string_view scenario, const Options& options) {
  using Kind = MetricDeclaration::Kind;
  const Kind kind = value.measurement != nullptr ? Kind::measurement : Kind::metric;
  const auto* declared = find(declared_for(options.metrics_declared, scenario), kind, value.name);
  if (declared != nullptr) return declared->better;
  if (value.unit == "s") return Better::lower;
  return value.unit.ends_with("/s") ? Better::higher : Better::neither;
}

Files files_of(std::initializer_list<std::span<const NamedReport>> sides) {
  return flat_list_of(sides, pointers_to<std::span<const NamedReport>>);
}

MetricsDeclared all_declared(const Files& files, const Options& options) {
  MetricsDeclared all;
  std::set<std::tuple<std::string_view, MetricDeclaration::Kind, std::string_view>> known;
  const auto add = [&](const MetricsDeclared& declared) {
    for (const auto& [scenario, metrics] : declared) {
      std::vector<MetricDeclaration>& of_scenario = all[scenario];
      for (const MetricDeclaration& m : metrics) {
        if (known.emplace(scenario, m.kind, m.name).second) of_scenario.push_back(m);
      }
    }
  };
  for (const NamedReport* file : files) add(file->report.metrics_declared);
  add(options.metrics_declared);
  return all;
}

std::vector<SameCase> cases_of(const Files& files, const Options& options, std::optional<Match> match) {
  const std::vector<const Report*> reports = list_of(files, [](const NamedReport* file) { return &file->report; });
  const auto is_asked_for = [&](const std::string& name) {
    return std::ranges::any_of(options.only, [&](const std::string& pattern) { return matches(pattern, name); });
  };
  std::vector<SameCase> cases = same_cases(reports, [&](const Report& report, const Result& result) {
    // The second round of a fleet repeats only cases in which a rank looked slow, under other conditions, so it is not
    // compared.
    if (result.in_fleet && result.in_fleet->round > 1) return std::string();
    std::string identity = identity_of(report, result, match);
    const bool asked_for = options.only.empty() || is_asked_for(result.config.key()) || is_asked_for(identity);
    return asked_for ? identity : std::string();
  });
  if (cases.empty()) refuse_empty(files, options);
  return cases;
}

std::vector<Source> sources_of(std::span<const NamedReport> reports) { return list_of(reports, source_of); }

std::optional<std::string> check_simulated(const Files& files, const Options& options) {
  const auto describe = [](const std::string& p) { return p.empty() ? "measured" : "simulated by profile " + p; };
  const std::string of_first = profile_of(files.front()->report);
  std::optional<std::string> simulated;
  for (const NamedReport* named : files) {
    const std::string profile = profile_of(named->report);
    if (!profile.empty()) simulated = profile;
    if (profile == of_first || options.allow_simulated) continue;
    throw UsageError(
        fmt::format("{} is {} and {} is {}: these cannot be compared; --allow-simulated compares them anyway",
                    files.front()->name, describe(of_first), named->name, describe(profile)));
  }
  return simulated;
}

void check_medians(const Files& files) {
  constexpr double kClose = 1e-9;  // relative tolerance; another program may have rounded the median
  for (const NamedReport* file : files) {
    for (const Result& result : file->report.results) {
      for (const Measurement& m : result.measurements) {
        if (m.samples.empty()) continue;
        const double median = statistics::median(m.samples);
        if (std::abs(m.median - median) <= kClose * std::abs(median)) continue;
        throw InputError(
            fmt::format("{}: {}: the file gives a median of '{}' of {}, but its samples have {}; the file was changed "
                        "after it was written: measure again",
                        file->name, result.config.key(), m.name, m.median, median));
      }
    }
  }
}

std::vector<std::string> doubts_of(const Files& files) {
  std::vector<std::string> all;
  for (const NamedReport* named : files) {
    // add_new() keeps equal doubts about several processes only once
    for (std::string& doubt : doubts(*named)) add_new(all, std::move(doubt));
  }
  return all;
}

void refuse_numberless(const Files& files, const Options& options) {
  if (!options.metric) throw UsageError("no case was measured in any of these files");
  constexpr std::size_t kMostNames = 60;  // most names in the message; a scenario has about thirty
  std::vector<std::string> names = numbers_in(files);
  const std::string near = suggestion(*options.metric, names);
  const std::string more = names.size() > kMostNames ? fmt::format(" and {} more", names.size() - kMostNames) : "";
  names.resize(std::min(names.size(), kMostNames));
  throw UsageError(fmt::format("--metric {}: no case has a measurement or metric of that name{}; available: {}{}",
                               *options.metric, near, fmt::join(names, ", "), more));
}

}  // namespace xferbench::compare
