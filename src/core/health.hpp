// How a GPU and its link are: counters of errors, and what holds the clocks down.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace xferbench {

/// At one moment. What is not known is absent.
struct Health {
  std::optional<std::uint64_t> ecc_corrected{};    ///< errors of memory since the driver was loaded
  std::optional<std::uint64_t> ecc_uncorrected{};  ///< the same that could not be corrected: data is lost
  std::optional<std::uint64_t> pcie_replays{};     ///< packets that the link had to send again
  std::optional<unsigned> link_generation{};       ///< now: an idle link trains down
  std::optional<unsigned> link_width{};
  /// Reasons why clocks are below what they could be: "hw-thermal".
  std::optional<std::vector<std::string>> throttle{};
  std::optional<double> power{};              ///< watts that the GPU takes, as its sensor averages them
  std::optional<double> temperature{};        ///< of the chip, in degrees Celsius
  std::optional<double> temperature_limit{};  ///< at which the chip slows itself down
  /// Critical errors that the driver told of since the look before.
  std::optional<std::vector<std::uint64_t>> xids{};
  friend bool operator==(const Health&, const Health&) = default;
};

/// Clocks of a GPU at one moment, in hertz. What is not known is absent.
struct Clocks {
  std::optional<double> sm{};      ///< of the multiprocessors
  std::optional<double> memory{};  ///< of the memory
  friend bool operator==(const Clocks&, const Clocks&) = default;
};

/// That a GPU's link has carried since some moment, packets and all, as the driver counts them.
struct LinkBytes {
  double sent = 0;      ///< by the GPU
  double received = 0;  ///< by the GPU
};

/// Before and after a case.
struct HealthRecord {
  Health before{};
  Health after{};
  friend bool operator==(const HealthRecord&, const HealthRecord&) = default;
};

}  // namespace xferbench
