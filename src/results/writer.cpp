#include "results/writer.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "version.hpp"

namespace xferbench {

namespace {

using Json = nlohmann::ordered_json;

void put_text(Json& object, const char* name, const std::string& text) {
  if (!text.empty()) object[name] = text;
}

template <class Number>
void put_positive(Json& object, const char* name, Number number) {
  if (number > 0) object[name] = number;
}

template <class T>
void put_known(Json& object, const char* name, const std::optional<T>& value) {
  if (value) object[name] = *value;
}

Json tool() {
  Json build = {{"compiler", build::kCompiler}};
  put_text(build, "cuda", build::kCuda);
  put_text(build, "type", build::kType);
  Json json = {{"version", build::kVersion}};
  put_text(json, "git", build::kGit);
  json["build"] = std::move(build);
  return json;
}

Json pcie_json(const Environment::Pcie& link) {
  Json json = {{"generation", link.generation}, {"width", link.width}, {"source", link.source}};
  put_positive(json, "max_generation", link.max_generation);
  put_positive(json, "max_width", link.max_width);
  json["under_load"] = link.under_load;
  return json;
}

Json gpu_json(const Environment::Gpu& gpu) {
  Json json = {{"name", gpu.name}};
  put_known(json, "index", gpu.index);
  put_text(json, "uuid", gpu.uuid);
  put_text(json, "pci_bus_id", gpu.pci_bus_id);
  put_text(json, "compute_capability", gpu.compute_capability);
  put_positive(json, "multiprocessors", gpu.multiprocessors);
  put_positive(json, "memory_bytes", gpu.memory_bytes);
  put_positive(json, "l2_bytes", gpu.l2_bytes);
  put_positive(json, "copy_engines", gpu.copy_engines);
  put_positive(json, "max_sm_clock_hz", gpu.max_sm_clock_hz);
  put_positive(json, "memory_bandwidth", gpu.memory_bandwidth);
  put_known(json, "ecc", gpu.ecc);
  if (gpu.pcie) {
    json["pcie"] = pcie_json(*gpu.pcie);
  }
  return json;
}

Json host_json(const Environment::Host& host) {
  Json json = Json::object();
  put_text(json, "cpu", host.cpu);
  put_positive(json, "logical_cpus", host.logical_cpus);
  put_positive(json, "memory_bytes", host.memory_bytes);
  put_text(json, "kernel", host.kernel);
  put_known(json, "numa_node", host.numa_node);
  put_known(json, "gpu_numa_node", host.gpu_numa_node);
  put_text(json, "numa_policy", host.numa_policy);
  put_text(json, "numa_note", host.numa_note);
  return json;
}

Json environment_json(const Environment& environment) {
  Json json = {{"backend", environment.backend}};
  put_text(json, "profile", environment.profile);
  json["gpu"] = gpu_json(environment.gpu);
  put_text(json, "driver", environment.driver);
  put_text(json, "runtime", environment.runtime);
  json["host"] = host_json(environment.host);
  Json variables = Json::object();
  for (const auto& [name, value] : environment.variables) variables[name] = value;
  json["variables"] = std::move(variables);
  return json;
}

Json measurement_json(const Measurement& m) {
  Json json = {
      {"name", m.name}, {"clock", to_text(m.clock)}, {"unit", m.unit}, {"samples", m.samples}, {"n", m.samples.size()}};
  if (!m.samples.empty()) {
    json["min"] = m.min;
    json["median"] = m.median;
    json["max"] = m.max;
  }
  if (m.ci95) json["ci95"] = {m.ci95->low, m.ci95->high};
  put_known(json, "p90", m.p90);
  put_known(json, "p99", m.p99);
  json["stop"] = to_text(m.stop);
  json["batch"] = m.batch;
  json["warmup"] = {{"runs", m.warmup_runs}, {"converged", m.warmup_converged}};
  json["outliers"] = {{"mild", m.outliers_mild}, {"severe", m.outliers_severe}};
  put_positive(json, "gate_timeouts", m.gate_timeouts);
  json["flags"] = m.flags;
  return json;
}

Json params_json(const Case& c) {
  Json json = Json::object();
  for (const Case::Param& param : c.params()) {
    std::visit([&](const auto& value) { json[param.name] = value; }, param.value);
  }
  return json;
}

Json metrics_json(const std::vector<Metric>& metrics) {
  Json json = Json::object();
  for (const Metric& metric : metrics) {
    if (std::isfinite(metric.value)) json[metric.name] = {{"value", metric.value}, {"unit", metric.unit}};
  }
  return json;
}

Json labels_json(const std::vector<std::pair<std::string, std::string>>& labels) {
  Json json = Json::object();
  for (const auto& [name, word] : labels) json[name] = word;
  return json;
}

Json result_json(const Result& r) {
  Json json = {{"scenario", r.config.scenario()}, {"key", r.config.key()}, {"params", params_json(r.config)},
               {"status", to_text(r.status)},     {"reason", r.reason},    {"warnings", r.warnings},
               {"measurements", Json::array()}};
  for (const Measurement& m : r.measurements) json["measurements"].push_back(measurement_json(m));
  json["metrics"] = metrics_json(r.metrics);
  json["labels"] = labels_json(r.labels);
  return json;
}

Json finding_json(const Finding& f) {
  Json json = {{"scenario", f.scenario},
               {"kind", f.kind},
               {"labels", labels_json(f.labels)},
               {"metrics", metrics_json(f.metrics)}};
  put_text(json, "text", f.text);
  return json;
}

}  // namespace

std::string to_json(const Report& report) {
  Json json = {{"schema", "xferbench/1"},         {"complete", report.complete},
               {"started_at", report.started_at}, {"tool", tool()},
               {"command", report.command},       {"environment", environment_json(report.environment)},
               {"results", Json::array()},        {"findings", Json::array()}};
  if (!report.resumed_at.empty()) json["resumed_at"] = report.resumed_at;
  for (const Result& r : report.results) json["results"].push_back(result_json(r));
  for (const Finding& f : report.findings) json["findings"].push_back(finding_json(f));
  // Names from the machine may hold any bytes; what is not UTF-8 becomes a replacement character, not an exception.
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace xferbench
