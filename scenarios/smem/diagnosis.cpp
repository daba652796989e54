#include "scenarios/smem/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/units.hpp"
#include "model/in_flight.hpp"
#include "run/findings.hpp"
#include "scenarios/smem/case.hpp"

namespace xferbench {

namespace {

using Results = std::vector<const Result*>;

bool is_work(std::string_view axis) { return std::ranges::find(kSmemWorkAxes, axis) != kSmemWorkAxes.end(); }

double value(const Result& r, std::string_view metric) {
  const Metric* m = r.metric(metric);
  return m == nullptr ? 0 : m->value;
}

double seconds(const Result* r) { return r->measurement("smem")->median; }

/// The parameters of a case that `wanted` says yes to.
template <class Wanted>
std::string key(const Result& r, const Wanted& wanted) {
  std::string text;
  for (const Case::Param& p : r.config.params()) {
    if (wanted(p.name)) text += p.name + "=" + to_text(p.value, p.kind) + " ";
  }
  return text;
}

/// Groups of results with equal keys, in the order of their first.
std::vector<Results> grouped(std::span<const Result* const> results,
                             const std::function<std::string(const Result&)>& key_of) {
  std::vector<std::pair<std::string, Results>> groups;
  for (const Result* r : results) {
    const std::string own = key_of(*r);
    auto found = std::ranges::find(groups, own, &std::pair<std::string, Results>::first);
    if (found == groups.end()) found = groups.insert(groups.end(), {own, {}});
    found->second.push_back(r);
  }
  std::vector<Results> all;
  for (auto& [text, group] : groups) all.push_back(std::move(group));
  return all;
}

const Result* fastest(std::span<const Result* const> results) {
  return *std::ranges::min_element(results, {}, seconds);
}

/// Axes whose values differ among the results, in the order in which the cases have them.
std::vector<std::string> varying(std::span<const Result* const> results) {
  const auto text = [](const Result& r, const std::string& axis) {
    const Case::Param* p = r.config.find(axis);
    return p == nullptr ? std::string() : to_text(p->value, p->kind);
  };
  std::set<std::string> differ;
  for (const Result* r : results) {
    for (const Case::Param& p : r->config.params()) {
      if (text(*r, p.name) != text(*results.front(), p.name)) differ.insert(p.name);
    }
  }
  std::vector<std::string> names;
  for (const Result* r : results) {
    for (const Case::Param& p : r->config.params()) {
      if (differ.erase(p.name) > 0) names.push_back(p.name);
    }
  }
  return names;
}

/// "tma, tile 4 KiB, stages 3": the values of those axes; a word speaks for itself, a number does not.
std::string description(const Result& r, const std::vector<std::string>& axes) {
  std::string text;
  for (const std::string& axis : axes) {
    const Case::Param* p = r.config.find(axis);
    if (p == nullptr) continue;
    const bool speaks = p->kind == AxisKind::choice && axis != "swizzle" && axis != "copy-bytes" && axis != "store";
    text += (text.empty() ? "" : ", ") + (speaks ? "" : axis + " ") + axis_text(*p);
  }
  return text;
}

/// What each method can do, where several were measured.
void add_best(const Results& work, const std::vector<std::string>& axes, std::vector<Finding>& findings) {
  const auto by_method = grouped(work, [](const Result& r) { return r.config.word("method"); });
  if (by_method.size() < 2) return;
  for (const Results& method : by_method) {
    const Result* best = fastest(method);
    Finding row;
    row.kind = "best";
    for (const std::string& axis : axes) {
      const Case::Param* p = best->config.find(axis);
      if (p != nullptr) row.labels.emplace_back(axis, axis_text(*p));
    }
    row.metrics = {*best->metric("bandwidth"), *best->metric("memory_traffic"), *best->metric("vs_d2d")};
    findings.push_back(std::move(row));
  }
  const Result* winner = fastest(work);
  findings.push_back(
      {.scenario = {},
       .kind = "winner",
       .labels = {{"case", winner->config.key()}},
       .metrics = {*winner->metric("memory_traffic")},
       .text = fmt::format("{} is the fastest: {} GB/s of traffic, {} of a copy by cudaMemcpyAsync",
                           description(*winner, axes), format_significant(value(*winner, "memory_traffic")),
                           format_percent(value(*winner, "vs_d2d")))});
}

/// Whether what holds the loop up is memory: not arithmetic, not blocks that begin, not the counter of tiles.
bool waits_for_memory(const Result& r) {
  const kernels::SmemShape shape = smem_case(r.config).shape;
  if (shape.schedule == kernels::SmemSchedule::one_tile) return false;
  const bool counts = shape.schedule == kernels::SmemSchedule::dynamic;
  if (counts && seconds(&r) < 2 * kTileFromCounter * static_cast<double>(shape.tiles())) return false;
  const Metric* balance = r.metric("memory_to_compute");
  return balance == nullptr || balance->value > 1;
}

/// How long a byte is under way, from those results of one method that had too little in flight.
std::optional<double> latency_of(const Results& results) {
  std::vector<model::Flight> flights;
  for (const Result* r : results) {
    if (waits_for_memory(*r)) flights.push_back({value(*r, "bandwidth"), value(*r, "time_in_flight")});
  }
  return model::latency(flights);
}

/// From how many stages on more of them do not help. `alike`: results that differ in nothing but their stages.
std::optional<Finding> enough_stages(Results alike, std::optional<double> latency,
                                     const std::vector<std::string>& axes) {
  constexpr double kAsFast = 1.01;
  std::ranges::sort(alike, {}, [](const Result* r) { return r->config.count("stages"); });
  if (alike.size() < 3) return std::nullopt;  // two are no sweep
  const Result* best = fastest(alike);
  const Result* enough =
      *std::ranges::find_if(alike, [best](const Result* r) { return seconds(r) <= kAsFast * seconds(best); });
  const std::uint64_t stages = enough->config.count("stages");
  Finding f;
  f.kind = "stages";
  f.labels = {{"case", enough->config.key()}};
  f.metrics = {{"enough_stages", static_cast<double>(stages), "stages"}, *enough->metric("bytes_in_flight")};
  f.text = fmt::format(
      "{}: {} {} enough, the best of {} to {} is less than 1 % faster; up to {} in flight in each "
      "multiprocessor",
      description(*enough, axes), stages, stages == 1 ? "stage is" : "stages are",
      alike.front()->config.count("stages"), alike.back()->config.count("stages"),
      format_size(static_cast<std::uint64_t>(value(*enough, "bytes_in_flight"))));
  if (latency) {
    // What its rate asks for if each byte is under way for `latency`: in proportion to its own time in flight.
    const double needed = value(*enough, "bytes_in_flight") * *latency / value(*enough, "time_in_flight");
    f.metrics.push_back({"latency", *latency, "s"});
    f.metrics.push_back({"needed_in_flight", needed, "B"});
    f.text += fmt::format(", {} needed by Little's law at the {} that a byte takes",
                          format_size(static_cast<std::uint64_t>(needed)), format_seconds(*latency));
  }
  return f;
}

void add_stages(const Results& work, std::vector<std::string> axes, std::vector<Finding>& findings) {
  std::erase(axes, "stages");
  for (const Results& method : grouped(work, [](const Result& r) { return r.config.word("method"); })) {
    const std::optional<double> latency = latency_of(method);
    const auto but_stages = [](const Result& r) {
      return key(r, [](std::string_view axis) { return axis != "stages"; });
    };
    for (const Results& alike : grouped(method, but_stages)) {
      if (auto finding = enough_stages(alike, latency, axes)) findings.push_back(std::move(*finding));
    }
  }
}

}  // namespace

std::vector<Finding> diagnose_smem(std::span<const Result* const> results) {
  Results measured;
  std::ranges::copy_if(results, std::back_inserter(measured),
                       [](const Result* r) { return r->metric("bytes_in_flight") != nullptr; });
  std::vector<std::string> axes = varying(measured);
  if (std::ranges::find(axes, "method") == axes.end()) axes.insert(axes.begin(), "method");
  std::vector<Finding> findings;
  for (const Results& work : grouped(measured, [](const Result& r) { return key(r, is_work); })) {
    add_best(work, axes, findings);
    add_stages(work, axes, findings);
  }
  return findings;
}

}  // namespace xferbench
