// Findings of scenario overlap: the fastest case, where its time went, what to try.
#include "scenarios/overlap/case.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/units.hpp"
#include "model/relation.hpp"
#include "run/finding_text.hpp"
#include "run/findings.hpp"

namespace xferbench {

namespace {

/// Returns a key of the work of `r`. Results with equal keys compute the same output, possibly in different ways.
std::string work_of(const Result& r) {
  const OverlapCase c = overlap_case(r.config);
  const std::string built_in =
      fmt::format("{} {} {} {} {} {} {}", c.work.bytes, c.work.rounds, static_cast<int>(c.work.op), c.work.work,
                  c.balance.value_or(0), c.split ? static_cast<int>(*c.split) : -1, c.gpus);
  if (!c.work.own) return built_in;
  // Compiler options and block sizes define how the work is done, not which work is done, so they are not in the key.
  const OwnKernelChoice& own = *c.work.own;
  return fmt::format("{} {} {} {} {} {} {}", built_in, own.source.file, own.source.name, static_cast<int>(own.type),
                     own.row_bytes, own.halo_rows, own.seconds);
}

constexpr double kRounding = 1e-12;  // seconds; a smaller time is a rounding error

/// Returns a description of the limit, for example "link, both directions in one copy each". Files of older versions do
/// not record how the copies were arranged.
std::string limit_text(const Result& r) {
  static const std::map<std::string_view, std::string_view> arrangements{
      {"in-turn", ", one direction after the other"},
      {"whole", ", both directions in one copy each"},
      {"chunked", ", both directions in 8 chunks each"},
      {"rates", ", both directions at their bidirectional rates"},
      {"fastest", ": this pipeline, which is faster than anything measured alone"}};
  const auto found = arrangements.find(r.label("limit_set_by"));
  return r.label("limited_by") + std::string(found == arrangements.end() ? "" : found->second);
}

/// Returns a sentence that splits the makespan into causes, for example "5.000 ms makespan = 4.700 ms limit (kernel) +
/// 200.0 us fill and drain + ...". Causes that cost no time are left out.
std::string diagnosis(const Result& r) {
  const bool link = r.label("limited_by") == "link";
  std::string limit = limit_text(r);
  if (link && r.value("time_contention") > 0) {
    const bool several = overlap_case(r.config).gpus > 1;
    limit += fmt::format("; {} of it because {} slow each other", format_seconds(r.value("time_contention")),
                         several ? "GPUs and directions" : "the two directions");
  }
  std::string text = fmt::format("{} makespan = {} limit ({})", format_seconds(r.value("makespan")),
                                 format_seconds(r.value("bound")), limit);
  const auto add = [&](const char* name, const char* what) {
    const double seconds = r.value(name);
    if (std::abs(seconds) < kRounding) return;
    text += fmt::format(" {} {} {}", seconds < 0 ? "-" : "+", format_seconds(std::abs(seconds)), what);
  };
  add("time_fill_drain", "fill and drain");
  add("time_overhead", "per-operation overhead");
  add("time_slots", "waiting for slots or streams");
  add("time_submission", "waiting for the host");
  add("time_unexplained", "unexplained");
  return text;
}

/// Creates the finding that says where the time of `r` went. `prefix`: name of the case if there are several, else
/// empty.
Finding diagnosed(const Result& r, const std::string& prefix) {
  Finding f{.kind = "diagnosis", .labels = {{"case", r.config.key()}}, .metrics = {}, .text = prefix + diagnosis(r)};
  for (const char* name : {"makespan", "bound", "time_contention", "time_fill_drain", "time_overhead", "time_slots",
                           "time_submission", "time_unexplained"}) {
    if (const Metric* m = r.metric(name)) f.metrics.push_back(*m);
  }
  return f;
}

/// Whether the predicted gain of the suggestion is larger than the unexplained part of this case's time.
bool is_worth_trying(const Result& r) {
  if (r.label("suggestion").empty()) return false;
  return r.value("suggestion_gain") * r.value("modelled") > std::abs(r.value("time_unexplained"));
}

/// Creates the finding that suggests other flags. `prefix` names the work if there are findings about other work, too;
/// otherwise it is empty.
Finding suggested(const Result& r, bool alone, const std::string& prefix) {
  const std::string flags = r.label("suggestion");
  const std::string what = alone ? flags : fmt::format("--strategy {} {}", r.config.word("strategy"), flags);
  const double gain = std::min(r.value("suggestion_gain"), 1.0);
  return {.kind = "suggestion",
          .labels = {{"case", r.config.key()}, {"flags", flags}},
          .metrics = {r.needed_metric("suggestion_gain")},
          .text = fmt::format("{}try {}: the model predicts {} times the speed", prefix, what,
                              factor_text(1 / (1 - gain)))};
}

bool is_serial(const Result& r) { return overlap_case(r.config).pipeline.strategy == Strategy::serial; }

/// Results that do the same work, ranked by time.
struct Ranking {
  std::span<const Result* const> results;
  ComparedResults called;
  model::Leaders front;                       // the fastest results by makespan on the device
  std::optional<model::Leaders> to_result{};  // the fastest results by time to result; nothing if a result lacks it

