// Not a scenario: how an exchange is cut into messages. Both ends measure the stages by themselves, ask the model, try
// what it says beside a few others, and come to the same.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "measure/sampler.hpp"
#include "model/exchange.hpp"
#include "run/scenario.hpp"
#include "scenarios/exchange/case.hpp"
#include "scenarios/exchange/end.hpp"
#include "scenarios/exchange/partner.hpp"

namespace xferbench {

/// Payloads up to this are small: they have a latency, and are not worth cutting.
inline constexpr std::uint64_t kLargestSmallExchange = 64 << 10;

/// Everything that one rank needs in one case. Refers to what it is given.
struct ExchangeAtWork {
  const ExchangeCase& c;
  const RunContext& bench;
  Partner& partner;
  ExchangeEnd& end;
  std::vector<ExchangePart> turns{};

  /// In which this rank receives, and in which it sends.
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

/// Makes the regions of every turn, turn by turn and as many in each. One end may fail in this (memory is allocated)
/// while the other one has already begun to measure, so both agree on having them.
template <class OfTurn>
std::vector<Region> exchange_regions(const ExchangeAtWork& at, const OfTurn& of_turn) {
  std::vector<Region> regions;
  at.partner.together([&] {
    for (const ExchangePart& part : at.turns) of_turn(part, regions);
  });
  return regions;
}

/// What was sampled of such regions.
class ExchangeSamples {
 public:
  ExchangeSamples(const ExchangeAtWork& at, std::vector<Series> series)
      : at_(at), series_(std::move(series)), per_turn_(series_.size() / at.turns.size()) {}

  [[nodiscard]] std::span<const Series> all() const { return series_; }
  /// The first region of the turn in which this rank receives, and the others of it by their names.
  [[nodiscard]] const Series& received() const { return series_.at(at_.receiving() * per_turn_); }
  [[nodiscard]] const Series& received(std::string_view name) const { return named(at_.receiving(), name); }
  /// Of the turn in which it sends.
  [[nodiscard]] const Series& sent(std::string_view name) const { return named(at_.sending(), name); }

 private:
  [[nodiscard]] const Series& named(std::size_t turn, std::string_view name) const;

  const ExchangeAtWork& at_;
  std::vector<Series> series_;
  std::size_t per_turn_;
};

/// The copies of both ends by themselves, in so many pieces: one region for each, or one for both where they are to run
/// at once, as they do both ways.
struct ExchangeCopies {
  ExchangeCopies(bool both_ways, std::size_t in_pieces);
  void add(const ExchangeAtWork& at, const ExchangePart& part, std::vector<Region>& regions) const;
  /// Of these, this rank's.
  [[nodiscard]] const Measurement& d2h(const ExchangeSamples& samples) const;
  [[nodiscard]] const Measurement& h2d(const ExchangeSamples& samples) const;

  std::string d2h_region;
  std::string h2d_region;
  std::size_t pieces;
};

/// How messages are cut, and what the model expects of that.
struct ExchangePlan {
  model::ExchangeShape shape;
  std::optional<model::ExchangeStages> stages{};
};
/// In step with all other ranks.
ExchangePlan plan_exchange(const ExchangeAtWork& at);

}  // namespace xferbench
