#include "model/stage_fit.hpp"

#include <algorithm>

#include "model/operation.hpp"

namespace xferbench::model {

namespace {

/// A stage's costs per operation and per byte, and the fixed cost of a pass (`elapse`) in seconds.
struct PassCost {
  Cost cost;
  double elapse = 0;
};

PassCost cost_of(double StageSeconds::*stage, const StageTimes& t) {
  const double whole = t.whole.*stage;
  Cost c;
  if (t.pieces > 1) c.per_operation = std::max(0.0, (t.in_pieces.*stage - whole) / static_cast<double>(t.pieces - 1));
  c.per_operation = std::min(c.per_operation, whole);
  double elapse = 0;
  if (t.small_bytes > 0 && t.small_bytes < t.bytes) {
    // Without the fixed costs of one pass and one operation, both times are proportional to the bytes.
    const double ratio = t.small_bytes / t.bytes;
    elapse = (t.small.*stage - c.per_operation - ratio * (whole - c.per_operation)) / (1 - ratio);
    elapse = std::clamp(elapse, 0.0, whole - c.per_operation);
  }
  c.per_byte = t.bytes > 0 ? (whole - elapse - c.per_operation) / t.bytes : 0;
  return {c, elapse};
}

/// The copies of one direction during the simulation: at most one copy runs, and the later copies wait for its end.
struct Queue {
  Queue(const Cost& c, const CopyRow& row)
      : cost(c), bytes_each(row.bytes / static_cast<double>(row.pieces)), waiting(row.pieces) {
    begin_next();
  }
  void begin_next() {
    if (waiting == 0) return;
    copy = {cost, bytes_each};
    --waiting;
  }
  void elapse(double seconds, const Concurrent& other, double now) {
    if (!copy.elapse(seconds, other)) return;
    end = now;
    begin_next();
  }

  const Cost& cost;
  double bytes_each;
  std::size_t waiting;
  Operation copy;
  double end = 0;  ///< time at which the latest finished copy ended
};

/// Fits duplex rates and overheads iteratively, until the modelled end times match the measured ones. The end times of
/// copies in few pieces correct the rates, and those of copies in many pieces correct the overheads.
void fit_duplex(const StageTimes& t, StageCosts& c) {
  constexpr int kRounds = 300;
  constexpr double kLeastRate = 0.1;
  constexpr double kMostOverhead = 10;
  const CopyRow few{t.bytes, t.both_pieces};
  const CopyRow pieces{t.bytes, t.pieces};
  const CopyRow opposing{t.bytes * static_cast<double>(t.opposing), t.opposing};
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
    const CopyEnds both = copies_at_once(c.h2d, c.d2h, few, few);
    correct_rate(c.h2d, both.h2d - t.both.h2d);
    correct_rate(c.d2h, both.d2h - t.both.d2h);
    if (t.pieces == 1) continue;
    correct_overhead(c.h2d, t.h2d_pieces_beside - copies_at_once(c.h2d, c.d2h, pieces, opposing).h2d);
    correct_overhead(c.d2h, t.d2h_pieces_beside - copies_at_once(c.h2d, c.d2h, opposing, pieces).d2h);
  }
}

}  // namespace

CopyEnds copies_at_once(const Cost& h2d, const Cost& d2h, const CopyRow& row_in, const CopyRow& row_out) {
  Queue in(h2d, row_in);
  Queue out(d2h, row_out);
  double now = 0;
  while (in.copy.running() || out.copy.running()) {
    const Concurrent concurrent_in = out.copy.concurrent();
    const Concurrent concurrent_out = in.copy.concurrent();
    const double step = std::min(in.copy.remaining(concurrent_in), out.copy.remaining(concurrent_out));
    now += step;
    in.elapse(step, concurrent_in, now);
    out.elapse(step, concurrent_out, now);
  }
  return {in.end, out.end};
}

StageCosts fit_stage_costs(const StageTimes& t) {
  const PassCost h2d = cost_of(&StageSeconds::h2d, t);
  const PassCost d2h = cost_of(&StageSeconds::d2h, t);
  StageCosts c;
  c.h2d = h2d.cost;
  c.kernel = cost_of(&StageSeconds::kernel, t).cost;
  c.d2h = d2h.cost;
  // A pipeline starts like an H2D pass and ends like a D2H pass. So its fixed cost is the mean of both passes' costs.
  c.start = (h2d.elapse + d2h.elapse) / 2;
  StageTimes without_passes = t;
  for (double* end : {&without_passes.both.h2d, &without_passes.h2d_pieces_beside}) *end -= h2d.elapse;
  for (double* end : {&without_passes.both.d2h, &without_passes.d2h_pieces_beside}) *end -= d2h.elapse;
  fit_duplex(without_passes, c);
  if (t.h2d_in_turns_beside > 0 && t.d2h_in_turns_beside > 0 && t.pieces > 1) {
    const double excess = t.h2d_in_turns_beside - t.h2d_pieces_beside + t.d2h_in_turns_beside - t.d2h_pieces_beside;
    c.stream_switch = std::max(0.0, excess / 2 / static_cast<double>(t.pieces - 1));
  }
  return c;
}

StageCosts with_rates_of(StageCosts costs, const Arrangement& arrangement, double measured) {
  const auto corrected = [&costs](double factor) {
    StageCosts c = costs;
    for (Cost* copy : {&c.h2d, &c.d2h}) copy->duplex_rate = std::min(1.0, copy->duplex_rate * factor);
    return c;
  };
  double low = 0.8;  // limits of the correction factor; a larger deviation would have another cause
  double high = 1.1;
  for (int halved = 0; halved < 30; ++halved) {
    const double middle = (low + high) / 2;
    (makespan(corrected(middle), arrangement) > measured ? low : high) = middle;
  }
  return corrected(high);
}

Handoff fit_handoff(const StageCosts& costs, const ChainTimes& t) {
  const auto alone = [&t](const Cost& s) { return s.per_operation + t.bytes * s.per_byte; };
  const auto handoffs = [&](double chain, double operations) {
    return std::max(0.0, (chain - costs.start) / static_cast<double>(t.links) - operations);
  };
  const double one_way = alone(costs.h2d) + alone(costs.kernel);
  const double with_kernel = handoffs(t.without_d2h, one_way);
  const double all = handoffs(t.all_stages, one_way + alone(costs.d2h));
  return {with_kernel / 2, with_kernel / 2, std::max(0.0, all - with_kernel)};
}

}  // namespace xferbench::model
