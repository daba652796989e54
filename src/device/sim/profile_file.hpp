// Profile files: a what-if on a built-in profile, in a JSON file that people and scripts write
// (docs/simulated-device.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "device/injection.hpp"
#include "device/modelled_rank.hpp"
#include "device/sim/profile.hpp"

namespace xferbench::sim {

struct ProfileFile {
  Profile profile;
  ModelledRank rank{};
  std::optional<InjectedFault> fault{};
};

/// Throws InputError with one line that says where in the file something is wrong, and what was expected.
ProfileFile read_profile(const std::string& path);

/// The same of a text; `name` is what messages call it.
ProfileFile parse_profile(std::string_view text, std::string_view name);

/// A built-in profile by its name, or a file, as is_profile_file() tells them apart. Throws UsageError where there is
/// none of that name.
ProfileFile find_profile(const std::string& profile);

}  // namespace xferbench::sim
