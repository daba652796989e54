// Chooses the chunk size and depth of an exchange. Both ranks of a pair measure the stages, try the shape that the
// model chooses and some other shapes, and come to the same choice.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "model/exchange.hpp"
#include "run/scenario.hpp"
#include "scenarios/exchange/case.hpp"
#include "scenarios/exchange/endpoint.hpp"
#include "scenarios/exchange/partner.hpp"

namespace xferbench {

/// Maximum bytes of a small payload, which has a latency metric and is not cut into chunks.
inline constexpr std::uint64_t kLargestSmallExchange = 64 << 10;

/// Everything that one rank needs to run a case. The objects behind the references must outlive this object.
struct ActiveExchange {
  const ExchangeCase& c;
  const RunContext& bench;
  Partner& partner;
  ExchangeEndpoint& end;
  std::vector<ExchangePart> turns{};

  /// Index in `turns` of the turn in which this rank receives.
  [[nodiscard]] std::size_t receiving() const {
    return place([](const ExchangePart& p) { return p.from.has_value(); });
  }
  [[nodiscard]] std::size_t sending() const {
    return place([](const ExchangePart& p) { return p.to.has_value(); });
  }

 private:
  template <class Predicate>
  [[nodiscard]] std::size_t place(const Predicate& wanted) const {
    return static_cast<std::size_t>(std::ranges::find_if(turns, wanted) - turns.begin());
  }
};

/// Creates the regions of all turns, in the order of the turns. `of_turn` appends equally many regions for each turn.
/// Creating regions may fail on one rank only (out of memory), so both ranks agree on success before they measure.
template <class OfTurn>
std::vector<Region> exchange_regions(const ActiveExchange& at, const OfTurn& of_turn) {
  std::vector<Region> regions;
  at.partner.together([&] {
    for (const ExchangePart& part : at.turns) of_turn(part, regions);
  });
  return regions;
}

/// The samples of the regions that exchange_regions() has created.
class ExchangeSamples {
 public:
  ExchangeSamples(const ActiveExchange& at, std::vector<Series> series)
      : at_(at), series_(std::move(series)), per_turn_(series_.size() / at.turns.size()) {}

  [[nodiscard]] std::span<const Series> all() const { return series_; }
  /// Returns the samples of the first region of the turn in which this rank receives, or of the region of that turn
  /// with the given name.
  [[nodiscard]] const Series& received() const { return series_.at(at_.receiving() * per_turn_); }
  [[nodiscard]] const Series& received(std::string_view name) const { return named(at_.receiving(), name); }
  /// Returns the samples of a region of the turn in which this rank sends.
  [[nodiscard]] const Series& sent(std::string_view name) const { return named(at_.sending(), name); }

 private:
  [[nodiscard]] const Series& named(std::size_t turn, std::string_view name) const;

  const ActiveExchange& at_;
  std::vector<Series> series_;
  std::size_t per_turn_;
};

/// The GPU copies of both ranks measured alone, each in `in_pieces` pieces: one region per copy or, with both_ways, one
/// region with both copies at once.
struct ExchangeCopies {
  ExchangeCopies(bool both_ways, std::size_t in_pieces);
  void add(const ActiveExchange& at, const ExchangePart& part, std::vector<Region>& regions) const;
  /// Returns the time of this rank's D2H copy.
  [[nodiscard]] const Measurement& d2h(const ExchangeSamples& samples) const;
  [[nodiscard]] const Measurement& h2d(const ExchangeSamples& samples) const;

  std::string d2h_region;
  std::string h2d_region;
  std::size_t pieces;
};

/// How the payload is cut and, for pipelines of large payloads, the stages from which the model predicts the time.
struct ExchangePlan {
  model::ExchangeShape shape;
  std::optional<model::ExchangeStages> stages{};
};
/// Collective: all ranks must call it.
ExchangePlan plan_exchange(const ActiveExchange& at);

}  // namespace xferbench
