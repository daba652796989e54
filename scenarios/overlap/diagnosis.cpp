#include "scenarios/overlap/diagnosis.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "core/units.hpp"
#include "run/findings.hpp"
#include "scenarios/overlap/case.hpp"

namespace xferbench {

namespace {

/// Cases that do the same work: what is done, not how.
std::string work_of(const Result& r) {
  const OverlapCase c = overlap_case(r.config);
  return fmt::format("{} {} {} {} {}", c.work.bytes, c.work.rounds, static_cast<int>(c.work.op), c.work.work,
                     c.balance.value_or(0));
}

/// The parts in words; they add up to the makespan. `name`: of the case, where there are several.
std::string diagnosis(const Result& r, const std::string& name) {
  const bool link = r.label("limited_by") == "link";
  std::string limit = format_seconds(r.value("bound")) + " are the limit, set by the " + r.label("limited_by");
  if (link && r.value("time_contention") > 0) {
    limit += fmt::format(" ({} of it because the two directions slow each other)",
                         format_seconds(r.value("time_contention")));
  }
  constexpr double kRounding = 1e-12;  // seconds
  double unexplained = r.value("time_unexplained");
  if (std::abs(unexplained) < kRounding) unexplained = 0;
  return fmt::format(
      "{}{} makespan: {}; {} filling and draining; {} what each operation costs; {} waiting for slots or streams; {} "
      "waiting for the host; {}{} unexplained",
      name, format_seconds(r.value("makespan")), limit, format_seconds(r.value("time_fill_drain")),
      format_seconds(r.value("time_overhead")), format_seconds(r.value("time_slots")),
      format_seconds(r.value("time_submission")), unexplained < 0 ? "-" : "", format_seconds(std::abs(unexplained)));
}

Finding diagnosed(const Result& r, bool alone) {
  const std::string prefix = alone ? "" : r.config.key() + ": ";
  Finding f{.kind = "diagnosis", .labels = {{"case", r.config.key()}}, .metrics = {}, .text = diagnosis(r, prefix)};
  for (const char* name : {"makespan", "bound", "time_contention", "time_fill_drain", "time_overhead", "time_slots",
                           "time_submission", "time_unexplained"}) {
    if (const Metric* m = r.metric(name)) f.metrics.push_back(*m);
  }
  return f;
}

/// The first to finish of those that have this metric, or nothing.
const Result* fastest(std::span<const Result* const> results, const char* having) {
  const Result* best = nullptr;
  for (const Result* r : results) {
    if (r->metric(having) == nullptr) continue;
    if (best == nullptr || r->value("makespan") < best->value("makespan")) best = r;
  }
  return best;
}

Finding suggested(const Result& r, bool alone) {
  const std::string flags = r.label("suggestion");
  const std::string what = alone ? flags : fmt::format("--strategy {} {}", r.config.word("strategy"), flags);
  return {.kind = "suggestion",
          .labels = {{"case", r.config.key()}, {"flags", flags}},
          .metrics = {r.needed_metric("suggestion_gain")},
          .text = fmt::format("try {}: the model expects it to be {} faster", what,
                              format_percent(r.value("suggestion_gain")))};
}

/// Why the fastest case has no diagnosis.
const char* why_not_diagnosed(const Result& r) {
  const bool serial = overlap_case(r.config).pipeline.strategy == Strategy::serial;
  return serial ? "no pipeline that was measured beats it" : "the model does not cover it";
}

}  // namespace

std::vector<Finding> diagnose(std::span<const Result* const> results) {
  for (const Result* r : results) {
    if (!r->label("suggestion").empty()) r->needed_metric("suggestion_gain");
  }
  const bool alone = results.size() == 1;
  std::vector<Finding> findings;
  for (const auto& alike : grouped(results, work_of)) {
    const Result* any = fastest(alike, "makespan");
    const Result* modelled = fastest(alike, "time_unexplained");  // that the model covers
    if (any != nullptr && modelled != any) {
      findings.push_back({.kind = "fastest",
                          .labels = {{"case", any->config.key()}},
                          .metrics = {any->needed_metric("makespan")},
                          .text = fmt::format("{} is the fastest, {}; {}", any->config.key(),
                                              format_seconds(any->value("makespan")), why_not_diagnosed(*any))});
    }
    if (modelled == nullptr) continue;
    findings.push_back(diagnosed(*modelled, alone));
    if (!modelled->label("suggestion").empty()) findings.push_back(suggested(*modelled, alone));
  }
  return findings;
}

}  // namespace xferbench
