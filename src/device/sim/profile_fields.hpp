// The numbers of a profile by their names: what a profile file may set, within which limits, and what belongs to which
// part of the machine.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "core/enum_text.hpp"
#include "device/sim/profile.hpp"

namespace xferbench::sim {

/// A part of the machine whose rates a profile file scales together.
enum class Part {
  link,         ///< between the GPU and its host
  gpu,          ///< what the GPU does by itself
  host_memory,  ///< what it gives to copies of the host, and through links to GPUs
  nvlink,       ///< from GPU to GPU
};
constexpr auto texts_of(Part) { return std::to_array<std::string_view>({"link", "gpu", "host_memory", "nvlink"}); }

/// What makes a machine faster: more of a number, or less of it.
enum class Faster { neither, more, less };

/// What a number is, and what is legal for it.
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
  unsigned parts;  ///< that it belongs to: a bit for each
  double (*get)(const Profile&);
  void (*set)(Profile&, double);

  [[nodiscard]] bool belongs_to(Part part) const { return (parts >> static_cast<unsigned>(part) & 1U) != 0; }
};

/// All numbers of a profile.
std::span<const ProfileField> profile_fields();
/// Null where there is none of that name.
const ProfileField* find_profile_field(std::string_view name);

}  // namespace xferbench::sim
