// The cases of scenario smem: parsing, skip reasons, metrics, findings, and the search space of `tune`.
#pragma once

#include <string_view>

#include "device/types.hpp"
#include "kernels/smem/smem.hpp"
#include "run/scenario.hpp"

namespace xferbench {

using kernels::SmemMethod, kernels::SmemOp, kernels::SmemPart, kernels::SmemSchedule, kernels::SmemShape;
using kernels::SmemStore, kernels::SmemType;

/// The parsed axes of a case. The grid size shape.blocks is 0 here, because it is chosen on the device.
struct SmemCase {
  SmemShape shape;
  std::uint64_t size = 0;  ///< requested payload bytes; not checked to be a whole number of rows
  bool strided = false;    ///< the payload is a matrix instead of an array
  std::optional<unsigned> blocks_per_multiprocessor;  ///< as requested; nothing: as many blocks as fit
  bool resident = false;                              ///< the data stays in L2 between passes
};

/// The axes that define what is computed. Only cases with equal values of these axes can be compared.
inline constexpr std::array<std::string_view, 7> kSmemWorkAxes{"op",      "dtype",     "access", "size",
                                                               "columns", "intensity", "l2"};

/// Seconds between two tiles taken from one counter: the time of an atomic addition to a contended address (H200).
inline constexpr double kTileFromCounter = 2.5e-9;

std::vector<Axis> smem_axes();
/// Parses a case. Accepts any values of the axes, legal or not.
SmemCase smem_case(const Case& c);

/// Returns why a case is not run: it breaks a rule of scenarios/smem/rules.hpp, or its size is not a whole number of
/// rows or elements. If `can` is given, further reasons are that the case breaks a rule on this GPU, that its blocks do
/// not fit on a multiprocessor, or that its data does not fit in L2.
std::optional<SkipReason> smem_skip_reason(const SmemCase& c, const Capabilities* can);

/// Returns the bytes that the kernel reads plus those that it writes in global memory.
std::uint64_t traffic(const SmemShape& shape);
bool computes(const SmemShape& shape);
/// Returns an upper bound of the payload bytes in flight from global memory to one block.
double in_flight_per_block(const SmemShape& shape);
/// Returns the shape with the same work and tiles, but with SmemMethod::sync: load, barrier, work, barrier.
SmemShape as_sync(const SmemShape& shape);
SmemShape only(SmemPart part, const SmemShape& shape);

/// Adds bandwidth and memory traffic to the result. `theoretical`: memory bandwidth in bytes per second; 0 if memory is
/// not the limit.
void add_rates(const SmemShape& shape, double seconds, double theoretical, Result& result);

/// Returns the findings. "best" is a row per method. "winner" names the fastest method. "stages" covers results that
/// differ only in their number of stages: it says how many stages are enough, and compares this with Little's law.
std::vector<Finding> diagnose_smem(std::span<const Result* const> results);

/// Creates the search space of `tune`: measures memory bandwidth, arithmetic rate and the latency of a tile. All
/// candidates share one payload. Throws UsageError if the cases do different work.
std::unique_ptr<Tunable> smem_space(std::span<const Case> cases, const RunContext& bench);

}  // namespace xferbench
