#include "run/findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <new>

#include "core/error.hpp"
#include "core/units.hpp"

namespace xferbench {

namespace {

std::vector<Finding> conclude_from(std::span<const Scenario* const> scenarios, std::span<const Result* const> results) {
  std::vector<Finding> all;
  for (const Scenario* scenario : scenarios) {
    const std::vector<const Result*> good = those_of(results, [&](const Result* r) {
      return r->status == Status::ok && r->config.scenario() == scenario->descriptor().name;
    });
    if (good.empty()) continue;
    for (Finding& finding : scenario->conclude(good)) {
      finding.scenario = scenario->descriptor().name;
      all.push_back(std::move(finding));
    }
  }
  return all;
}

std::vector<const Case*> cases_of(std::span<const Result* const> results) {
  return list_of(results, [](const Result* r) { return &r->config; });
}

std::optional<double> number(const Case::Param* param) {
  if (param == nullptr) return std::nullopt;
  if (const auto* whole = std::get_if<std::uint64_t>(&param->value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&param->value)) return *real;
  return std::nullopt;
}

/// Returns the axes whose values name a path: those in which the results differ, without `size_axis`. If there is none,
/// returns the first axis with words as values.
std::vector<std::string> naming_axes(std::span<const Result* const> results, std::string_view size_axis) {
  std::vector<std::string> axes = varying_axes(results);
  std::erase(axes, size_axis);
  if (!axes.empty() || results.empty()) return axes;
  for (const Case::Param& param : results.front()->config.params()) {
    if (param.name != size_axis && param.kind == AxisKind::choice) return {param.name};
  }
  return {};
}

// --- Fits ------------------------------------------------------------------------------------------------------------

Finding fit_row(const Path& path, const char* range, const model::TransferFit& fit) {
  Finding finding{.scenario = {}, .kind = "fit", .labels = path.labels, .metrics = {}, .text = {}};
  finding.labels.emplace_back("range", range);
  finding.metrics = {{"latency", fit.latency, "s"},
                     {"rate", fit.rate / 1e9, "GB/s"},
                     {"half_rate_size", fit.half_rate_size, "B"},
                     {"worst_residual", fit.worst_residual, "1"}};
  if (fit.pass > 0) {
    finding.metrics.push_back({"pass", fit.pass, "s"});
    finding.metrics.push_back({"half_rate_size_alone", (fit.latency + fit.pass) * fit.rate, "B"});
  }
  return finding;
}

/// Adds findings with the latency and rate fitted to a path. If `briefly`, the fits of only small or only large sizes
/// are marked as details.
void add_fits(const Path& path, bool briefly, std::vector<Finding>& findings) {
  const model::TransferFits fits = model::fit_ranges(path.points);
  if (fits.all) findings.push_back(fit_row(path, "all", *fits.all));
  const auto add_part = [&](const char* range, const std::optional<model::TransferFit>& part,
                            const std::optional<model::TransferFit>& of) {
    // If this range contains every size, its fit has already been added.
    if (!part || (of && part->points == of->points)) return;
    findings.push_back(fit_row(path, range, *part));
    findings.back().detail = briefly && fits.all;
  };
  add_part("<= 64 KiB", fits.small, fits.all);
  add_part("> 64 KiB", fits.large, fits.all);
  add_part(">= 1 MiB", fits.longest, fits.large);
}

/// Whether any two of the cases have different values of this axis. Cases without the axis are ignored.
bool differs_in_metric(std::span<const Case* const> cases, const std::string& axis) {
  const auto params = found_for(cases, [&](const Case* c) { return c->find(axis); });
  return set_of(params, &Case::Param::value).size() > 1;
}

bool are_unique(std::vector<std::string> names) {
  std::ranges::sort(names);
  return std::ranges::adjacent_find(names) == names.end();
}

}  // namespace

std::vector<Finding> conclude(std::span<const Scenario* const> scenarios, std::span<const Result> results) {
  const std::vector<const Result*> pointers = pointers_to(results);
  return conclude_from(scenarios, pointers);
}

bool conclude_anew(std::span<const Scenario* const> scenarios, Report& report) {
  const auto is_of_tune = [](const Finding& f) { return f.kind == "tune" || f.kind == "choice"; };
  if (std::ranges::any_of(report.findings, is_of_tune)) return false;
  try {
    report.findings = conclude(scenarios, report.results);
    return true;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {  // a result lacks data, or has a case that its scenario forbids
    return false;
  }
}

void refuse_unusable(std::span<const Scenario* const> scenarios, std::span<const Result* const> results,
                     std::string_view file) {
  try {
    conclude_from(scenarios, results);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {  // a result lacks data, or has a case that its scenario forbids
    throw InputError(fmt::format("{}: {}; run its command again", file, error.what()));
  }
}

std::string axis_text(const Case::Param& param) {
  if (param.kind == AxisKind::size) return format_size_exact(std::get<std::uint64_t>(param.value), " ");
  return to_text(param.value, param.kind);
}

std::vector<std::string> varying_axes(std::span<const Case* const> cases) {
  std::vector<std::string> axes;
  for (const Case* c : cases) {
    for (const Case::Param& param : c->params()) add_new(axes, param.name);
  }
  const auto value = [](const Case& c, const std::string& axis) {
    const Case::Param* param = c.find(axis);
    return param == nullptr ? std::nullopt : std::optional(param->value);
  };
  std::erase_if(axes, [&](const std::string& axis) {
    return std::ranges::all_of(cases, [&](const Case* c) { return value(*c, axis) == value(*cases.front(), axis); });
  });
  return axes;
}

std::vector<std::string> varying_axes(std::span<const Result* const> results) {
  return varying_axes(cases_of(results));
}

std::string key_of(const Case& c, const std::function<bool(std::string_view)>& wanted) {
  std::string key;
  for (const Case::Param& p : c.params()) {
    if (wanted(p.name)) key += p.name + "=" + to_text(p.value, p.kind) + "/";
  }
  return key;
}

std::vector<const Result*> with_metric(std::span<const Result* const> results, std::string_view metric) {
  return those_of(results, [&](const Result* r) { return r->metric(metric); });
}

model::Leaders leaders_of(std::span<const Result* const> results, std::string_view measurement) {
  return model::leaders_of(list_of(results, [&](const Result* r) { return model::estimate_of(*r, measurement); }));
}

Labels labels_of(const Case& c, std::span<const std::string> axes) {
  Labels labels;
  for (const std::string& axis : axes) {
    if (const Case::Param* param = c.find(axis)) labels.emplace_back(axis, axis_text(*param));
  }
  return labels;
}

std::vector<std::vector<const Result*>> grouped(std::span<const Result* const> results,
                                                const std::function<std::string(const Result&)>& key_of) {
  return list_of(by_name(results, [&](const Result* r) { return key_of(*r); }),
                 [](auto& group) { return std::move(group.second); });
}

// --- Paths -----------------------------------------------------------------------------------------------------------

std::vector<Path> paths(std::span<const Result* const> results, std::string_view measurement,
                        std::string_view size_axis) {
  const std::vector<std::string> axes = naming_axes(results, size_axis);
  std::vector<Path> all;
  std::map<Labels, std::size_t> places;
  for (const Result* r : results) {
    const auto bytes = number(r->config.find(size_axis));
    const Measurement* m = r->measurement(measurement);
    if (!bytes || m == nullptr || m->samples.empty()) continue;
    Labels labels = labels_of(r->config, axes);
    const auto [place, is_new] = places.try_emplace(labels, all.size());
    if (is_new) all.push_back({std::move(labels), {}});
    all[place->second].points.push_back({*bytes, m->median, m->ci95, static_cast<double>(m->batch)});
  }
  return all;
}

std::string name_of(const Case& c, std::span<const std::string> axes) {
  std::vector<std::string> parts;
  for (const std::string& axis : axes) {
    const Case::Param* param = c.find(axis);
    if (param == nullptr) continue;
    parts.push_back((param->kind == AxisKind::choice ? "" : axis + " ") + axis_text(*param));
  }
  return parts.empty() ? c.key() : fmt::format("{}", fmt::join(parts, ", "));
}

ComparedResults compared_results(std::span<const Result* const> results, std::span<const std::string> axes,
                                 const std::function<std::string(const Case&, std::span<const std::string>)>& namer) {
  const std::vector<const Case*> cases = cases_of(results);
  const std::vector<std::string> differing = varying_axes(cases);
  std::vector<std::string> own;
  std::vector<std::string> common;
  for (const std::string& axis : axes) {
    const bool differs = has_item(differing, axis);
    if (differs || cases.front()->has(axis)) (differs ? own : common).push_back(axis);
  }
  ComparedResults rivals;
  if (!own.empty() && !common.empty()) rivals.common = namer(*cases.front(), common) + ": ";
  if (own.empty()) own.assign(axes.begin(), axes.end());
  std::vector<std::string> telling =
      those_of(own, [&](const std::string& axis) { return differs_in_metric(cases, axis); });
  const auto name_by = [&](const std::vector<std::string>& by) {
    rivals.names.clear();
    for (const Case* c : cases) rivals.names.push_back(namer(*c, by));
  };
  name_by(telling);
  if (telling.empty() || !are_unique(rivals.names)) name_by(own);
  return rivals;
}

void fold_into_rows(std::vector<Finding>& findings, std::string_view kind, std::size_t most) {
  const auto of_kind = [kind](const Finding& f) { return f.kind == kind && !f.detail; };
  if (static_cast<std::size_t>(std::ranges::count_if(findings, of_kind)) <= most) return;
  for (Finding& f : findings) f.row = f.row || of_kind(f);
}

std::vector<Finding> fits_and_crossovers(std::span<const Path> paths, std::string_view compare_axis) {
  std::vector<Finding> findings;
  constexpr std::size_t kManyPaths = 4;
  for (const Path& path : paths) add_fits(path, paths.size() > kManyPaths, findings);
  std::ranges::move(comparisons(paths, compare_axis), std::back_inserter(findings));
  return findings;
}

}  // namespace xferbench
