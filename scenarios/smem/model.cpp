#include "scenarios/smem/model.hpp"

#include "model/in_flight.hpp"
#include "scenarios/smem/case.hpp"

namespace xferbench {

namespace {

// Constants of the model in seconds, fitted to 636 configurations on an H200 with 48 operations per element
// (h200-smem-tune-cut-off.json.xz, which the history has up to commit 994c4494). A family is a group of cases with
// equal choice axes. Within a family the remaining error is 5 %. The search corrects the prediction of each family by
// its measurements.
constexpr double kBlockStart = 0.6e-6;    // from the start of a block until its first load is issued
constexpr double kTurn = 0.75e-6;         // barriers and waits per tile, without arithmetic
constexpr double kTurnOfRoles = 0.25e-6;  // like kTurn, for methods without a barrier of the whole block
constexpr double kThreadsForHalf = 36;    // threads per multiprocessor that reach half of the full arithmetic rate

/// Whether a block's loads continue while the block computes. If not, only other blocks have loads in flight meanwhile.
bool overlaps(const SmemShape& shape) { return shape.stages > 1 || shape.method == SmemMethod::prefetch; }

/// Returns the factor by which arithmetic is slower if a thread has few independent chains of operations.
double slowness(unsigned vectors) { return vectors >= 4 ? 1 : vectors >= 2 ? 1.1 : 1.4; }

/// Returns the seconds that a block needs for the arithmetic of a tile while `blocks` blocks run on the multiprocessor.
double work_of_tile(const SmemCosts& costs, const SmemShape& shape, double blocks) {
  const double alone = costs.compute * costs.multiprocessors / static_cast<double>(shape.tiles());  // one block per SM
  const double filled = 1 + kThreadsForHalf / (shape.threads * blocks);
  return alone * blocks * filled * slowness(shape.vectors_at_a_time());
}

}  // namespace

double predict_smem(const SmemCosts& costs, const SmemShape& shape, unsigned blocks) {
  const double at_once = std::max(1U, blocks);
  const auto payload = static_cast<double>(shape.payload_bytes());
  const auto tiles = static_cast<double>(shape.tiles());
  const double work = work_of_tile(costs, shape, at_once);
  const double begin = shape.schedule == SmemSchedule::one_tile ? kBlockStart : 0;
  const double latency = costs.latency + (overlaps(shape) ? 0 : work) + begin;
  const double moved = payload / model::reachable_bandwidth(in_flight_per_block(shape) * at_once, latency,
                                                            costs.multiprocessors, payload / costs.memory);
  const double turn = shape.method == SmemMethod::tma_specialized ? kTurnOfRoles : kTurn;
  const double computed = (work + turn + begin) * tiles / (costs.multiprocessors * at_once);
  const double counted = shape.schedule == SmemSchedule::dynamic ? kTileFromCounter * tiles : 0;
  return std::max({moved, computed, counted});
}

}  // namespace xferbench
