// Differences between two runs in machine, program and command.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "compare/compare.hpp"
#include "core/lists.hpp"
#include "core/printable.hpp"
#include "core/units.hpp"

namespace xferbench::compare {

namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kUnknown = "unknown";
constexpr const char* kUuid = "GPU's UUID";

std::string known(const std::string& text) { return text.empty() ? kUnknown : text; }

std::string positive(unsigned number) { return number > 0 ? fmt::format("{}", number) : kUnknown; }

std::string yes_or_no(const std::optional<bool>& value) { return !value ? kUnknown : *value ? "yes" : "no"; }

std::string number_or_unknown(const std::optional<int>& value) { return value ? fmt::format("{}", *value) : kUnknown; }

std::string link_text(const std::optional<Environment::Pcie>& link) {
  return link ? fmt::format("Gen{} x{}", link->generation, link->width) : kUnknown;
}

/// Adds the number of GPUs and, if there are several, the properties of each.
void add_gpus(const Environment& e, Facts& facts) {
  facts.emplace_back("GPUs", fmt::format("{}", e.gpu_count()));
  for (std::size_t i = 0; i < e.gpus.size(); ++i) {
    const Environment::Gpu& gpu = e.gpus[i];
    facts.emplace_back(
        fmt::format("GPU {}", e.number_of(i)),
        fmt::format("{}, {}, link {}, {} NVLinks", gpu.name, known(gpu.uuid), link_text(gpu.pcie), gpu.nvlinks));
  }
}

/// Adds the properties of a fleet as a whole; compare/fleets.cpp matches the GPUs of its ranks.
void add_fleet(const Fleet& fleet, Facts& facts) {
  const std::set<int> nodes = set_of(fleet.ranks, &RankPlace::node);
  facts.insert(facts.end(), {{"MPI", fleet.mpi},
                             {"ranks", fmt::format("{}", fleet.ranks.size())},
                             {"nodes", fmt::format("{}", nodes.size())}});
}

/// Returns the properties of the machine and the program that could explain a difference between two runs.
Facts facts_of(const Environment& e, const Tool& tool) {
  const Environment::Gpu& gpu = e.gpu;
  const auto& link = gpu.pcie;
  const Environment::Host& host = e.host;
  Facts facts{
      {"backend", e.simulated() ? "simulated by " + known(e.profile_text()) : e.backend},
      {"GPU", gpu.name},
      {kUuid, known(gpu.uuid)},
      {"driver", known(e.driver)},
      {"CUDA runtime", known(e.runtime)},
      {"GPU memory", gpu.memory_bytes > 0 ? format_memory(gpu.memory_bytes) : kUnknown},
      {"multiprocessors", positive(gpu.multiprocessors)},
      {"highest SM clock", gpu.max_sm_clock_hz > 0 ? fmt::format("{:.0f} MHz", gpu.max_sm_clock_hz / 1e6) : kUnknown},
      {"ECC", yes_or_no(gpu.ecc)},
      {"link", link_text(link)},
      {"link below its maximum", yes_or_no(link ? std::optional(link->below_maximum()) : std::nullopt)},
      {"host CPU", known(host.cpu)},
      {"logical CPUs", positive(host.logical_cpus)},
      // In whole GiB, because the kernel reserves a little memory, and the reserved amount differs between boots.
      {"host memory", host.memory_bytes > 0 ? fmt::format("{} GiB", host.memory_bytes / GiB) : kUnknown},
      {"kernel", known(host.kernel)},
      {"NUMA node", number_or_unknown(host.numa_node)},
      {"GPU's NUMA node", number_or_unknown(host.gpu_numa_node)},
      {"NUMA policy", known(host.numa_policy)},
      {"NUMA note", host.numa_note.empty() ? "none" : host.numa_note},
  };
  add_gpus(e, facts);
  for (const auto& [name, value] : e.variables) facts.emplace_back(name, value.empty() ? "(empty)" : value);
  facts.insert(facts.end(), {{"xferbench", tool.version},
                             {"commit", known(tool.git)},
                             {"build type", known(tool.type)},
                             {"compiler", known(tool.compiler)},
                             {"CUDA toolkit", known(tool.cuda)}});
  return facts;
}

/// Returns the properties of a report's machine; in a fleet, those of all ranks, one rank after the other.
Facts facts_of_all(const Report& report) {
  if (!report.fleet) return facts_of(report.environment, report.tool);
  Facts all;
  for (const RankPlace& place : report.fleet->ranks) {
    Facts facts = facts_of(place.environment, report.tool);
    std::erase_if(facts, [](const auto& fact) { return fact.first == kUuid; });
    std::ranges::move(facts, std::back_inserter(all));
  }
  add_fleet(*report.fleet, all);
  return all;
}

/// Returns the value of a flag in a stored command line; nullopt if the flag was not given.
std::optional<std::string> value_of(const std::vector<std::string>& command, const std::string& flag) {
  std::optional<std::string> value;
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (command[i] == flag && i + 1 < command.size()) value = command[i + 1];
    if (command[i].starts_with(flag + "=")) value = command[i].substr(flag.size() + 1);
  }
  if (value) value = printable(*value);  // replaces control characters, which a file may contain
  return value;
}

