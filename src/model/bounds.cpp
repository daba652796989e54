#include "model/bounds.hpp"

#include <algorithm>
#include <cmath>

namespace xferbench::model {

double duplex_ratio(const Stages& s) {
  const double longer = std::max(s.h2d, s.d2h);
  const double shorter = std::min(s.h2d, s.d2h);
  if (shorter <= 0 || s.both <= longer) return 1;
  // Both copies share the link until the shorter one ends; then the longer one runs alone. If beta is the rate of each
  // while they share, relative to its rate alone, then both = longer + shorter (1 / beta - 1). Solve this for beta.
  return 1 / (1 + (s.both - longer) / shorter);
}

double time_at_both_rates(double h2d, double d2h, double h2d_end, double d2h_end) {
  const double first = std::min(h2d_end, d2h_end);
  const double alone = h2d_end > d2h_end ? h2d : d2h;
  if (alone <= 0) return 0;
  // Fraction of the payload of the later copy that has moved when the first copy ends.
  const double moved = std::clamp(1 - std::abs(h2d_end - d2h_end) / alone, 0.0, 1.0);
  return 2 * first / (1 + moved);
}

namespace {

Bound link_limit(const Stages& s, unsigned copy_engines) {
  const Bound in_turn{.seconds = s.h2d + s.d2h, .by = LimitSource::in_turn};
  if (copy_engines < 2) return in_turn;
  Bound least = in_turn;
  for (const Bound& b :
       {Bound{.seconds = s.both, .by = LimitSource::whole}, Bound{.seconds = s.chunked, .by = LimitSource::chunked},
        Bound{.seconds = s.at_both_rates, .by = LimitSource::rates}}) {
    if (b.seconds > 0 && b.seconds < least.seconds) least = b;
  }
  least.seconds = std::max({least.seconds, s.h2d, s.d2h});
  return least;
}

}  // namespace

Bound lower_bound(const Stages& s, unsigned copy_engines, double fastest) {
  const Bound link = link_limit(s, copy_engines);
  const bool kernel = s.kernel > link.seconds;
  const Bound stages = kernel ? Bound{s.kernel, LimitSource::kernel, true} : link;
  return fastest < stages.seconds ? Bound{fastest, LimitSource::fastest, kernel} : stages;
}

double share_of_limit(double limit, double seconds) { return std::min(limit, seconds) / seconds; }

double hidden_fraction(double serial, double pipeline, double bound) {
  return serial > bound ? (serial - pipeline) / (serial - bound) : 0;
}

}  // namespace xferbench::model
