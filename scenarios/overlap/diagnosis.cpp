#include "scenarios/overlap/diagnosis.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string>

#include "core/units.hpp"
#include "scenarios/overlap/pipelines.hpp"

namespace xferbench {

namespace {

/// Cases that do the same work: the axes that say what is done, not how.
std::string work_of(const Result& r) {
  std::string key;
  for (const char* axis : {"size", "rounds", "kernel", "work", "balance"}) {
    const Case::Param* p = r.config.find(axis);
    if (p != nullptr) key += fmt::format("{}={} ", axis, to_text(p->value, p->kind));
  }
  return key;
}

double value(const Result& r, const char* metric) {
  const Metric* m = r.metric(metric);
  return m == nullptr ? 0 : m->value;
}

/// The parts in words; they add up to the makespan. `name`: of the case, where there are several.
std::string diagnosis(const Result& r, const std::string& name) {
  const bool link = r.label("limited_by") == "link";
  std::string limit = format_seconds(value(r, "bound")) + " are the limit, set by the " + r.label("limited_by");
  if (link && value(r, "time_contention") > 0) {
    limit += fmt::format(" ({} of it because the two directions slow each other)",
                         format_seconds(value(r, "time_contention")));
  }
  constexpr double kRounding = 1e-12;  // seconds
  double unexplained = value(r, "time_unexplained");
  if (std::abs(unexplained) < kRounding) unexplained = 0;
  return fmt::format(
      "{}{} makespan: {}; {} filling and draining; {} what each operation costs; {} waiting for slots or streams; {} "
      "waiting "
      "for "
      "the host; {}{} unexplained",
      name, format_seconds(value(r, "makespan")), limit, format_seconds(value(r, "time_fill_drain")),
      format_seconds(value(r, "time_overhead")), format_seconds(value(r, "time_slots")),
      format_seconds(value(r, "time_submission")), unexplained < 0 ? "-" : "", format_seconds(std::abs(unexplained)));
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

/// Of cases that do the same work, the fastest of all and the fastest that the model covers.
struct Fastest {
  const Result* any = nullptr;
  const Result* modelled = nullptr;
};

std::vector<Fastest> fastest_of_each_work(std::span<const Result* const> results) {
  std::map<std::string, std::size_t> places;
  std::vector<Fastest> all;
  const auto keep = [](const Result*& best, const Result* r) {
    if (best == nullptr || value(*r, "makespan") < value(*best, "makespan")) best = r;
  };
  for (const Result* r : results) {
    if (r->metric("makespan") == nullptr) continue;
    const auto [place, is_new] = places.try_emplace(work_of(*r), all.size());
    if (is_new) all.emplace_back();
    keep(all[place->second].any, r);
    if (r->metric("time_unexplained") != nullptr) keep(all[place->second].modelled, r);
  }
  return all;
}

Finding suggested(const Result& r, bool alone) {
  const std::string flags = r.label("suggestion");
  const std::string what = alone ? flags : fmt::format("--strategy {} {}", r.config.word("strategy"), flags);
  return {.kind = "suggestion",
          .labels = {{"case", r.config.key()}, {"flags", flags}},
          .metrics = {*r.metric("suggestion_gain")},
          .text = fmt::format("try {}: the model expects it to be {} faster", what,
                              format_percent(value(r, "suggestion_gain")))};
}

/// Why the fastest case has no diagnosis.
const char* why_not_diagnosed(const Result& r) {
  const bool serial = strategy_word(r.config.word("strategy")).strategy == Strategy::serial;
  return serial ? "no pipeline that was measured beats it" : "the model does not cover it";
}

}  // namespace

std::vector<Finding> diagnose(std::span<const Result* const> results) {
  const bool alone = results.size() == 1;
  std::vector<Finding> findings;
  for (const auto& [any, modelled] : fastest_of_each_work(results)) {
    if (modelled != any) {
      findings.push_back({.kind = "fastest",
                          .labels = {{"case", any->config.key()}},
                          .metrics = {*any->metric("makespan")},
                          .text = fmt::format("{} is the fastest, {}; {}", any->config.key(),
                                              format_seconds(value(*any, "makespan")), why_not_diagnosed(*any))});
    }
    if (modelled == nullptr) continue;
    findings.push_back(diagnosed(*modelled, alone));
    if (!modelled->label("suggestion").empty()) findings.push_back(suggested(*modelled, alone));
  }
  return findings;
}

}  // namespace xferbench
