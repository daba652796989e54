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

/// A number of a profile whose true value lies in an interval.
struct Uncertain {
  const struct ProfileField* field = nullptr;
  double low = 0;
  double high = 0;
};

struct ProfileFile {
  Profile profile;
  std::vector<Uncertain> uncertain{};
  std::vector<std::string> sources{};  ///< origins of the numbers, in the words of the file
  ModelledRank rank{};
  std::optional<InjectedFault> fault{};
};

/// Throws InputError with one line that says where the file is wrong and what was expected.
ProfileFile read_profile(const std::string& path);

/// Returns the profile with every uncertain number at the fastest or slowest end of its interval.
Profile at_ends(const ProfileFile& file, ProfileEnds ends);

/// Like read_profile(), but from a text. `name` is used in messages.
ProfileFile parse_profile(std::string_view text, std::string_view name);
/// Returns the JSON schema of profile files, which is the content of docs/profile-schema.json.
std::string profile_schema();

/// Returns the built-in profile of that name, or reads a file if is_profile_file(). Throws UsageError if unknown.
ProfileFile find_profile(const std::string& profile);

}  // namespace xferbench::sim
