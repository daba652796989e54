// Metrics that a scenario declares, and those in its results, as comparable sets of texts.
#pragma once

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <string>

#include "results/result.hpp"
#include "results/scenario_descriptor.hpp"

namespace xferbench::test {

/// Such as "metric bandwidth in GB/s".
inline std::string in_words(MetricDeclaration::Kind kind, const std::string& name, const std::string& unit) {
  return std::string(to_text(kind)) + " " + name + (unit.empty() ? "" : " in " + unit);
}

inline std::set<std::string> declared_by(const ScenarioDescriptor& scenario) {
  std::set<std::string> all;
  for (const MetricDeclaration& m : scenario.metrics) all.insert(in_words(m.kind, m.name, m.unit));
  return all;
}

inline std::set<std::string> written_in(std::span<const Result> results) {
  using Kind = MetricDeclaration::Kind;
  std::set<std::string> all;
  for (const Result& r : results) {
    for (const Measurement& m : r.measurements) all.insert(in_words(Kind::measurement, m.name, m.unit));
    for (const Metric& m : r.metrics) all.insert(in_words(Kind::metric, m.name, m.unit));
    for (const auto& [name, word] : r.labels) all.insert(in_words(Kind::label, name, ""));
  }
  return all;
}

inline std::set<std::string> without(const std::set<std::string>& all, const std::set<std::string>& some) {
  std::set<std::string> left;
  std::ranges::set_difference(all, some, std::inserter(left, left.end()));
  return left;
}

/// Metrics that only a real GPU produces: the simulated one runs neither pointer chases nor sorts.
inline std::set<std::string> of_chases_and_sorts() {
  return {"metric sm_clock in Hz", "metric keys_rate in keys/s", "metric round_trips in round trips",
          "metric host_launches in launches"};
}

/// The same for machines with two GPUs.
inline std::set<std::string> of_peer_reads() {
  return {"measurement latency in s", "measurement nearest in s",    "measurement farthest in s",
          "metric latency in s",      "metric nearest_latency in s", "metric farthest_latency in s",
          "metric readers in 1",      "metric sm_clock in Hz"};
}

/// Written only where a peer path is slow.
inline std::set<std::string> of_slow_peers() {
  return {"measurement staged-copy in s", "metric staged_bandwidth in GB/s"};
}

/// Written only where cuFile reads into a real GPU.
inline std::set<std::string> of_cufile() { return {"label cufile_path"}; }

/// Bytes on the link, which are counted for long copies only.
inline std::set<std::string> of_link_bytes() {
  return {"metric link_to_gpu in 1", "metric link_to_gpu_model in 1", "metric link_to_host in 1",
          "metric link_to_host_model in 1"};
}

}  // namespace xferbench::test