  Ranking(std::span<const Result* const> alike, std::span<const std::string> axes)
      : results(alike), called(compared_results(alike, axes)), front(leaders_of(alike, "pipeline")) {
    const auto has_wall = [](const Result* r) { return r->metric(kTimeToResult) != nullptr; };
    if (std::ranges::all_of(results, has_wall)) to_result = leaders_of(results, kWall);
  }
  [[nodiscard]] const Result& best() const { return *results[front.places.front()]; }
  [[nodiscard]] const std::string& name_of(const Result& r) const {
    return called.names[static_cast<std::size_t>(std::ranges::find(results, &r) - results.begin())];
  }
  /// Returns a prefix that names the work of a finding, for example "64 MiB: "; empty if all results do equal work.
  [[nodiscard]] std::string work(bool alone) const {
    return called.common + (alone || results.size() > 1 ? "" : called.names.front() + ": ");
  }
  /// Returns the fastest result that the model covers, or null.
  [[nodiscard]] const Result* modelled() const {
    const Result* fastest = nullptr;
    for (const Result* r : results) {
      if (r->metric("time_unexplained") == nullptr) continue;
      if (fastest == nullptr || r->value("makespan") < fastest->value("makespan")) fastest = r;
    }
    return fastest;
  }
};

Finding fastest(const Ranking& ranking) {
  const Result& best = ranking.best();
  std::string text = fmt::format("{}{}: {}", ranking.called.common,
                                 ranking_text(ranking.front, ranking.called.names, "is the fastest"),
                                 format_seconds(best.value("makespan")));
  if (is_serial(best) && ranking.front.decided()) {
    text += "; no measured pipeline beats plain serial";
  } else if (best.metric("time_unexplained") == nullptr && !is_serial(best)) {
    text += "; the model does not cover it";
  }
  return {.kind = "fastest",
          .labels = {{"case", best.config.key()}, {"outcome", outcome_label(ranking.front)}},
          .metrics = {best.needed_metric("makespan")},
          .text = std::move(text)};
}

/// Returns a text that says when the GPU starts relative to the end of submission; empty if unknown.
std::string gpu_begin_text(const Result& r) {
  const Metric* begins = r.metric("gpu_begins");
  const Metric* returns = r.metric("calls_return");
  if (begins == nullptr || returns == nullptr) return {};
  const double before = returns->value - begins->value;
  const char* calls = overlap_case(r.config).pipeline.graph ? "the call" : "the last call";
  const std::string text = fmt::format("the GPU begins {} after the first call, ", format_seconds(begins->value));
  if (std::abs(before) <= r.value("clock_uncertainty")) return text + fmt::format("about when {} returns", calls);
  return text +
         fmt::format("{} {} {} returns", format_seconds(std::abs(before)), before > 0 ? "before" : "after", calls);
}

/// Creates the finding that compares the time to result with the makespan.
Finding to_result_of(const Result& r, const std::string& prefix) {
  const double more = r.value(kTimeToResult) - r.value("makespan");
  Finding f{.kind = "to-result", .labels = {{"case", r.config.key()}}, .metrics = {r.needed_metric(kTimeToResult)}};
  f.text = fmt::format("{}time to result: {}, {} {} than the makespan", prefix, format_seconds(r.value(kTimeToResult)),
                       format_seconds(std::abs(more)), more < 0 ? "less" : "more");
  const std::string begin = gpu_begin_text(r);
  if (begin.empty()) return f;
  f.text += "; " + begin;
  f.metrics.insert(f.metrics.end(), {r.needed_metric("gpu_begins"), r.needed_metric("calls_return")});
  return f;
}

/// Names the fastest case by time to result. Returns nothing if this case is also the fastest by makespan.
std::optional<Finding> fastest_to_result(const Ranking& ranking) {
  const Result& by_device = ranking.best();
  const auto ahead = [&](std::size_t place) { return ranking.results[place] == &by_device; };
  if (std::ranges::any_of(ranking.to_result->places, ahead)) return std::nullopt;
  const Result& best = *ranking.results[ranking.to_result->places.front()];
  const double behind = by_device.value(kTimeToResult) / best.value(kTimeToResult) - 1;
  return Finding{.kind = "fastest-to-result",
                 .labels = {{"case", best.config.key()}, {"outcome", outcome_label(*ranking.to_result)}},
                 .metrics = {best.needed_metric(kTimeToResult)},
                 .text = fmt::format("{}by time to result {}: {}; {}, the fastest by makespan, takes {}, {} more",
                                     ranking.called.common,
                                     ranking_text(*ranking.to_result, ranking.called.names, "is the fastest"),
                                     format_seconds(best.value(kTimeToResult)), ranking.name_of(by_device),
                                     format_seconds(by_device.value(kTimeToResult)), format_percent(behind))};
}

/// Compares the pipeline with the same work without overlap. Returns nothing if the pipeline is faster.
std::optional<Finding> versus_serial(const Result& r, const std::string& prefix) {
  if (is_serial(r)) return std::nullopt;
  const model::Estimate serial = model::estimate_of(r, "serial");
  const model::Estimate pipeline = model::estimate_of(r, "pipeline");
  const model::Relation relation = model::relate(serial, pipeline);
  if (relation == model::Relation::slower || serial.value <= 0) return std::nullopt;
  Finding f{.kind = "serial", .labels = {{"case", r.config.key()}}, .metrics = {r.needed_metric("makespan")}};
  f.metrics.push_back({"serial", serial.value, "s"});
  f.text = prefix;
  if (relation == model::Relation::faster) {
    f.text += fmt::format("plain serial wins: without any overlap the same work is {} ({})",
                          ratio_text(serial, pipeline), format_seconds(serial.value));
  } else if (relation == model::Relation::equal) {
    f.text += "overlap gains nothing: plain serial is equally fast (within 1 %)";
  } else {
    f.text += fmt::format("whether overlap gains anything over plain serial is {}",
                          serial.interval && pipeline.interval ? "not decided: the confidence intervals overlap"
                                                               : fmt::format("not decided: {}", kTooFewSamples));
  }
  return f;
}

/// Compares all GPUs with the first GPU alone, which was sampled in the same rounds.
std::optional<Finding> versus_one_gpu(const Result& r, const std::string& prefix) {
  const Metric* times = r.metric("of_one_gpu");
  if (times == nullptr) return std::nullopt;
  const OverlapCase c = overlap_case(r.config);
  const std::string what = !c.split ? fmt::format("one payload through the links of {} GPUs", c.gpus)
                                    : fmt::format("{} GPUs at once, {}", c.gpus,
                                                  *c.split == Split::each ? "a payload each" : "one payload split");
  return Finding{.kind = "one-gpu",
                 .labels = {{"case", r.config.key()}},
                 .metrics = {*times, r.needed_metric("bandwidth"), r.needed_metric("one_gpu_bandwidth")},
                 .text = fmt::format("{}{}: {} GB/s in both directions, {} times the {} GB/s of one GPU", prefix, what,
                                     format_significant(r.value("bandwidth")), factor_text(times->value),
                                     format_significant(r.value("one_gpu_bandwidth")))};
}

/// Adds findings about where the time went and what to try. prefix_of(result) returns the name of the case if there are
/// several, else an empty text.
template <class PrefixOf>
void add_diagnosis(const Ranking& ranking, bool alone, const PrefixOf& prefix_of, std::vector<Finding>& findings) {
  const Result* modelled = ranking.modelled();
  if (modelled == nullptr) {
    const Result& best = ranking.best();
    if (ranking.results.size() > 1 || is_serial(best)) return;
    findings.push_back({.kind = "diagnosis",
                        .labels = {{"case", best.config.key()}},
                        .text = prefix_of(best) + "no breakdown of the makespan: the model does not cover this case"});
    return;
  }
  findings.push_back(diagnosed(*modelled, prefix_of(*modelled)));
  if (is_worth_trying(*modelled)) findings.push_back(suggested(*modelled, alone, ranking.work(alone)));
}

void add_findings_of(const Ranking& ranking, bool alone, std::vector<Finding>& findings) {
  const auto prefix_of = [&](const Result& r) {
    return alone ? "" : ranking.called.common + ranking.name_of(r) + ": ";
  };
  const auto add = [&findings](std::optional<Finding> finding) {
    if (finding) findings.push_back(std::move(*finding));
  };
  const Result& best = ranking.best();
  const std::string prefix = prefix_of(best);
  if (ranking.results.size() > 1) add(fastest(ranking));
  if (ranking.to_result) add(fastest_to_result(ranking));
  add(versus_serial(best, prefix));
  add(versus_one_gpu(best, prefix));
  add_diagnosis(ranking, alone, prefix_of, findings);
  if (ranking.to_result) add(to_result_of(best, prefix));
}

}  // namespace

std::vector<Finding> diagnose(std::span<const Result* const> results) {
  for (const Result* r : results) {
    if (!r->label("suggestion").empty()) r->needed_metric("suggestion_gain");
  }
  const std::vector<const Result*> measured = with_metric(results, "makespan");
  const std::vector<std::string> axes = varying_axes(measured);
  std::vector<Finding> findings;
  for (const auto& alike : grouped(measured, work_of)) {
    add_findings_of(Ranking(alike, axes), measured.size() == 1, findings);
  }
  constexpr std::size_t kFew = 2;
  for (const char* kind : {"diagnosis", "suggestion", "to-result"}) fold_into_rows(findings, kind, kFew);
  return findings;
}

}  // namespace xferbench
