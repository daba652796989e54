// The records of a soak: what was asked for, what each interval showed, and what all of it comes to so far.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/enum_text.hpp"
#include "core/environment.hpp"
#include "core/health.hpp"
#include "results/result.hpp"

namespace xferbench {

/// What keeps a GPU busy.
enum class SoakLoad {
  h2d,
  d2h,
  both,    ///< h2d and d2h at once
  d2d,     ///< inside the GPU, by its copy engines
  p2p,     ///< from each GPU to the next one, all at once
  kernel,  ///< inside the GPU, by its multiprocessors, through arithmetic
};
constexpr auto texts_of(SoakLoad) {
  return std::to_array<std::string_view>({"h2d", "d2h", "both", "d2d", "p2p", "kernel"});
}

struct SoakSettings {
  double seconds = 3600;  ///< that it is to last, all parts of it together
  double interval = 60;   ///< between two lines, in seconds
  double floor = 0.9;     ///< share of its first minutes' rate below which a rate counts as a drop
  std::vector<SoakLoad> loads{};
  std::uint64_t size = std::uint64_t{256} << 20;  ///< of one copy, in bytes
  std::uint64_t seed = 1;
  friend bool operator==(const SoakSettings&, const SoakSettings&) = default;
};

/// The first line of a soak's file.
struct SoakHeader {
  std::string started_at{};  ///< ISO 8601, UTC
  Tool tool = this_tool();
  std::vector<std::string> command{};
  Environment environment{};
  SoakSettings settings{};
  friend bool operator==(const SoakHeader&, const SoakHeader&) = default;
};

/// Memory that does not hold what it should: one buffer, once.
struct SoakWrong {
  int gpu = 0;  ///< whose work it was
  SoakLoad load{};
  std::string memory;         ///< where the wrong data lies: "GPU 0", "host"
  std::uint64_t address = 0;  ///< of the first wrong byte
  std::uint64_t offset = 0;   ///< of it in its buffer
  std::uint64_t last = 0;     ///< offset of the last wrong byte's word
  std::uint64_t bytes = 0;    ///< wrong ones
  std::uint64_t bits = 0;     ///< wrong ones
  std::string expected;       ///< the first wrong word, in hexadecimal, ...
  std::string found;          ///< ... and what was there
  std::string pattern;        ///< "noise", "noise inverted"
  double elapsed = 0;         ///< seconds into the soak
  std::string at;             ///< ISO 8601, UTC
  friend bool operator==(const SoakWrong&, const SoakWrong&) = default;
};

/// A time in which a load of a GPU was slower than the floor allows.
struct SoakDrop {
  int gpu = 0;
  SoakLoad load{};
  double from = 0;    ///< seconds into the soak
  double to = 0;      ///< the same
  double lowest = 0;  ///< rate, in bytes per second
  std::string at;     ///< when it began, ISO 8601, UTC
  /// What else changed in these intervals, in sentences: of health_changes(), those that do not last from before.
  std::vector<std::string> beside{};
  friend bool operator==(const SoakDrop&, const SoakDrop&) = default;
};

/// A load of a GPU in one interval, by the rates of its turns, in bytes per second.
struct SoakRate {
  SoakLoad load{};
  double median = 0;
  double lowest = 0;
  double highest = 0;
  std::uint64_t turns = 0;
  friend bool operator==(const SoakRate&, const SoakRate&) = default;
};

/// A GPU at the end of an interval.
struct SoakGpu {
  int gpu = 0;  ///< Environment::Gpu::index
  std::vector<SoakRate> rates{};
  Health health{};
  Clocks clocks{};
  std::vector<std::string> changes{};  ///< what changed for the worse in it, in sentences
  friend bool operator==(const SoakGpu&, const SoakGpu&) = default;
};

/// A load of a GPU since the beginning.
struct SoakLoadTotals {
  int gpu = 0;
  SoakLoad load{};
  std::uint64_t moved = 0;           ///< bytes
  std::uint64_t verified = 0;        ///< of these, bytes that were compared with what they should be
  double busy = 0;                   ///< seconds in which they moved
  std::uint64_t wrong = 0;           ///< of these, bytes that were not
  std::vector<double> first{};       ///< medians of the first minutes' intervals, until these are over
  std::optional<double> baseline{};  ///< their median, once these minutes are over
  std::optional<double> lowest{};    ///< rate of a turn behind the first minutes
  friend bool operator==(const SoakLoadTotals&, const SoakLoadTotals&) = default;
};

/// Counters of a GPU: how far they have moved since the beginning. What is not known is absent.
struct SoakCounters {
  int gpu = 0;
  std::optional<std::uint64_t> ecc_corrected{};
  std::optional<std::uint64_t> ecc_uncorrected{};
  std::optional<std::uint64_t> pcie_replays{};
  std::uint64_t xid_count = 0;
  std::vector<std::uint64_t> xids{};    ///< the first of them
  std::vector<std::string> throttle{};  ///< reasons that were there at some look, each once
  std::optional<double> hottest{};      ///< degrees Celsius
  friend bool operator==(const SoakCounters&, const SoakCounters&) = default;
};

/// What the soak comes to so far; its size does not grow with time.
struct SoakTotals {
  /// Of each kind; what comes behind them is counted and not kept.
  static constexpr std::size_t kMostKept = 32;

  double elapsed = 0;  ///< seconds
  double seconds = 0;  ///< that it is to last now; 0: as its first line says
  std::vector<SoakLoadTotals> loads{};
  std::vector<SoakCounters> counters{};
  std::uint64_t wrong_bytes = 0;
  std::uint64_t wrong_buffers = 0;
  std::vector<SoakWrong> wrong{};  ///< the first of them
  std::uint64_t drop_count = 0;
  double drop_seconds = 0;
  std::vector<SoakDrop> drops{};          ///< the first of them
  std::uint64_t lost_count = 0;           ///< times that it was ended by a GPU that failed or did not answer
  std::vector<std::string> lost{};        ///< when and why, the first of them
  std::vector<std::string> resumed_at{};  ///< ISO 8601, UTC
  friend bool operator==(const SoakTotals&, const SoakTotals&) = default;
};

enum class SoakEnd {
  goes_on,
  complete,
  interrupted,
  lost,   ///< a call of the GPU failed
  stuck,  ///< one did not come back
};
constexpr auto texts_of(SoakEnd) {
  return std::to_array<std::string_view>({"goes-on", "complete", "interrupted", "lost", "stuck"});
}

/// One line of the file for each interval. The last of them says what all of them come to.
struct SoakInterval {
  std::string at{};          ///< its end, ISO 8601, UTC
  double elapsed = 0;        ///< the same in seconds into the soak
  std::uint64_t memory = 0;  ///< bytes of this process that are in memory (RSS)
  std::vector<SoakGpu> gpus{};
  SoakTotals so_far{};
  SoakEnd end = SoakEnd::goes_on;
  std::string reason{};  ///< why it ended early
  friend bool operator==(const SoakInterval&, const SoakInterval&) = default;
};

}  // namespace xferbench
