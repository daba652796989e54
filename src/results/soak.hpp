// The records of a soak: its settings, its intervals, and its totals so far.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/enum_text.hpp"
#include "core/environment.hpp"
#include "core/health.hpp"
#include "results/result.hpp"

namespace xferbench {

/// The kind of work (load) that keeps a GPU busy; loads take turns.
enum class SoakLoad {
  h2d,
  d2h,
  both,    ///< h2d and d2h at the same time
  d2d,     ///< inside the GPU, by its copy engines
  p2p,     ///< from each GPU to the next one, all at the same time
  kernel,  ///< arithmetic on the GPU's multiprocessors
};
constexpr auto texts_of(SoakLoad) { return enum_texts("h2d", "d2h", "both", "d2d", "p2p", "kernel"); }

struct SoakSettings {
  double seconds = 3600;  ///< planned total duration in seconds, including the time before a resume
  double interval = 60;   ///< duration of an interval in seconds; each has one line in the file
  double floor = 0.9;     ///< a rate below this share of the rate in the first minutes is a drop
  std::vector<SoakLoad> loads{};
  std::uint64_t size = std::uint64_t{256} << 20;  ///< bytes of one copy
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

/// Memory with wrong contents: one buffer, at one time.
struct SoakWrong {
  int gpu = 0;  ///< the GPU whose load used the buffer
  SoakLoad load{};
  std::string memory;         ///< where the wrong data lies: "GPU 0", "host"
  std::uint64_t address = 0;  ///< address of the first wrong byte
  std::uint64_t offset = 0;   ///< offset of the first wrong byte in its buffer
  std::uint64_t last = 0;     ///< offset of the word with the last wrong byte
  std::uint64_t bytes = 0;
  std::uint64_t bits = 0;
  std::string expected;  ///< expected contents of the first wrong word, in hexadecimal
  std::string found;     ///< actual contents of the first wrong word, in hexadecimal
  std::string pattern;   ///< expected pattern: "noise", "noise inverted"
  double elapsed = 0;    ///< when the error was found, in seconds into the soak
  std::string at;        ///< when the error was found, ISO 8601, UTC
  friend bool operator==(const SoakWrong&, const SoakWrong&) = default;
};

/// A period in which a load of a GPU was slower than SoakSettings::floor allows.
struct SoakDrop {
  int gpu = 0;
  SoakLoad load{};
  double from = 0;    ///< begin of the drop, in seconds into the soak
  double to = 0;      ///< end of the drop, in seconds into the soak
  double lowest = 0;  ///< lowest rate of a turn in this period, in bytes per second
  std::string at;     ///< begin of the drop, ISO 8601, UTC
  /// Changes for the worse of the GPU's health during the drop, as sentences.
  std::vector<std::string> beside{};
  friend bool operator==(const SoakDrop&, const SoakDrop&) = default;
};

/// The rates of one load of a GPU in one interval, in bytes per second; each turn of the load has one rate.
struct SoakRate {
  SoakLoad load{};
  double median = 0;
  double lowest = 0;
  double highest = 0;
  std::uint64_t turns = 0;
  friend bool operator==(const SoakRate&, const SoakRate&) = default;
};

/// The rates, health and clocks of a GPU in one interval.
struct SoakGpu {
  int gpu = 0;  ///< Environment::Gpu::index
  std::vector<SoakRate> rates{};
  Health health{};
  Clocks clocks{};
  std::vector<std::string> changes{};  ///< sentences about changes for the worse of the GPU's health in the interval
  friend bool operator==(const SoakGpu&, const SoakGpu&) = default;
};

/// The totals of one load of a GPU since the beginning of the soak. Rates are in bytes per second.
struct SoakLoadTotals {
  int gpu = 0;
  SoakLoad load{};
  std::uint64_t moved = 0;           ///< bytes that were transferred
  std::uint64_t verified = 0;        ///< number of moved bytes that were compared with their expected contents
  double busy = 0;                   ///< seconds that the transfers of this load took
  std::uint64_t wrong = 0;           ///< verified bytes with wrong contents
  std::vector<double> first{};       ///< median rate of each interval in the first minutes; empty once they are over
  std::optional<double> baseline{};  ///< median of `first`, computed at the end of the first minutes; absent before
  /// End of the interval that completed the first minutes, in seconds into the soak. Older files lack it.
  std::optional<double> baseline_until{};
  std::optional<double> lowest{};  ///< lowest rate of a turn after the first minutes
  friend bool operator==(const SoakLoadTotals&, const SoakLoadTotals&) = default;
};

/// Increases of a GPU's counters since the beginning of the soak. Unknown values are absent.
struct SoakCounters {
  int gpu = 0;
  std::optional<std::uint64_t> ecc_corrected{};
  std::optional<std::uint64_t> ecc_uncorrected{};
  std::optional<std::uint64_t> pcie_replays{};
  std::uint64_t xid_count = 0;
  std::vector<std::uint64_t> xids{};    ///< codes of the first Xid errors
  std::vector<std::string> throttle{};  ///< throttle reasons that were ever seen, each once
  std::optional<double> hottest{};      ///< highest temperature, degrees Celsius
  friend bool operator==(const SoakCounters&, const SoakCounters&) = default;
};

/// The totals of a soak so far; their size does not grow with time.
struct SoakTotals {
  /// Largest number of entries in each of `wrong`, `drops` and `lost`; further ones are only counted.
  static constexpr std::size_t kMostKept = 32;

  double elapsed = 0;  ///< seconds that the soak has lasted
  double seconds = 0;  ///< planned total duration in seconds, set by a resume; 0 if the soak was never resumed
  std::vector<SoakLoadTotals> loads{};
  std::vector<SoakCounters> counters{};
  std::uint64_t wrong_bytes = 0;
  std::uint64_t wrong_buffers = 0;
  std::vector<SoakWrong> wrong{};  ///< the first kMostKept wrong buffers; `wrong_buffers` counts all
  std::uint64_t drop_count = 0;
  double drop_seconds = 0;  ///< total duration of all drops in seconds, including the turns of other loads in between
  std::vector<SoakDrop> drops{};          ///< the first drops; `drop_count` counts all
  std::uint64_t lost_count = 0;           ///< number of times that the soak ended because a GPU failed or hung
  std::vector<std::string> lost{};        ///< time and reason of the first failures; `lost_count` counts all
  std::vector<std::string> resumed_at{};  ///< ISO 8601, UTC
  friend bool operator==(const SoakTotals&, const SoakTotals&) = default;
};

enum class SoakEnd {
  goes_on,
  complete,
  interrupted,
  lost,   ///< a CUDA call failed
  stuck,  ///< a CUDA call did not return
};
constexpr auto texts_of(SoakEnd) { return enum_texts("goes-on", "complete", "interrupted", "lost", "stuck"); }

/// A line of a soak's file, for one interval. `so_far` contains the totals up to the end of the interval.
struct SoakInterval {
  std::string at{};          ///< end of the interval, ISO 8601, UTC
  double elapsed = 0;        ///< end of the interval, in seconds into the soak
  std::uint64_t memory = 0;  ///< resident memory of this process, bytes (RSS)
  std::vector<SoakGpu> gpus{};
  SoakTotals so_far{};
  SoakEnd end = SoakEnd::goes_on;
  std::string reason{};  ///< why the soak ended early
  friend bool operator==(const SoakInterval&, const SoakInterval&) = default;
};

}  // namespace xferbench
