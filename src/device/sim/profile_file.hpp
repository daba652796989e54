// Reads profile files: JSON modifications of a built-in profile for what-if simulations (docs/simulated-device.md).
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

/// A number of a profile that is known only to lie in an interval.
struct Uncertain {
  const struct ProfileField* field = nullptr;
  double low = 0;
  double high = 0;
};

struct ProfileFile {
  Profile profile;
  std::vector<Uncertain> uncertain{};
  std::vector<std::string> sources{};  ///< origin of the numbers, as the file gives it
  ModelledRank rank{};
  std::optional<InjectedFault> fault{};
};

/// Throws InputError with one line that says where the file is wrong and what was expected.
ProfileFile read_profile(const std::string& path);

/// The profile with every uncertain number at the end of its interval that makes the machine fastest, or slowest.
Profile at_ends(const ProfileFile& file, ProfileEnds ends);

/// Like read_profile(), from text; `name` is used in messages.
ProfileFile parse_profile(std::string_view text, std::string_view name);
/// Contents of docs/profile-schema.json.
std::string profile_schema();

/// A built-in profile by its name, or a file if is_profile_file(). Throws UsageError for an unknown name.
ProfileFile find_profile(const std::string& profile);

}  // namespace xferbench::sim
