#include "scenarios/p2p/case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/units.hpp"
#include "model/pcie.hpp"

namespace xferbench {

namespace {

/// Default bytes of the buffer for the pointer chase: larger than any L2 cache, as in scenario latency.
constexpr std::size_t kUsualBuffer = 256 * MiB;

const char* const kMalformed =
    "write a pair of GPUs as in --pairs 0-1; --from and --to take single GPUs, as in --from 0,1";

Case of_pair(const Case& c, int from, int to) {
  const std::array ends{Case::Param{"from", AxisKind::gpus, std::to_string(from)},
                        Case::Param{"to", AxisKind::gpus, std::to_string(to)}};
  const Case rest = c.find("from") == nullptr ? c : c.with("to", {});
  for (const char* axis : {"pairs", "from", "to"}) {
    if (rest.find(axis) != nullptr) return rest.with(axis, ends);
  }
  return c;
}

/// Returns the PCIe limit of a pair of GPUs in payload bytes per second: the limit of the slower of their two links.
/// Direct copies are assumed to be writes, without read requests on the link, so both directions reach twice the limit
/// of one. Both directions of staged copies have the limit PcieLimits::both.
double bus_limit(const P2pCase& c, const Environment& environment) {
  std::vector<double> limits;
  for (const std::size_t place : places_of(c.named(), environment)) {
    const model::PcieLimits link = model::pcie_limits(environment.gpu_at(place).pcie);
    const double both = c.staged ? link.both : 2 * link.d2h;
    limits.push_back(c.both_ways() ? both : link.d2h);
  }
  return limits.empty() ? 0 : std::ranges::min(limits);
}

/// Returns why a case makes no sense on any machine; nothing if the case is valid.
std::optional<SkipReason> broken_rule(const P2pCase& c) {
  if (c.malformed) return SkipReason::impossible(kMalformed);
  if (c.is_of_one_pair() && c.from == c.to) {
    return SkipReason::meaningless(fmt::format(
        "GPU {} cannot be a pair with itself; for copies inside a GPU, use memcpy --dir d2d", c.from.front()));
  }
  if (c.staged && c.engine == Engine::multiprocessors) {
    return SkipReason::meaningless(
        "a kernel accesses the other GPU's memory directly, which contradicts --access staged; choose --engine ce");
  }
  if (c.staged && c.memory != GpuMemory::whole) {
    return SkipReason::meaningless("--access staged is for memory from cudaMalloc only; choose --device-memory malloc");
  }
  return std::nullopt;
}

}  // namespace

std::vector<int> P2pCase::named() const {
  std::vector<int> gpus = from;
  gpus.insert(gpus.end(), to.begin(), to.end());
  return gpus;
}

P2pCase p2p_case(const Case& c) {
  P2pCase p;
  const std::vector<int> pair = gpu_numbers(c.has("pairs") ? c.word("pairs") : "");
  p.from = gpu_numbers(c.has("from") ? c.word("from") : "");
  p.to = gpu_numbers(c.has("to") ? c.word("to") : "");
  p.malformed = (!pair.empty() && pair.size() != 2) || p.from.size() > 1 || p.to.size() > 1;
  if (pair.size() == 2) {
    p.from = {pair[0]};
    p.to = {pair[1]};
  }
  p.latency = c.is("op", "latency");
  p.buffer = c.count_or("buffer", kUsualBuffer);
  p.cached = c.is("lies-in", "l2");
  if (p.latency) return p;
  p.direction = c.one_of<PeerDirection>("dir", kPeerDirections);
  p.engine = c.is("engine", "sm") ? Engine::multiprocessors : Engine::copy_engine;
  p.staged = c.is("access", "staged");
  if (c.has("device-memory")) p.memory = c.one_of<GpuMemory>("device-memory", kGpuMemoryNames);
  p.size = c.count("size");
  return p;
}

std::vector<Case> pairs_of(const Case& c, const GpusOfRun& gpus) {
  const P2pCase p = p2p_case(c);
  if (p.malformed) return {c};
  if (p.is_of_one_pair()) return {of_pair(c, p.from.front(), p.to.front())};
  if (missing_gpus(p.named(), gpus.environment)) return {c};
  const std::vector<int> all = gpus.numbers();
  std::vector<Case> cases;
  for (const int from : p.from.empty() ? all : p.from) {
    for (const int to : p.to.empty() ? all : p.to) {
      if (from != to) cases.push_back(of_pair(c, from, to));
    }
  }
  return cases.empty() ? std::vector{c} : cases;
}

double payload_limit(const P2pCase& c, const Environment& environment) {
  const Environment::PeerLink link = environment.link(c.from.front(), c.to.front());
  const bool by_nvlink = !c.staged && link.nvlinks > 0;
  if (!by_nvlink) return bus_limit(c, environment);
  return (c.both_ways() ? 2 : 1) * link.bandwidth;
}

std::optional<SkipReason> p2p_skip_reason(const P2pCase& c, const Capabilities* can) {
  if (auto reason = broken_rule(c)) return reason;
  if (can == nullptr) return std::nullopt;
  const Environment& environment = can->environment;
  if (environment.gpu_count() < 2) return SkipReason::unavailable("needs two GPUs, but this run has one");
  if (auto reason = missing_gpus(c.named(), environment)) return reason;
  if (!c.is_of_one_pair()) return std::nullopt;
  if (c.latency || !c.staged) {
    auto reason = missing_access(c.named(), c.named(), environment);
    if (reason && !c.latency) reason->text += "; --access staged copies through the host";
    if (reason) return reason;
  }
  if (c.latency && environment.simulated())
    return SkipReason::unavailable("the simulator does not model memory latency");
  return std::nullopt;
}

}  // namespace xferbench
