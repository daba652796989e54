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

CopyEnds copies_at_once(const Cost& h2d, const Cost& d2h, double bytes, std::size_t h2d_pieces,
                        std::size_t d2h_pieces) {
  Queue in(h2d, bytes, h2d_pieces);
  Queue out(d2h, bytes, d2h_pieces);
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

namespace {

/// What the directions cost each other: corrected until the model's ends are those measured. Each of the four numbers
/// is led by the end that it moves most: rates by those in one piece, overheads by those in many.
void fit_duplex(const StageTimes& t, StageCosts& c) {
  constexpr int kRounds = 300;
  constexpr double kLeastRate = 0.1;
  constexpr double kMostOverhead = 10;
  const double together = std::min(t.both.h2d, t.both.d2h);
  if (together <= 0) return;
  const auto correct_rate = [&](Cost& cost, double surplus) {
    cost.duplex_rate = std::clamp(cost.duplex_rate * (1 + surplus / together), kLeastRate, 1.0);
  };
  const auto correct_overhead = [&](Cost& cost, double missing) {
    const double all = cost.per_operation * static_cast<double>(t.pieces);
    if (all > 0) cost.duplex_overhead = std::clamp(cost.duplex_overhead + missing / all, 1.0, kMostOverhead);
  };
  for (int round = 0; round < kRounds; ++round) {
    const CopyEnds whole = copies_at_once(c.h2d, c.d2h, t.bytes, 1, 1);
    correct_rate(c.h2d, whole.h2d - t.both.h2d);
    correct_rate(c.d2h, whole.d2h - t.both.d2h);
    if (t.pieces == 1) continue;
    correct_overhead(c.h2d, t.h2d_pieces_beside - copies_at_once(c.h2d, c.d2h, t.bytes, t.pieces, 1).h2d);
    correct_overhead(c.d2h, t.d2h_pieces_beside - copies_at_once(c.h2d, c.d2h, t.bytes, 1, t.pieces).d2h);
  }
}

}  // namespace

StageCosts fit_stage_costs(const StageTimes& t) {
  StageCosts c;
  c.h2d = cost_of(t.h2d, t.h2d_pieces, t);
  c.kernel = cost_of(t.kernel, t.kernel_pieces, t);
  c.d2h = cost_of(t.d2h, t.d2h_pieces, t);
  fit_duplex(t, c);
  return c;
}

double handoff(const StageCosts& costs, const StageTimes& t, double chain) {
  const auto alone = [&t](const Cost& s) { return s.per_operation + t.link_bytes * s.per_byte; };
  const double link = chain / static_cast<double>(t.links);
  return std::max(0.0, (link - alone(costs.h2d) - alone(costs.kernel) - alone(costs.d2h)) / 3);
}

}  // namespace xferbench::model
