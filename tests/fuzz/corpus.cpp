#include "fuzz/corpus.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include "app/session.hpp"
#include "compare/spreads.hpp"
#include "measure/statistics.hpp"
#include "results/json.hpp"
#include "run/findings.hpp"
#include "run/runner.hpp"
#include "scenarios/scenarios.hpp"
#include "support/files.hpp"
#include "unit/report_fixture.hpp"

namespace xferbench::fuzz {

namespace {

Measurement sampled(std::string name, std::size_t samples) {
  Measurement m;
  m.name = std::move(name);
  for (std::size_t i = 0; i < samples; ++i) m.samples.push_back(1e-3 + 1e-5 * static_cast<double>(i * 7 % 5));
  statistics::summarise(m);
  return m;
}

Result a_result(const std::string& dir, std::uint64_t size, std::size_t samples) {
  Result r(test::copy_case(dir, "pinned", size));
  r.measurements = {sampled("copy", samples), sampled("call", samples)};
  r.add("bandwidth", 95.25, "GB/s");
  r.labels = {{"limited_by", "link"}};
  r.warnings = {"a \"warning\" \\ with \xC3\xA9 and \n a line's end"};
  return r;
}

Result on_two_gpus() {
  Result r = a_result("h2d", 64, 6);
  r.gpus = {0, 3};
  for (const int gpu : r.gpus) {
    r.measurements.push_back(sampled("copy", 6));
    r.measurements.back().gpu = gpu;
    r.add("bandwidth", 55.5, "GB/s", gpu);
  }
  return r;
}

/// Fills in every measurement, metric and label that the scenario declares.
void make_up(Result& result, std::span<const MetricDeclaration> declared) {
  result.status = Status::ok;
  result.reason.clear();
  for (const MetricDeclaration& d : declared) {
    if (d.kind == MetricDeclaration::Kind::measurement) {
      result.measurements.push_back(sampled(d.name, 8));
      result.measurements.back().unit = d.unit;
    } else if (d.kind == MetricDeclaration::Kind::metric) {
      result.add(d.name, 2 + static_cast<double>(result.metrics.size()), d.unit);
    } else {
      result.labels.emplace_back(d.name, "link");
    }
  }
}

Run run_of(const std::vector<std::string>& arguments) {
  const cli::Command command = cli::parse(arguments, scenarios());
  const auto& run = std::get<cli::RunCommand>(command);
  const ScenarioDescriptor& scenario = run.cases.front().scenario->descriptor();
  const std::array described{&scenario};
  const std::unique_ptr<Machine> machine =
      app::open_machine(run.measuring.device, app::gpus_for(run.measuring.device, described));
  Report report = app::begin_report(run.measuring, machine->device(), std::array{&scenario});
  const RunContext bench{
      *machine, machine->device(), run.measuring.policy, run.measuring.seed, true, [](const SamplingProgress&) {}};
  report.results = run_cases(expanded(run.cases, {report.environment}), bench, {});
  for (Result& result : report.results) {
    if (result.status == Status::skipped) make_up(result, scenario.metrics);
  }
  report.findings = conclude(scenarios(), report.results);
  return {report, Json::parse(to_json(report))};
}

std::vector<std::string> files_in(const char* folder) {
  std::vector<std::string> texts;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(XFERBENCH_SOURCE_DIR "/") + folder)) {
    texts.push_back(test::read_file(entry.path()));
  }
  if (texts.empty()) throw std::runtime_error(std::string("there are no ") + folder);
  std::ranges::sort(texts);  // directory order is arbitrary
  return texts;
}

}  // namespace

std::vector<std::string> made_by_hand() {
  std::vector<std::string> files;
  Report report = test::real_report();
  files.push_back(to_json(report));
  report.environment.gpu.pcie = {5, 8, "nvml", 5, 16, true, 256, 512};
  report.environment.gpu.ecc = true;
  report.environment.host = {"Some CPU", 64, 1ULL << 40, "6.1", 0, 1, "local", "note", {0, 1}};
  report.environment.variables = {{"CUDA_MODULE_LOADING", "EAGER"}};
  Result failed(test::copy_case("d2d", "", 1));
  failed.status = Status::failed;
  failed.reason = "wrong byte";
  report.results = {a_result("h2d", 4096, 12), a_result("d2h", 8192, 1), failed};
  report.findings = {{"copy", "fit", {{"dir", "h2d"}}, {{"latency", 2e-6, "s"}}, ""}, {"copy", "note", {}, {}, "text"}};
  files.push_back(to_json(report));
  report.results = {on_two_gpus()};
  files.push_back(to_json(report));
  report.environment.backend = "simulated";
  report.environment.profile = "h200";
  report.results = {a_result("h2d", 1, 120)};
  files.push_back(to_json(report));
  return files;
}

