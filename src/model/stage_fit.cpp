#include "model/stage_fit.hpp"

#include <algorithm>

#include "model/operation.hpp"

namespace xferbench::model {

namespace {

Cost cost_of(double whole, double in_pieces, const StageTimes& t) {
  Cost c;
  if (t.pieces > 1) c.per_operation = std::max(0.0, (in_pieces - whole) / static_cast<double>(t.pieces - 1));
  c.per_operation = std::min(c.per_operation, whole);
  c.per_byte = t.bytes > 0 ? (whole - c.per_operation) / t.bytes : 0;
  return c;
}

/// Equal copies in one direction, one after the other.
struct Queue {
  Queue(const Cost& c, double bytes, std::size_t pieces)
      : cost(c), bytes_each(bytes / static_cast<double>(pieces)), waiting(pieces) {
    begin_next();
  }
  void begin_next() {
    if (waiting == 0) return;
    copy = {cost, bytes_each};
    --waiting;
  }
  void pass(double seconds, bool contended, double now) {
    if (!copy.pass(seconds, contended)) return;
    end = now;
    begin_next();
  }

  const Cost& cost;
  double bytes_each;
  std::size_t waiting;
  Operation copy;
  double end = 0;  ///< of the last one so far
};

}  // namespace

CopyEnds copies_at_once(const Cost& h2d, const Cost& d2h, double bytes, std::size_t h2d_pieces,
                        std::size_t d2h_pieces) {
  Queue in(h2d, bytes, h2d_pieces);
  Queue out(d2h, bytes, d2h_pieces);
  double now = 0;
  while (in.copy.running() || out.copy.running()) {
    const bool in_slowed = out.copy.moves_payload();
    const bool out_slowed = in.copy.moves_payload();
    const double step = std::min(in.copy.left(in_slowed), out.copy.left(out_slowed));
    now += step;
    in.pass(step, in_slowed, now);
    out.pass(step, out_slowed, now);
  }
  return {in.end, out.end};
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
