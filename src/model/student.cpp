#include "model/student.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace xferbench::model {

namespace {

/// Returns the continued fraction of the incomplete beta function, by Lentz's method. Converges in about sqrt(a + b)
/// steps for x below (a + 1) / (a + b + 2).
double beta_fraction(double x, double a, double b) {
  constexpr double kClose = 1e-15;
  constexpr double kTiny = 1e-300;  // replaces a divisor of 0
  constexpr int kMostTerms = 10'000;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int step = 1; step < kMostTerms; ++step) {
    const double m = step;
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    fraction *= d * c;
    if (std::abs(d * c - 1) < kClose) break;
  }
  return fraction;
}

/// Returns the regularised incomplete beta function I_x(a, b). `rest` is 1 - x, given separately because it may be too
/// small to be computed from x.
double incomplete_beta(double x, double rest, double a, double b) {
  if (!(x > 0)) return 0;
  if (!(rest > 0)) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log(rest));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(x, a, b) / a;
  return 1 - front * beta_fraction(rest, b, a) / b;
}

}  // namespace

double student_two_sided(double t, double degrees_of_freedom) {
  const double square = t * t;
  if (!std::isfinite(square)) return 0;
  const double whole = degrees_of_freedom + square;
  return std::clamp(incomplete_beta(degrees_of_freedom / whole, square / whole, degrees_of_freedom / 2, 0.5), 0.0, 1.0);
}

double student_quantile(double two_sided, double degrees_of_freedom) {
  if (two_sided >= 1) return 0;
  constexpr double kClose = 1e-12;  // relative tolerance of the result
  const double density_at_0 =
      std::exp(std::lgamma((degrees_of_freedom + 1) / 2) - std::lgamma(degrees_of_freedom / 2)) /
      std::sqrt(degrees_of_freedom * std::numbers::pi);
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
  double t = 1;
  // Newton's method on logarithms, in which the tails are nearly straight; bisection if a step leaves the bracket.
  for (int step = 0; step < 200 && high - low > kClose * low; ++step) {
    const double p = student_two_sided(t, degrees_of_freedom);
    (p > two_sided ? low : high) = t;
    const double density =
        density_at_0 * std::exp(-(degrees_of_freedom + 1) / 2 * std::log1p(t * t / degrees_of_freedom));
    const double next = t * std::exp(std::log(p / two_sided) * p / (2 * density * t));
    if (std::abs(next - t) <= kClose * t) return next;
    t = next > low && next < high ? next : std::isinf(high) ? 2 * t : (low + high) / 2;
  }
  return t;
}

}  // namespace xferbench::model