std::vector<Run> runs_of_all_scenarios() {
  const std::vector<std::string> common{"--budget", "0.01", "--max-samples", "6", "--seed", "1"};
  const std::vector<std::vector<std::string>> all{
      {"p2p", "--simulate", "h200-x2", "--size", "64K,1M,16M", "--dir", "write,read"},
      {"together", "--simulate", "h200-x2", "--size", "16M", "--pattern", "h2d,both"},
      {"multipath", "--simulate", "h200-x2", "--size", "16M", "--share", "50", "--chunk", "4M"},
      {"exchange", "--size", "64K,1M,16M", "--method", "pipeline,whole"},
      {"overlap", "--size", "16M", "--strategy", "serial,streams", "--streams", "2", "--chunks", "2,64"},
      {"memcpy", "--size", "4K,64K,1M", "--dir", "h2d", "--host", "pageable,registered"},
      {"async", "--size", "4K,1M", "--dir", "h2d", "--api", "async"},
      {"alloc", "--size", "4M", "--memory", "malloc,pinned,register"},
      {"staging", "--size", "64K,1M", "--dir", "h2d", "--threads", "2"},
      {"callback", "--size", "1M", "--chunks", "4", "--method", "none,naive,poll,host-func"},
      {"latency", "--op", "launch,graph,wait", "--nodes", "1,8"},
      {"smem", "--size", "64M", "--method", "sync,tma", "--stages", "1,2,3", "--tile", "4K", "--schedule", "dynamic"},
      {"dynpar", "--children", "16,64,256", "--launch", "host,fire-and-forget", "--launchers", "1"},
  };
  std::vector<Run> runs;
  for (std::vector<std::string> arguments : all) {
    arguments.insert(arguments.end(), common.begin(), common.end());
    if (std::ranges::find(arguments, "--simulate") == arguments.end()) arguments.emplace_back("--simulate");
    runs.push_back(run_of(arguments));
  }
  return runs;
}

std::vector<std::string> spreads() {
  std::vector<std::string> texts;
  for (const Run& run : runs_of_all_scenarios()) {
    texts.push_back(to_json(compare::spread_between(std::vector{run.report, run.report})));
  }
  return texts;
}

std::vector<std::string> expectations() {
  std::vector<std::string> texts = files_in("scenarios/expectations");
  texts.emplace_back(R"({"schema": "xferbench-expect/1", "description": "all there is", "gpu": "NVIDIA*", "expect": [
      {"name": "n", "case": "memcpy/dir=h2d/*", "metric": "bandwidth", "at_least": "1 GB/s", "at_most": "1e6 GB/s"},
      {"case": {"scenario": "memcpy", "dir": ["h2d", "d2h"], "size": ">=4K"}, "measurement": "copy",
       "statistic": "p90", "at_most": 1, "unit": "s", "aggregate": "best", "optional": true},
      {"case": {"scenario": "*"}, "metric": "bandwidth", "at_least": {"of": "link", "share": "85 %"},
       "aggregate": "median"}]})");
  return texts;
}

std::vector<std::string> suites() {
  std::vector<std::string> texts = files_in("scenarios/suites");
  texts.emplace_back(R"({"schema": "xferbench-suite/1", "description": "all there is", "turns": 2,
      "sampling": {"ci": 2, "budget": 0.5, "min-samples": 6, "max-samples": 60},
      "runs": ["memcpy --size 4K,64K --dir h2d", "latency --op launch", "--size 16M --streams 1:4 --max-samples 7"]})");
  return texts;
}

std::vector<std::string> explanations() {
  return {test::read_file(XFERBENCH_SOURCE_DIR "/tests/unit/golden/explain/torch.json")};
}

std::vector<std::string> timelines() { return files_in("docs/timelines"); }

std::vector<std::string> profiles() {
  return {R"({"schema": "xferbench-profile/1", "base": "h200-x2", "name": "all", "description": "all there is",
      "gpu": "Some GPU", "uuid": "GPU-1", "host": "node0", "noise": 0.01, "seed": 7,
      "scale": {"link": 0.9, "gpu": 1.1, "host_memory": 0.5, "nvlink": 2},
      "set": {"h2d_rate": 5e10, "copy_engines": 1, "sockets": 1, "socket_memory.in": 1e11, "wake_up": 0},
      "late": {"probability": 0.1, "seconds": 0.002}, "clock": {"offset": -0.3, "drift": 2e-5},
      "network": {"within": {"latency": 1e-6, "bandwidth": 1e10},
                  "between": {"latency": 2e-6, "bandwidth": 2e10}, "jitter": 0.1},
      "inject": "lose:copy:3"})",
          R"({"schema": "xferbench-profile/1", "base": "h200", "name": "one", "set": {"gpus": 2, "nvlinks": 18}})"};
}

}  // namespace xferbench::fuzz
