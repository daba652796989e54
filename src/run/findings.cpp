#include "run/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <new>
#include <optional>

#include "core/error.hpp"
#include "core/units.hpp"

namespace xferbench {

namespace {

std::vector<Finding> conclude_from(std::span<const Scenario* const> scenarios, std::span<const Result* const> results) {
  std::vector<Finding> all;
  for (const Scenario* scenario : scenarios) {
    std::vector<const Result*> good;
    for (const Result* r : results) {
      if (r->status == Status::ok && r->config.scenario() == scenario->descriptor().name) good.push_back(r);
    }
    if (good.empty()) continue;
    for (Finding& finding : scenario->conclude(good)) {
      finding.scenario = scenario->descriptor().name;
      all.push_back(std::move(finding));
    }
  }
  return all;
}

}  // namespace

std::vector<Finding> conclude(std::span<const Scenario* const> scenarios, std::span<const Result> results) {
  std::vector<const Result*> pointers;
  pointers.reserve(results.size());
  for (const Result& r : results) pointers.push_back(&r);
  return conclude_from(scenarios, pointers);
}

void refuse_unusable(std::span<const Scenario* const> scenarios, std::span<const Result* const> results,
                     std::string_view file) {
  try {
    conclude_from(scenarios, results);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {  // also of a case that is none of its scenario's
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
    for (const Case::Param& param : c->params()) {
      if (std::ranges::find(axes, param.name) == axes.end()) axes.push_back(param.name);
    }
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

Labels labels_of(const Case& c, std::span<const std::string> axes) {
  Labels labels;
  for (const std::string& axis : axes) {
    if (const Case::Param* param = c.find(axis)) labels.emplace_back(axis, axis_text(*param));
  }
  return labels;
}

std::vector<std::vector<const Result*>> grouped(std::span<const Result* const> results,
                                                const std::function<std::string(const Result&)>& key_of) {
  std::vector<std::vector<const Result*>> groups;
  std::map<std::string, std::size_t> places;
  for (const Result* r : results) {
    const auto [place, is_new] = places.try_emplace(key_of(*r), groups.size());
    if (is_new) groups.emplace_back();
    groups[place->second].push_back(r);
  }
  return groups;
}

// --- Paths -----------------------------------------------------------------------------------------------------------

namespace {

std::optional<double> number(const Case::Param* param) {
  if (param == nullptr) return std::nullopt;
  if (const auto* whole = std::get_if<std::uint64_t>(&param->value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&param->value)) return *real;
  return std::nullopt;
}

/// The axes that tell paths apart, or one that names the only path there is.
std::vector<std::string> naming_axes(std::span<const Result* const> results, std::string_view size_axis) {
  std::vector<const Case*> cases;
  for (const Result* r : results) cases.push_back(&r->config);
  std::vector<std::string> axes = varying_axes(cases);
  std::erase(axes, size_axis);
  if (!axes.empty() || results.empty()) return axes;
  for (const Case::Param& param : cases.front()->params()) {
    if (param.name != size_axis && param.kind == AxisKind::choice) return {param.name};
  }
  return {};
}

}  // namespace

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
    all[place->second].points.push_back({*bytes, m->median, m->ci95});
  }
  return all;
}

// --- Fits ------------------------------------------------------------------------------------------------------------

namespace {

Finding fit_row(const Path& path, const char* range, const model::TransferFit& fit) {
  Finding finding{.scenario = {}, .kind = "fit", .labels = path.labels, .metrics = {}, .text = {}};
  finding.labels.emplace_back("range", range);
  finding.metrics = {{"latency", fit.latency, "s"},
                     {"rate", fit.rate / 1e9, "GB/s"},
                     {"half_rate_size", fit.half_rate_size, "B"},
                     {"worst_residual", fit.worst_residual, "1"}};
  return finding;
}

void add_fits(const Path& path, std::vector<Finding>& findings) {
  const model::TransferFits fits = model::fit_ranges(path.points);
  if (fits.all) findings.push_back(fit_row(path, "all", *fits.all));
  // A range that holds every size has been fitted already.
  const auto is_part = [&](const std::optional<model::TransferFit>& part) {
    return part && (!fits.all || part->points < fits.all->points);
  };
  if (is_part(fits.small)) findings.push_back(fit_row(path, "<= 64 KiB", *fits.small));
  if (is_part(fits.large)) findings.push_back(fit_row(path, "> 64 KiB", *fits.large));
}

// --- Comparisons -----------------------------------------------------------------------------------------------------

/// A size to two digits: an interpolation between neighbouring sizes knows no more.
std::string rough_size(double bytes) {
  double unit = 1;
  while (bytes >= 1024 * unit && unit < static_cast<double>(TiB)) unit *= 1024;
  const double step = unit * std::pow(10, std::floor(std::log10(bytes / unit)) - 1);
  return format_size(whole_bytes(std::round(bytes / step) * step));
}

std::string exact_size(double bytes) { return format_size(whole_bytes(bytes)); }

/// A path's labels, apart from the one that is compared.
struct Entrant {
  const Path* path;
  std::string value;
  Labels others;
};

/// Two paths that differ in one label.
struct Contest {
  const Entrant& first;
  const Entrant& second;
  model::Comparison outcome = model::compare(first.path->points, second.path->points);

  [[nodiscard]] const std::string& winner(bool first_faster) const { return first_faster ? first.value : second.value; }
  [[nodiscard]] std::string sizes() const {
    return fmt::format("{} to {}", exact_size(outcome.smallest), exact_size(outcome.largest));
  }
};

/// "h2d: ", "h2d, node 1: ": a word speaks for itself, a number does not.
std::string prefix(const Labels& labels) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : labels) {
    const bool is_number = !value.empty() && std::isdigit(static_cast<unsigned char>(value.front())) != 0;
    parts.push_back(is_number ? fmt::format("{} {}", name, value) : value);
  }
  return parts.empty() ? "" : fmt::format("{}: ", fmt::join(parts, ", "));
}

std::string no_crossover_text(const Contest& c) {
  const model::Comparison& o = c.outcome;
  if (o.decided == 0)
    return fmt::format("{} and {} are equally fast at every size measured ({})", c.first.value, c.second.value,
                       c.sizes());
  const std::string faster =
      fmt::format("{} is faster than {}", c.winner(o.first_faster_at_start), c.winner(!o.first_faster_at_start));
  if (o.decided == o.sizes) return fmt::format("{} at every size measured ({})", faster, c.sizes());
  return fmt::format("{} at {} of {} sizes measured ({}) and as fast at the others", faster, o.decided, o.sizes,
                     c.sizes());
}

std::string crossover_text(const Contest& c) {
  const std::vector<model::Crossover>& found = c.outcome.crossovers;
  const model::Crossover& last = found.back();
  if (found.size() == 1) {
    return fmt::format("{} is faster than {} from about {} on (measured: {} and {})", c.winner(last.first_faster_above),
                       c.winner(!last.first_faster_above), rough_size(last.bytes), exact_size(last.measured_below),
                       exact_size(last.measured_above));
  }
  std::string text = fmt::format("{} and {} take turns: {} is faster below about {}", c.first.value, c.second.value,
                                 c.winner(c.outcome.first_faster_at_start), rough_size(found.front().bytes));
  for (const model::Crossover& crossover : found) {
    text += fmt::format(", {} from there", c.winner(crossover.first_faster_above));
    const bool is_last = &crossover == &last;
    text += is_last ? " on" : fmt::format(" to about {}", rough_size((&crossover + 1)->bytes));
  }
  return text;
}

Finding finding_of(const Contest& c, std::string_view axis) {
  const model::Comparison& o = c.outcome;
  const bool crosses = !o.crossovers.empty();
  const Labels& common = c.first.others;
  Finding finding{.scenario = {},
                  .kind = crosses ? "crossover" : "winner",
                  .labels = common,
                  .metrics = {},
                  .text = prefix(common) + (crosses ? crossover_text(c) : no_crossover_text(c))};
  if (o.decided > 0) {
    const bool first = crosses ? o.crossovers.back().first_faster_above : o.first_faster_at_start;
    finding.labels.emplace_back("faster", c.winner(first));
    finding.labels.emplace_back("slower", c.winner(!first));
  } else {
    finding.labels.emplace_back(axis, c.first.value + "," + c.second.value);
  }
  if (crosses) {
    finding.metrics = {{"crossover", o.crossovers.back().bytes, "B"},
                       {"measured_below", o.crossovers.back().measured_below, "B"},
                       {"measured_above", o.crossovers.back().measured_above, "B"}};
  }
  return finding;
}

std::vector<Entrant> entrants(std::span<const Path> paths, std::string_view axis) {
  std::vector<Entrant> all;
  for (const Path& path : paths) {
    const auto own = std::ranges::find(path.labels, axis, &Labels::value_type::first);
    if (own == path.labels.end()) continue;
    Entrant c{&path, own->second, path.labels};
    std::erase(c.others, *own);
    all.push_back(std::move(c));
  }
  return all;
}

/// Whether the two differ at most sizes, or take turns.
bool differs(const model::Comparison& outcome) {
  return 2 * outcome.decided > outcome.sizes || !outcome.crossovers.empty();
}

void add_comparisons(std::span<const Path> paths, std::string_view axis, std::vector<Finding>& findings) {
  std::vector<std::vector<Entrant>> groups;
  std::map<Labels, std::size_t> places;
  for (Entrant& c : entrants(paths, axis)) {
    const auto [place, is_new] = places.try_emplace(c.others, groups.size());
    if (is_new) groups.emplace_back();
    groups[place->second].push_back(std::move(c));
  }
  for (const std::vector<Entrant>& group : groups) {
    const auto add = [&](const Entrant& a, const Entrant& b, bool in_any_case) {
      const Contest contest{a, b};
      // Of one size the table above says it all.
      if (contest.outcome.sizes < 2 || (!in_any_case && !differs(contest.outcome))) return;
      findings.push_back(finding_of(contest, axis));
    };
    for (std::size_t i = 1; i < group.size(); ++i) add(group.front(), group[i], true);
    // Of many that are alike, not every pair needs a sentence.
    for (std::size_t i = 2; i < group.size(); ++i) add(group[i - 1], group[i], false);
  }
}

}  // namespace

std::vector<Finding> fits_and_crossovers(std::span<const Path> paths, std::string_view compare_axis) {
  std::vector<Finding> findings;
  for (const Path& path : paths) add_fits(path, findings);
  add_comparisons(paths, compare_axis, findings);
  return findings;
}

}  // namespace xferbench
