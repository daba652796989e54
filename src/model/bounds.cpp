#include "model/bounds.hpp"

#include <algorithm>
#include <cmath>

namespace xferbench::model {

double duplex_ratio(const Stages& s) {
  const double longer = std::max(s.h2d, s.d2h);
  const double shorter = std::min(s.h2d, s.d2h);
  if (shorter <= 0 || s.both <= longer) return 1;
  // While both run they share; the rest of the longer copy runs alone: both = longer + shorter (1 / beta - 1).
  return 1 / (1 + (s.both - longer) / shorter);
}

double link_bound(double h2d, double d2h, double beta) {
  return std::max(h2d, d2h) + std::min(h2d, d2h) * std::clamp(1 / beta - 1, 0.0, 1.0);
}

namespace {

double link_time(const Stages& s, unsigned copy_engines) {
  return copy_engines < 2 ? s.h2d + s.d2h : link_bound(s.h2d, s.d2h, duplex_ratio(s));
}

}  // namespace

double lower_bound(const Stages& s, unsigned copy_engines) { return std::max(s.kernel, link_time(s, copy_engines)); }

Limit limiting_stage(const Stages& s, unsigned copy_engines) {
  return s.kernel > link_time(s, copy_engines) ? Limit::kernel : Limit::link;
}

double hidden_fraction(double serial, double pipeline, double bound) {
  return serial > bound ? (serial - pipeline) / (serial - bound) : 0;
}

}  // namespace xferbench::model
