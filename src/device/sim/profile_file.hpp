// Profile files: a what-if on a built-in profile, in a JSON file that people and scripts write
// (docs/simulated-device.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/injection.hpp"
#include "device/modelled_rank.hpp"
#include "device/open.hpp"
#include "device/sim/profile.hpp"

namespace xferbench::sim {

/// How well a number of a profile is known: it lies between these.
struct Uncertain {
  const struct ProfileField* field = nullptr;
  double low = 0;
  double high = 0;
};

struct ProfileFile {
  Profile profile;
  std::vector<Uncertain> uncertain{};
  std::vector<std::string> sources{};  ///< of numbers, as the file has them
  ModelledRank rank{};
  std::optional<InjectedFault> fault{};
};

/// Throws InputError with one line that says where in the file something is wrong, and what was expected.
ProfileFile read_profile(const std::string& path);

/// The profile with all numbers that are not known better at those ends that make it fastest, or slowest.
Profile at_ends(const ProfileFile& file, ProfileEnds ends);

/// The same of a text; `name` is what messages call it.
ProfileFile parse_profile(std::string_view text, std::string_view name);
/// What docs/profile-schema.json says.
std::string profile_schema();

/// A built-in profile by its name, or a file, as is_profile_file() tells them apart. Throws UsageError where there is
/// none of that name.
ProfileFile find_profile(const std::string& profile);

}  // namespace xferbench::sim
