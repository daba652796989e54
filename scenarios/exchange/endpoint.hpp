// One rank's end of an exchange: its buffers, its timed regions, and the verification of received data.
#pragma once

#include "measure/region.hpp"
#include "run/scenario.hpp"
#include "scenarios/exchange/case.hpp"
#include "scenarios/exchange/flow.hpp"
#include "scenarios/exchange/partner.hpp"

namespace xferbench {

/// Names of the region parts of copies().
inline constexpr const char* kExchangeD2h = "d2h";
inline constexpr const char* kExchangeH2d = "h2d";
/// Name of the region part of round_trips(); each sample is half of a round trip.
inline constexpr const char* kExchangeLatency = "latency";

/// Owns one rank's buffers for sent and received data. The sent data depends on the run's seed and on the rank.
class ExchangeEndpoint : NonCopyable {
 public:
  ExchangeEndpoint(const ExchangeCase& c, const RunContext& bench, Partner& partner);
  ~ExchangeEndpoint();

  /// Fills the source buffers.
  void prepare();

  // The following regions are timed by the host's clock. Each belongs to one turn and does nothing if this rank is idle
  // in that turn. This object must outlive them.

  /// Exchanges the first `bytes` bytes of the payload by the case's method. `shape`, the chunk size and depth, applies
  /// to pipelines only.
  [[nodiscard]] Region exchange(const std::string& name, const ExchangePart& part, const model::ExchangeShape& shape,
                                std::uint64_t bytes);
  /// Repeats round trips, for payloads so small that the clocks of two hosts cannot resolve a single transfer. Both
  /// ends have samples of the region part kExchangeLatency.
  [[nodiscard]] Region round_trips(const std::string& name, const ExchangePart& part, const model::ExchangeShape& shape,
                                   std::uint64_t bytes);
  /// Sends messages from host memory to host memory. With MessageMemory::slots the messages reuse the slots of `shape`,
  /// so that the slots stay in the CPU caches; with MessageMemory::payload each byte has its own place.
  enum class MessageMemory { payload, slots };
  [[nodiscard]] Region messages(const std::string& name, const ExchangePart& part, const model::ExchangeShape& shape,
                                std::uint64_t bytes, MessageMemory through = MessageMemory::payload);
  /// Runs the sender's D2H copy, the receiver's H2D copy, or both at once, each cut into `pieces` copies. Has the
  /// region parts kExchangeD2h and kExchangeH2d.
  [[nodiscard]] Region copies(const std::string& name, const ExchangePart& part, bool d2h, bool h2d,
                              std::uint64_t bytes, std::size_t pieces);

  /// Frees the buffers of regions that no longer exist.
  void release_unused_memory();

  /// Runs one pass of exchange() or round_trips() on poisoned memory and checks what this rank has received.
  void verify(const Region& region, const ExchangePart& part, VerifiedRun run);

 private:
  struct Transfers;
  struct Copies;
  struct RoundTrip;

  [[nodiscard]] bool staged() const {
    return case_.method == ExchangeMethod::pipeline || case_.method == ExchangeMethod::whole;
  }
  [[nodiscard]] std::uint64_t seed_of(int rank) const { return bench_.seed + static_cast<std::uint64_t>(rank); }
  [[nodiscard]] Region region_of(const std::string& name, std::shared_ptr<Transfers> transfers);
  void add_transfer(Transfers& transfers, const ExchangePart& part, const model::ExchangeShape& shape,
                    std::uint64_t bytes);
  void add_staged(Transfers& transfers, const ExchangePart& part, const model::ExchangeShape& shape,
                  std::uint64_t bytes);
  void add_plain(Transfers& transfers, const ExchangePart& part, std::byte* from, std::byte* to, const Chunks& chunks,
                 std::size_t depth, MessageMemory through = MessageMemory::payload);
  [[nodiscard]] double time_round_trips(const RoundTrip& trip);
  void poison(const ExchangePart& part);
  void check(const ExchangePart& part);
  [[nodiscard]] std::span<std::byte> out() const { return {out_.data, out_.bytes}; }
  [[nodiscard]] std::span<std::byte> in() const { return {in_.data, in_.bytes}; }

  ExchangeCase case_;
  const RunContext& bench_;
  const FleetContext& fleet_;
  Partner& partner_;
  FlowWaiting waiting_;
  HostBuffer out_;  // send buffer: filled by D2H copies or, without GPUs, the source itself
  HostBuffer in_;
  DeviceBuffer source_;
  DeviceBuffer destination_;
  std::vector<std::shared_ptr<Transfers>> transfers_;  // outlive their regions, as MPI may still use their memory
};

}  // namespace xferbench
