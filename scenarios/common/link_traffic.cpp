#include "scenarios/common/link_traffic.hpp"

#include <cmath>

#include "core/health.hpp"
#include "core/units.hpp"
#include "model/pcie.hpp"

namespace xferbench {

namespace {

constexpr std::uint64_t kLong = 64 * MiB;  // minimum bytes of a pass per direction; with less, other traffic matters
// Bytes per direction in all passes. Moving them takes 40 ms at Gen5 x16, so delays of the counters are negligible.
constexpr std::uint64_t kEnough = 2048 * MiB;
// Maximum bytes per direction over all passes, so that a 32-bit counter cannot wrap twice. With packets of 128 bytes in
// both directions, each payload byte puts 1.375 bytes on the link, and 0.06 more if acknowledgements are counted.
constexpr std::uint64_t kMost = 2816 * MiB;

/// Returns the increase of a counter that wraps at 2^32 bytes (NVML: "can be wrapped"). The result is also right if the
/// counter wraps at a larger power of two.
double grown(double before, double after) {
  constexpr double kTurn = 4294967296.0;
  const double less = std::fmod(after - before, kTurn);
  return less < 0 ? less + kTurn : less;
}

/// Returns the number of passes: enough to move kEnough bytes, but so few that a counter cannot wrap more than once.
std::uint64_t passes_of(std::uint64_t one_way) {
  return std::min((kEnough + one_way - 1) / one_way, std::max<std::uint64_t>(1, kMost / one_way));
}

/// Returns the bytes on the link during `passes` passes; nothing if not all of them ran or the driver has no counters.
std::optional<LinkBytes> carried(const RunContext& bench, const Region& region, std::uint64_t passes) {
  const auto before = bench.device.link_bytes();
  if (!before) return std::nullopt;
  for (std::uint64_t i = 0; i < passes; ++i) {
    if (bench.stopped()) return std::nullopt;
    run_once(bench.machine, region);
  }
  const auto after = bench.device.link_bytes();
  if (!after) return std::nullopt;
  return LinkBytes{.sent = grown(before->sent, after->sent), .received = grown(before->received, after->received)};
}

}  // namespace

void report_link_traffic(const RunContext& bench, const Region& region, LinkPayload payload, Result& result) {
  const std::uint64_t one_way = std::max(payload.to_gpu, payload.to_host);
  const auto& link = bench.device.capabilities().environment.gpu.pcie;
  if (one_way < kLong || one_way > kMost || !link) return;
  const std::uint64_t passes = passes_of(one_way);
  const auto bytes = carried(bench, region, passes);
  if (!bytes) return;
  const model::PcieCost cost = model::pcie_cost(*link);
  const double all = static_cast<double>(passes * one_way);
  const double in = static_cast<double>(payload.to_gpu) / static_cast<double>(one_way);
  const double out = static_cast<double>(payload.to_host) / static_cast<double>(one_way);
  result.add("link_to_gpu", bytes->received / all, "1");
  result.add("link_to_gpu_model", in * cost.completions, "1");
  result.add("link_to_host", bytes->sent / all, "1");
  result.add("link_to_host_model", in * cost.requests + out * cost.writes, "1");
}

}  // namespace xferbench
