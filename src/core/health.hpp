// Health of a GPU and its PCIe link: error counters, throttle reasons, power and temperature.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace xferbench {

/// The health at one moment. Unknown values are absent.
struct Health {
  std::optional<std::uint64_t> ecc_corrected{};  ///< corrected ECC memory errors since the driver was loaded
  /// uncorrectable ECC memory errors, which destroy data, since the driver was loaded
  std::optional<std::uint64_t> ecc_uncorrected{};
  std::optional<std::uint64_t> pcie_replays{};  ///< packets that the PCIe link had to resend
  std::optional<unsigned> link_generation{};  ///< PCIe generation at this moment, which is lower while the link is idle
  std::optional<unsigned> link_width{};
  /// Throttle reasons at this moment, such as "hw-thermal".
  std::optional<std::vector<std::string>> throttle{};
  std::optional<double> power{};              ///< watts, averaged by the GPU's sensor
  std::optional<double> temperature{};        ///< temperature of the GPU chip in degrees Celsius
  std::optional<double> temperature_limit{};  ///< GPU temperature in degrees Celsius at which its clocks are reduced
  /// Critical errors (NVIDIA Xid) that the driver reported since the previous reading.
  std::optional<std::vector<std::uint64_t>> xids{};
  friend bool operator==(const Health&, const Health&) = default;
};

/// Clocks of a GPU at one moment, in hertz. Unknown clocks are absent.
struct Clocks {
  std::optional<double> sm{};
  std::optional<double> memory{};
  friend bool operator==(const Clocks&, const Clocks&) = default;
};

/// Byte counters of a GPU's PCIe link, packet overhead included. Only differences between readings are meaningful.
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
