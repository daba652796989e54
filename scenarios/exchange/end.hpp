// Not a scenario: one end of an exchange, with what it sends and what it receives, and the passes that are timed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/non_copyable.hpp"
#include "measure/region.hpp"
#include "run/scenario.hpp"
#include "scenarios/exchange/case.hpp"
#include "scenarios/exchange/flow.hpp"
#include "scenarios/exchange/partner.hpp"

namespace xferbench {

/// Parts of the region of both copies.
inline constexpr const char* kExchangeD2h = "d2h";
inline constexpr const char* kExchangeH2d = "h2d";
/// Of the region of round trips: half of one.
inline constexpr const char* kExchangeLatency = "latency";

/// Memory of one rank, for what it sends and for what it receives. Every byte that it sends follows from the run's seed
/// and its number.
class ExchangeEnd : NonCopyable {
 public:
  ExchangeEnd(const ExchangeCase& c, const RunContext& bench, Partner& partner);
  ~ExchangeEnd();

  /// Real data where it comes from.
  void prepare();

  // Regions of the host's clock, each for one turn; nothing happens in those in which this rank is idle. The end must
  // outlive them.

  /// So many of the payload's first bytes, in the way of the case; pipelines in this shape.
  [[nodiscard]] Region exchange(const std::string& name, const ExchangePart& part, const model::ExchangeShape& shape,
                                std::uint64_t bytes);
  /// The same to and fro, again and again: small payloads take less time than clocks of two hosts agree to. Has the
  /// part kExchangeLatency at both ends.
  [[nodiscard]] Region round_trips(const std::string& name, const ExchangePart& part, const model::ExchangeShape& shape,
                                   std::uint64_t bytes);
  /// From host memory to host memory; through as many slots as the shape has, whose memory stays in caches, or from
  /// where each byte of the payload lies.
  enum class Through { payload, slots };
  [[nodiscard]] Region messages(const std::string& name, const ExchangePart& part, const model::ExchangeShape& shape,
                                std::uint64_t bytes, Through through = Through::payload);
  /// The sender's copy to its host, the receiver's copy from its host, or both at once; each in so many pieces. Has the
  /// parts kExchangeD2h and kExchangeH2d.
  [[nodiscard]] Region copies(const std::string& name, const ExchangePart& part, bool d2h, bool h2d,
                              std::uint64_t bytes, std::size_t pieces);

  /// Gives back what only regions that have gone needed.
  void forget_past_regions();

  /// One pass of the region exchange() or round_trips() on poisoned memory; what has come is checked.
  void verify(const Region& region, const ExchangePart& part, VerifiedRun run);

 private:
  struct Journeys;
  struct Copies;
  struct RoundTrip;

  [[nodiscard]] bool staged() const {
    return case_.method == ExchangeMethod::pipeline || case_.method == ExchangeMethod::whole;
  }
  [[nodiscard]] std::uint64_t seed_of(int rank) const { return bench_.seed + static_cast<std::uint64_t>(rank); }
  [[nodiscard]] Region region_of(const std::string& name, std::shared_ptr<Journeys> journeys);
  void add_journey(Journeys& journeys, const ExchangePart& part, const model::ExchangeShape& shape,
                   std::uint64_t bytes);
  void add_staged(Journeys& journeys, const ExchangePart& part, const model::ExchangeShape& shape, std::uint64_t bytes);
  void add_plain(Journeys& journeys, const ExchangePart& part, std::byte* from, std::byte* to, const Chunks& chunks,
                 std::size_t depth, Through through = Through::payload);
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
  HostBuffer out_;  // on the way out, or the source itself
  HostBuffer in_;
  DeviceBuffer source_;
  DeviceBuffer destination_;
  std::vector<std::shared_ptr<Journeys>> journeys_;  // MPI may know their memory even where their region has gone
};

}  // namespace xferbench
