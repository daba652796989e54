// Health of a GPU and its link: error counters, throttle reasons, power and temperature.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace xferbench {

/// The state at one moment. Unknown values are absent.
struct Health {
  std::optional<std::uint64_t> ecc_corrected{};    ///< corrected memory errors since the driver was loaded
  std::optional<std::uint64_t> ecc_uncorrected{};  ///< memory errors that could not be corrected: data is lost
  std::optional<std::uint64_t> pcie_replays{};     ///< packets that the link had to resend
  std::optional<unsigned> link_generation{};       ///< at this moment: an idle link trains down
  std::optional<unsigned> link_width{};
  /// Throttle reasons, such as "hw-thermal".
  std::optional<std::vector<std::string>> throttle{};
  std::optional<double> power{};              ///< watts, averaged by the GPU's sensor
  std::optional<double> temperature{};        ///< temperature of the GPU chip in degrees Celsius
  std::optional<double> temperature_limit{};  ///< degrees Celsius at which the chip throttles itself
  /// Critical errors (NVIDIA Xid) that the driver reported since the previous reading.
  std::optional<std::vector<std::uint64_t>> xids{};
  friend bool operator==(const Health&, const Health&) = default;
};

/// Clocks of a GPU at one moment, in hertz. Unknown ones are absent.
struct Clocks {
  std::optional<double> sm{};
  std::optional<double> memory{};
  friend bool operator==(const Clocks&, const Clocks&) = default;
};

/// Bytes that a GPU's link carried since some moment, packet overhead included, as the driver counts them.
struct LinkBytes {
  double sent = 0;      ///< bytes that the GPU sent
  double received = 0;  ///< bytes that the GPU received
};

/// Health of a GPU before and after a case.
struct HealthRecord {
  Health before{};
  Health after{};
  friend bool operator==(const HealthRecord&, const HealthRecord&) = default;
};

}  // namespace xferbench
