#include "device/sim/randomness.hpp"

#include <cmath>
#include <numbers>

namespace xferbench::sim {

namespace {

std::mt19937_64 engine_for(const Variation& v, Randomness::Purpose purpose) {
  const auto low = [](std::uint64_t number) { return static_cast<std::uint32_t>(number); };
  const auto high = [](std::uint64_t number) { return static_cast<std::uint32_t>(number >> 32U); };
  std::seed_seq seeds{low(v.seed), high(v.seed), low(v.rank), high(v.rank), static_cast<std::uint32_t>(purpose)};
  return std::mt19937_64(seeds);
}

}  // namespace

Randomness::Randomness(const Variation& variation, Purpose purpose)
    : variation_(variation), engine_(engine_for(variation, purpose)) {}

double Randomness::uniform() {
  constexpr double kOneOf2To53 = 0x1p-53;
  return static_cast<double>((engine_() >> 11U) + 1) * kOneOf2To53;
}

double Randomness::duration_factor() {
  if (variation_.noise <= 0) return 1;
  const double radius = std::sqrt(-2 * std::log(uniform()));
  return std::exp(variation_.noise * radius * std::cos(2 * std::numbers::pi * uniform()));
}

double Randomness::lateness() {
  if (variation_.late_probability <= 0) return 0;
  return uniform() <= variation_.late_probability ? variation_.late_seconds : 0;
}

}  // namespace xferbench::sim
