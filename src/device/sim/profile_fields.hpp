// Names, units and limits of a profile's numbers, as used in profile files, and the parts of the machine they belong
// to.
#pragma once

#include <span>
#include <string_view>

#include "core/enum_text.hpp"
#include "device/sim/profile.hpp"

namespace xferbench::sim {

/// A part of the machine whose rates a profile file can scale together.
enum class Part {
  link,         ///< rates between the GPU and its host
  gpu,          ///< the GPU's internal rates
  host_memory,  ///< rates of host memory, for copies by the host and over the GPUs' links
  nvlink,       ///< rates from GPU to GPU
};
constexpr auto texts_of(Part) { return enum_texts("link", "gpu", "host_memory", "nvlink"); }

/// Whether a larger value (more) or a smaller value (less) makes the machine faster.
enum class Faster { neither, more, less };

/// Unit and valid range of a number in a profile.
struct Quantity {
  std::string_view unit;
  double least;
  double most;
  bool whole = false;
  Faster faster = Faster::neither;
};

struct ProfileField {
  std::string_view name;
  const Quantity* quantity;
  unsigned parts;  ///< the parts of the machine to which the number belongs, as a bit mask of Part
  double (*get)(const Profile&);
  void (*set)(Profile&, double);

  [[nodiscard]] bool belongs_to(Part part) const { return (parts >> static_cast<unsigned>(part) & 1U) != 0; }
};

std::span<const ProfileField> profile_fields();
/// Returns null if there is no field of that name.
const ProfileField* find_profile_field(std::string_view name);

}  // namespace xferbench::sim
