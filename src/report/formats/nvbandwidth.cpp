// The JSON output of nvbandwidth (https://github.com/NVIDIA/nvbandwidth), for scripts that read it. Numbers in matrices
// are texts there, and "N/A" stands for a pair of GPUs without a number.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/lists.hpp"
#include "report/formats/formats.hpp"
#include "words/trust.hpp"

namespace xferbench::formats {

namespace {

using NvJson = nlohmann::ordered_json;

using GpuPair = std::pair<int, int>;

/// Where nvbandwidth shows the numbers of a case.
struct NvCell {
  std::string test;
  std::string description{};           ///< text above the matrix, by which readers recognise its direction and unit
  std::vector<std::string> numbers{};  ///< metrics or measurements of the case; each has a matrix of its own
  double factor = 1;                   ///< nvbandwidth's units per unit of results
  std::optional<GpuPair> gpus{};       ///< GPUs of row and column; if absent: the CPU and the first GPU
};

/// Returns the word of the axis; empty if the case has none, or has a number because the file was edited by hand.
std::string word_of(const Case& c, std::string_view axis) {
  const Case::Param* param = c.find(axis);
  const auto* word = param == nullptr ? nullptr : std::get_if<std::string>(&param->value);
  return word == nullptr ? "" : *word;
}

/// nvbandwidth copies from and to pinned memory. With both directions, it measures one while the other one is busy.
std::vector<NvCell> cells_of_memcpy(const Case& c) {
  const std::string dir = word_of(c, "dir");
  const std::string engine = word_of(c, "engine");
  if (dir == "d2d" && engine == "ce") {
    return {{"device_local_copy", "memcpy local GPU(column) bandwidth (GB/s)", {"bandwidth"}}};
  }
  if (word_of(c, "host") != "pinned" || engine.empty() || word_of(c, "api") == "sync" || c.has("touch")) return {};
  const auto between = [&](std::string_view arrow) {
    return fmt::format("memcpy {} CPU(row) {} GPU(column) bandwidth (GB/s)", engine == "sm" ? "SM" : "CE", arrow);
  };
  if (dir == "h2d") return {{"host_to_device_memcpy_" + engine, between("->"), {"bandwidth"}}};
  if (dir == "d2h") return {{"device_to_host_memcpy_" + engine, between("<-"), {"bandwidth"}}};
  if (engine != "ce") return {};  // no equal test: a kernel of nvbandwidth copies both ways
  return {{"host_to_device_bidirectional_memcpy_ce", between("<->"), {"h2d_beside_bandwidth"}},
          {"device_to_host_bidirectional_memcpy_ce", between("<->"), {"d2h_beside_bandwidth"}}};
}

/// Returns the GPUs of the axis `pairs`, or of `from` and `to`; nothing if they do not name one pair.
std::optional<GpuPair> pair_of(const Case& c) {
  std::vector<std::string> ends = split(word_of(c, "pairs"), '-');
  if (ends.empty()) ends = {word_of(c, "from"), word_of(c, "to")};
  const std::vector<int> gpus = found_for(ends, [](const std::string& text) {
    int gpu = 0;
    const bool is_number = std::from_chars(text.data(), text.data() + text.size(), gpu).ec == std::errc();
    return is_number ? std::optional(gpu) : std::nullopt;
  });
  return gpus.size() == 2 ? std::optional(std::pair(gpus[0], gpus[1])) : std::nullopt;
}

/// nvbandwidth's rows are the GPUs that run the copy or read. For copies in both directions, it appends a matrix for
/// the data to the row's GPU, one for the data from it, and one for the sum.
std::vector<NvCell> cells_of_p2p(const Case& c) {
  const std::optional<GpuPair> ends = pair_of(c);
  if (!ends) return {};
  const GpuPair back(ends->second, ends->first);
  if (word_of(c, "lies-in") == "memory") {
    return {{"device_to_device_latency_sm",
             "Device to Device Latency SM GPU(row) <-> GPU(column) (ns)",
             {"latency"},
             1e9,
             back}};
  }
  const std::string engine = word_of(c, "engine");
  if (word_of(c, "access") != "peer" || engine.empty()) return {};
  const auto between = [&](std::string_view arrow, std::string_view total = "") {
    return fmt::format("memcpy {} GPU(row) {} GPU(column) {}bandwidth (GB/s)", engine == "sm" ? "SM" : "CE", arrow,
                       total);
  };
  const std::string dir = word_of(c, "dir");
  if (dir == "write") return {{"device_to_device_memcpy_write_" + engine, between("<-"), {"bandwidth"}, 1, ends}};
  if (dir == "read") return {{"device_to_device_memcpy_read_" + engine, between("->"), {"bandwidth"}, 1, back}};
  return {
      {fmt::format("device_to_device_bidirectional_memcpy_{}_{}", dir == "bidirectional" ? "write" : "read", engine),
       between("<->", "Total "),
       {"backward_bandwidth", "forward_bandwidth"},
       1,
       ends}};
}

std::vector<NvCell> cells_of(const Result& result) {
  const Case& c = result.config;
  if (result.in_fleet) return {};
  if (c.scenario() == "memcpy") return cells_of_memcpy(c);
  if (c.scenario() == "p2p") return cells_of_p2p(c);
  if (c.scenario() != "latency" || word_of(c, "memory") != "host") return {};
  return {{"host_device_latency_sm", "memory latency SM CPU(row) <-> GPU(column) (ns)", {"latency"}, 1e9}};
}

/// Returns the values of the cell's numbers and, if there are several, their sum; nothing if the case lacks one.
std::vector<double> values_of(const NvCell& cell, const Result& result) {
  std::vector<double> values = found_for(cell.numbers, [&](const std::string& name) -> std::optional<double> {
    const Metric* metric = result.metric(name);
    const double value = (metric == nullptr ? result.median(name) : metric->value) * cell.factor;
    return value > 0 && std::isfinite(value) ? std::optional(value) : std::nullopt;
  });
  if (values.size() != cell.numbers.size()) return {};
  if (values.size() > 1) values.push_back(total_of(values));
  return values;
}

/// Returns the value of axis `size`; 0 if the case has none.
std::uint64_t bytes_of(const Result& result) {
  const Case::Param* param = result.config.find("size");
  const auto* bytes = param == nullptr ? nullptr : std::get_if<std::uint64_t>(&param->value);
  return bytes == nullptr ? 0 : *bytes;
}

/// A test case of nvbandwidth, with the results that it shows.
struct NvTest {
  NvCell cell;                                 ///< the cell of nvbandwidth's output that shows the first result
  std::map<GpuPair, const Result*> results{};  ///< by the GPUs of row and column; of several sizes, the largest
  std::string error{};                         ///< why a case failed
  bool is_waived = false;                      ///< whether a case was skipped
};

void add_result(NvTest& test, const NvCell& cell, const Report& report, const Result& result) {
  if (result.status == Status::failed && test.error.empty()) test.error = result.reason;
  test.is_waived = test.is_waived || result.status == Status::skipped;
  const std::vector<int> gpus = report.environment.gpu_numbers();
  const GpuPair place = cell.gpus.value_or(GpuPair(gpus.front(), gpus.front()));
  if (!has_item(gpus, place.first) || !has_item(gpus, place.second)) return;
  if (!is_usable(report, result) || values_of(cell, result).empty()) return;
  const Result*& shown = test.results[place];
  if (shown == nullptr || bytes_of(*shown) < bytes_of(result)) shown = &result;
}

NvJson json_of(const NvTest& test, const std::vector<int>& gpus) {
  if (!test.error.empty()) return {{"name", test.cell.test}, {"status", "Error"}, {"error", test.error}};
  if (test.results.empty()) return {{"name", test.cell.test}, {"status", "Waived"}};
  NvJson rows = NvJson::array();
  std::vector<double> last;  // numbers of the last matrix
  for (std::size_t i = 0; i < values_of(test.cell, *test.results.begin()->second).size(); ++i) {
    last.clear();
    for (const int row : test.cell.gpus ? gpus : std::vector{gpus.front()}) {
      rows.push_back(list_of(gpus, [&](int column) -> std::string {
        const auto found = test.results.find({row, column});
        if (found == test.results.end()) return "N/A";
        last.push_back(values_of(test.cell, *found->second)[i]);
        return fmt::format("{:.6g}", last.back());
      }));
    }
  }
  return {{"name", test.cell.test},
          {"status", "Passed"},
          {"bandwidth_description", test.cell.description},
          {"bandwidth_matrix", std::move(rows)},
          {"sum", total_of(last)},
          {"min", std::ranges::min(last)},
          {"max", std::ranges::max(last)},
          {"average", total_of(last) / static_cast<double>(last.size())}};
}

/// Returns CUDA's number of a version, for example 13000 for "13.0"; 0 for a simulated device.
int cuda_number(const std::string& version) {
  int number = 0;
  for (const std::string& part : split(version, '.')) {
    int value = 0;
    std::from_chars(part.data(), part.data() + part.size(), value);
    number = number == 0 ? 1000 * value : number + 10 * value;
  }
  return number;
}

NvJson head_of(const Report& report) {
  const Environment& e = report.environment;
  NvJson devices = NvJson::array();
  for (std::size_t i = 0; i < e.gpu_count(); ++i) {
    const Environment::Gpu& gpu = e.gpu_at(i);
    const std::string bus = gpu.pci_bus_id.empty() ? "" : fmt::format(" ({})", gpu.pci_bus_id);
    devices.push_back(fmt::format("{}: {}{}", e.number_of(i), gpu.name, bus));
  }
  NvJson head{{"CUDA Runtime Version", cuda_number(e.runtime)},
              {"Driver Version", e.driver.substr(0, e.driver.find(' '))},
              {"GPU Device list", std::move(devices)},
              {"git_version", report.tool.git},
              {"version", "xferbench " + report.tool.version}};
  const Trust trust = trust_of(report);
  std::vector<std::string> warnings = trust.alarms();
  if (!trust.complete) warnings.push_back(trust.incomplete_text());
  if (!warnings.empty()) head["warning"] = fmt::format("{}", fmt::join(warnings, "; "));
  return head;
}

}  // namespace

Formatted to_nvbandwidth(const Report& report) {
  std::vector<NvTest> tests;
  for (const Result& result : report.results) {
    for (NvCell& cell : cells_of(result)) {
      NvTest* test = found_in(tests, cell.test, [](const NvTest& known) { return known.cell.test; });
      if (test == nullptr) test = &tests.emplace_back(NvTest{.cell = cell});
      add_result(*test, cell, report, result);
    }
  }
  std::erase_if(tests, [](const NvTest& t) { return t.results.empty() && t.error.empty() && !t.is_waived; });
  NvJson body = head_of(report);
  body["testcases"] =
      list_of(tests, [&](const NvTest& test) { return json_of(test, report.environment.gpu_numbers()); });
  std::set<const Result*> shown;
  for (const NvTest& test : tests) {
    for (const auto& [place, result] : test.results) {
      if (test.error.empty()) shown.insert(result);
    }
  }
  return {NvJson{{"nvbandwidth", std::move(body)}}.dump(1, '\t', false, NvJson::error_handler_t::replace) + "\n",
          report.results.size() - shown.size()};
}

}  // namespace xferbench::formats
