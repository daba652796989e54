// Not a scenario: what a case of smem means in the terms of the tile kernels, and what follows from that alone; what
// results say together, and the cases as a space for `tune` to search.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/axis.hpp"
#include "device/types.hpp"
#include "kernels/smem/smem.hpp"
#include "results/result.hpp"
#include "run/scenario.hpp"
#include "run/skip_reason.hpp"
#include "run/tunable.hpp"

namespace xferbench {

/// A case in the terms of what runs it. The number of blocks of its grid is chosen on the device, and is 0 here.
struct SmemCase {
  kernels::SmemShape shape;
  std::uint64_t size = 0;  ///< of the payload, as asked for: of whole rows or elements, or illegal
  bool strided = false;    ///< a matrix, and not an array
  std::optional<unsigned> blocks_per_multiprocessor;  ///< as asked for; nothing: as many as fit
  bool resident = false;                              ///< the data stays in the L2 cache
};

/// The axes that say what is done, and not how: only cases that agree in them can be compared.
inline constexpr std::array<std::string_view, 7> kSmemWorkAxes{"op",      "dtype",     "access", "size",
                                                               "columns", "intensity", "l2"};

/// Seconds between two blocks that take a tile from one counter: what an H200's memory needs for atomic additions to
/// one address.
inline constexpr double kTileFromCounter = 2.5e-9;

std::vector<Axis> smem_axes();
/// Of any case of these axes, legal or not.
SmemCase smem_case(const Case& c);

/// Why a case does not run: it breaks a rule of scenarios/smem/rules.hpp, its rows or elements are not whole; or this
/// GPU (none: what holds on every one) breaks a rule, has no room for its blocks, or no cache for its data.
std::optional<SkipReason> smem_skip_reason(const SmemCase& c, const Capabilities* can);

/// Read and written, in bytes.
std::uint64_t traffic(const kernels::SmemShape& shape);
/// Whether there is any arithmetic to hide.
bool computes(const kernels::SmemShape& shape);
/// What the loop of a block can have under way at most from global memory to the chip, in bytes of payload.
double in_flight_per_block(const kernels::SmemShape& shape);
/// The same work in the same tiles by the plainest method with shared memory: load, barrier, work, barrier.
kernels::SmemShape as_sync(const kernels::SmemShape& shape);
kernels::SmemShape only(kernels::SmemPart part, const kernels::SmemShape& shape);

/// Adds payload's and memory's rate. `theoretical`: of the memory, in bytes per second; 0 where it is no limit.
void add_rates(const kernels::SmemShape& shape, double seconds, double theoretical, Result& result);

/// The best of each method as rows of kind "best", the fastest of all methods as a sentence of kind "winner", and for
/// results that differ only in their stages one of kind "stages": how many are enough, beside what Little's law asks
/// for.
std::vector<Finding> diagnose_smem(std::span<const Result* const> results);

/// Measures what the memory gives, what the arithmetic takes and how long a tile is under way. All candidates share one
/// payload. Throws UsageError if the cases do not do the same work.
std::unique_ptr<Tunable> smem_space(std::span<const Case> cases, const RunContext& bench);

}  // namespace xferbench