/// Adds the flags that change how a case is measured but are not in its key.
void add_command(const std::vector<std::string>& command, Facts& facts) {
  for (const std::string flag : {"--seed", "--ci", "--budget", "--min-samples", "--max-samples"}) {
    facts.emplace_back(flag, value_of(command, flag).value_or("default"));
  }
  const auto passes = value_of(command, "--passes");  // --turns is the older name of --passes
  facts.emplace_back("--passes", passes ? *passes : value_of(command, "--turns").value_or("default"));
  facts.emplace_back("--suite", value_of(command, "--suite").value_or("none"));
  for (const std::string flag : {"--no-verify", "--timeline"}) {
    const bool given = std::ranges::any_of(
        command, [&](const std::string& word) { return word == flag || word.starts_with(flag + "="); });
    facts.emplace_back(flag, given ? "given" : "not given");
  }
}

/// Returns the values of each property on one side. Appends properties that are not in `seen` to `order` and `seen`.
std::map<std::string, std::set<std::string>> values_of(std::span<const NamedReport> side,
                                                       std::vector<std::string>& order, std::set<std::string>& seen) {
  std::map<std::string, std::set<std::string>> values;
  for (const NamedReport& named : side) {
    Facts facts = facts_of_all(named.report);
    add_command(named.report.command, facts);
    for (auto& [name, value] : facts) {
      const auto [of_name, is_new] = values.try_emplace(name);
      if (is_new && seen.insert(name).second) order.push_back(name);
      of_name->second.insert(std::move(value));
    }
  }
  return values;
}

std::string joined(const std::set<std::string>& values) {
  return values.empty() ? "not set" : fmt::format("{}", fmt::join(values, ", "));
}

}  // namespace

std::vector<Difference> differences(std::span<const NamedReport> base, std::span<const NamedReport> new_side) {
  std::vector<std::string> order;
  std::set<std::string> seen;
  auto of_base = values_of(base, order, seen);
  auto of_next = values_of(new_side, order, seen);
  std::vector<Difference> found;
  for (const std::string& what : order) {
    if (of_base[what] != of_next[what]) found.push_back({what, joined(of_base[what]), joined(of_next[what])});
  }
  return found;
}

std::vector<std::string> doubts(const NamedReport& named) {
  const Report& report = named.report;
  std::vector<std::string> found;
  if (!report.complete) found.push_back(named.name + " is incomplete: its run was interrupted or is still running");
  if (report.tool.git.ends_with("-dirty")) {
    found.push_back(fmt::format("{} was made by a build with uncommitted changes ({})", named.name, report.tool.git));
  }
  if (!report.environment.simulated() && report.tool.type == "Debug") {
    found.push_back(named.name + " was made by a debug build");
  }
  const auto look_at = [&](const Environment::Gpu& gpu, const std::string& whose) {
    const auto& link = gpu.pcie;
    if (!link || !link->below_maximum()) return;
    found.push_back(fmt::format("{}: the link{} runs at Gen{} x{}, but the GPU supports Gen{} x{}", named.name, whose,
                                link->generation, link->width, link->max_generation, link->max_width));
  };
  if (report.fleet) {
    for (const RankPlace& place : report.fleet->ranks) {
      look_at(place.environment.gpu, fmt::format(" of rank {} ({})", place.rank, where_text(place)));
    }
    return found;
  }
  const Environment& e = report.environment;
  for (std::size_t i = 0; i < e.gpu_count(); ++i) {
    look_at(e.gpu_at(i), e.gpus.empty() ? "" : fmt::format(" of GPU {}", e.number_of(i)));
  }
  return found;
}

}  // namespace xferbench::compare
