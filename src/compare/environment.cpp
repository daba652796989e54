// What two runs do not have in common beside their results.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "compare/compare.hpp"
#include "core/units.hpp"

namespace xferbench::compare {

namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kUnknown = "unknown";

std::string known(const std::string& text) { return text.empty() ? kUnknown : text; }

template <class Number>
std::string positive(Number number) {
  return number > 0 ? fmt::format("{}", number) : kUnknown;
}

std::string yes_or_no(const std::optional<bool>& value) { return !value ? kUnknown : *value ? "yes" : "no"; }

std::string number_or_unknown(const std::optional<int>& value) { return value ? fmt::format("{}", *value) : kUnknown; }

void add_gpu(const Environment& e, Facts& facts) {
  facts.emplace_back("GPU", e.gpu.name);
  facts.emplace_back("GPU's UUID", known(e.gpu.uuid));
  facts.emplace_back("driver", known(e.driver));
  facts.emplace_back("CUDA runtime", known(e.runtime));
  facts.emplace_back("GPU memory", e.gpu.memory_bytes > 0 ? format_size(e.gpu.memory_bytes) : kUnknown);
  facts.emplace_back("multiprocessors", positive(e.gpu.multiprocessors));
  facts.emplace_back("highest SM clock",
                     e.gpu.max_sm_clock_hz > 0 ? fmt::format("{:.0f} MHz", e.gpu.max_sm_clock_hz / 1e6) : kUnknown);
  facts.emplace_back("ECC", yes_or_no(e.gpu.ecc));
  const auto& link = e.gpu.pcie;
  facts.emplace_back("link", link ? fmt::format("Gen{} x{}", link->generation, link->width) : kUnknown);
  facts.emplace_back("link below its maximum", yes_or_no(link ? std::optional(link->below_maximum()) : std::nullopt));
}

void add_host(const Environment& e, Facts& facts) {
  facts.emplace_back("host CPU", known(e.host.cpu));
  facts.emplace_back("logical CPUs", positive(e.host.logical_cpus));
  // The system keeps a little for itself, and how little changes from boot to boot.
  facts.emplace_back("host memory",
                     e.host.memory_bytes > 0 ? fmt::format("{} GiB", e.host.memory_bytes / GiB) : kUnknown);
  facts.emplace_back("kernel", known(e.host.kernel));
  facts.emplace_back("NUMA node", number_or_unknown(e.host.numa_node));
  facts.emplace_back("GPU's NUMA node", number_or_unknown(e.host.gpu_numa_node));
  facts.emplace_back("NUMA policy", known(e.host.numa_policy));
  facts.emplace_back("NUMA note", e.host.numa_note.empty() ? "none" : e.host.numa_note);
  for (const auto& [name, value] : e.variables) facts.emplace_back(name, value.empty() ? "(empty)" : value);
}

void add_tool(const Tool& tool, Facts& facts) {
  facts.emplace_back("xferbench", tool.version);
  facts.emplace_back("commit", known(tool.git));
  facts.emplace_back("build type", known(tool.type));
  facts.emplace_back("compiler", known(tool.compiler));
  facts.emplace_back("CUDA toolkit", known(tool.cuda));
}

/// What follows a flag; nothing where it was not given.
std::optional<std::string> value_of(const std::vector<std::string>& command, const std::string& flag) {
  std::optional<std::string> value;
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (command[i] == flag && i + 1 < command.size()) value = command[i + 1];
    if (command[i].starts_with(flag + "=")) value = command[i].substr(flag.size() + 1);
  }
  return value;
}

/// What changes how a case is measured and is no part of its key.
void add_command(const std::vector<std::string>& command, Facts& facts) {
  for (const std::string flag : {"--seed", "--ci", "--budget", "--min-samples", "--max-samples", "--turns"}) {
    facts.emplace_back(flag, value_of(command, flag).value_or("the default"));
  }
  facts.emplace_back("--suite", value_of(command, "--suite").value_or("none"));
  for (const std::string flag : {"--no-verify", "--timeline"}) {
    const bool given = std::ranges::any_of(
        command, [&](const std::string& word) { return word == flag || word.starts_with(flag + "="); });
    facts.emplace_back(flag, given ? "given" : "not given");
  }
}

Facts facts_of(const Report& report) {
  Facts facts;
  const Environment& e = report.environment;
  facts.emplace_back("backend", e.simulated() ? "simulated by " + known(e.profile) : e.backend);
  add_gpu(e, facts);
  add_host(e, facts);
  add_tool(report.tool, facts);
  add_command(report.command, facts);
  return facts;
}

/// The values that a side has of each fact; `order` gets names that are new.
std::map<std::string, std::set<std::string>> values_of(std::span<const NamedReport> side,
                                                       std::vector<std::string>& order) {
  std::map<std::string, std::set<std::string>> values;
  for (const NamedReport& named : side) {
    for (auto& [name, value] : facts_of(named.report)) {
      if (std::ranges::find(order, name) == order.end()) order.push_back(name);
      values[name].insert(std::move(value));
    }
  }
  return values;
}

std::string joined(const std::set<std::string>& values) {
  return values.empty() ? "not set" : fmt::format("{}", fmt::join(values, ", "));
}

}  // namespace

std::vector<Difference> differences(std::span<const NamedReport> base, std::span<const NamedReport> next) {
  std::vector<std::string> order;
  auto of_base = values_of(base, order);
  auto of_next = values_of(next, order);
  std::vector<Difference> found;
  for (const std::string& what : order) {
    if (of_base[what] != of_next[what]) found.push_back({what, joined(of_base[what]), joined(of_next[what])});
  }
  return found;
}

std::vector<std::string> doubts(const NamedReport& named) {
  const Report& report = named.report;
  std::vector<std::string> found;
  if (!report.complete) found.push_back(named.name + " is incomplete: its run was interrupted, or still goes on");
  if (report.tool.git.ends_with("-dirty")) {
    found.push_back(fmt::format("{} was made by a program with uncommitted changes ({})", named.name, report.tool.git));
  }
  if (!report.environment.simulated() && report.tool.type == "Debug") {
    found.push_back(named.name + " was made by a debug build");
  }
  const auto& link = report.environment.gpu.pcie;
  if (link && link->below_maximum()) {
    found.push_back(fmt::format("{}: the link runs at Gen{} x{}, and the GPU can do Gen{} x{}", named.name,
                                link->generation, link->width, link->max_generation, link->max_width));
  }
  return found;
}

}  // namespace xferbench::compare
