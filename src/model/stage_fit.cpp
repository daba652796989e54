#include "model/stage_fit.hpp"

#include <algorithm>
#include <limits>

namespace xferbench::model {

namespace {

Cost cost_of(double whole, double in_pieces, const StageTimes& t) {
  Cost c;
  if (t.pieces > 1) c.per_operation = std::max(0.0, (in_pieces - whole) / static_cast<double>(t.pieces - 1));
  c.per_operation = std::min(c.per_operation, whole);
  c.per_byte = t.bytes > 0 ? (whole - c.per_operation) / t.bytes : 0;
  return c;
}

/// Its rate beside the other direction, over that alone, in one piece: until the first direction has ended both are
/// slowed, afterwards neither is.
double duplex_rate(double alone, double end, double other_end) {
  constexpr double kLeast = 0.1;
  const double together = std::min(end, other_end);
  return together > 0 ? std::clamp((alone - (end - together)) / together, kLeast, 1.0) : 1;
}

/// A queue of equal copies in one direction.
struct Queue {
  Queue(const Cost& c, double bytes, std::size_t pieces)
      : cost(c), payload_each(bytes / static_cast<double>(pieces) * c.per_byte), left(pieces) {
    begin();
  }
  void begin() {
    overhead = cost.per_operation;
    payload = payload_each;
  }
  [[nodiscard]] bool moving() const { return left > 0 && overhead <= 0; }
  /// Seconds of time for a second of work in the phase that it is in.
  [[nodiscard]] double stretch(bool contended) const {
    if (!contended) return 1;
    return overhead > 0 ? cost.duplex_overhead : 1 / cost.duplex_rate;
  }
  [[nodiscard]] double& phase() { return overhead > 0 ? overhead : payload; }

  const Cost& cost;
  double payload_each;
  std::size_t left;
  double overhead = 0;
  double payload = 0;
};

}  // namespace

CopyEnds copies_at_once(const Cost& h2d, const Cost& d2h, double bytes, std::size_t pieces) {
  Queue in(h2d, bytes, pieces);
  Queue out(d2h, bytes, pieces);
  CopyEnds ends;
  double now = 0;
  while (in.left > 0 || out.left > 0) {
    const double in_stretch = in.stretch(out.moving());
    const double out_stretch = out.stretch(in.moving());
    const double in_step = in.left > 0 ? in.phase() * in_stretch : std::numeric_limits<double>::infinity();
    const double out_step = out.left > 0 ? out.phase() * out_stretch : std::numeric_limits<double>::infinity();
    const double step = std::min(in_step, out_step);
    now += step;
    const auto work = [&](Queue& queue, double own_step, double stretch, double& end) {
      if (queue.left == 0) return;
      double& phase = queue.phase();
      phase = own_step <= step ? 0 : phase - step / stretch;  // what ends now ends exactly
      if (queue.overhead > 0 || queue.payload > 0) return;
      if (--queue.left > 0) return queue.begin();
      end = now;
    };
    work(in, in_step, in_stretch, ends.h2d);
    work(out, out_step, out_stretch, ends.d2h);
  }
  return ends;
}

StageCosts fit_stage_costs(const StageTimes& t) {
  StageCosts c;
  c.h2d = cost_of(t.h2d, t.h2d_pieces, t);
  c.kernel = cost_of(t.kernel, t.kernel_pieces, t);
  c.d2h = cost_of(t.d2h, t.d2h_pieces, t);
  c.h2d.duplex_rate = duplex_rate(t.h2d, t.both.h2d, t.both.d2h);
  c.d2h.duplex_rate = duplex_rate(t.d2h, t.both.d2h, t.both.h2d);
  // How much longer each operation takes beside the other direction: until the model's ends are those measured.
  constexpr int kRounds = 30;
  constexpr double kMost = 10;
  const auto correct = [&](Cost& cost, double missing) {
    const double all = cost.per_operation * static_cast<double>(t.pieces);
    if (all > 0) cost.duplex_overhead = std::clamp(cost.duplex_overhead + missing / all, 1.0, kMost);
  };
  for (int round = 0; t.pieces > 1 && round < kRounds; ++round) {
    const CopyEnds ends = copies_at_once(c.h2d, c.d2h, t.bytes, t.pieces);
    correct(c.h2d, t.both_pieces.h2d - ends.h2d);
    correct(c.d2h, t.both_pieces.d2h - ends.d2h);
  }
  return c;
}

double hand_over(const StageCosts& costs, const StageTimes& t, double chain) {
  const auto alone = [&t](const Cost& s) { return s.per_operation + t.link_bytes * s.per_byte; };
  const double link = chain / static_cast<double>(t.links);
  return std::max(0.0, (link - alone(costs.h2d) - alone(costs.kernel) - alone(costs.d2h)) / 3);
}

}  // namespace xferbench::model
