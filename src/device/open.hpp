// Opens machines, real or simulated, so that the rest of the program need not know which backends the build contains.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/host.hpp"
#include "device/machine.hpp"

namespace xferbench {

/// Selects a GPU for one of several processes (ranks) on a machine: the GPU whose index is the process's local rank, or
/// the only visible one.
struct GpuOfProcess {
  int local_rank = 0;
  bool share = false;  ///< if there are more processes than GPUs, ranks wrap around and share GPUs
  friend bool operator==(const GpuOfProcess&, const GpuOfProcess&) = default;
};

/// Which GPUs of a machine to open.
struct GpuSelection {
  std::vector<int> numbers{0};               ///< CUDA device indices, in this order, each once; empty: every GPU
  std::optional<std::size_t> first{};        ///< if set, overrides `numbers`: this many GPUs, from 0 on
  std::optional<GpuOfProcess> of_process{};  ///< if set, overrides `numbers` and `first`: only the GPU of this process
  /// If set, overrides all others: the GPU with this UUID, or the unambiguous beginning of one, or this PCI address.
  std::optional<std::string> named{};
  friend bool operator==(const GpuSelection&, const GpuSelection&) = default;
};

/// Returns the device indices that a selection means on a machine of `count` GPUs. `describe` returns what is known of
/// the GPU with an index, and is called for a selection by name. Throws NoDeviceError if GPUs are missing; its message
/// ends with `or_else`, a further remedy.
std::vector<int> chosen_gpus(const GpuSelection& selection, std::size_t count,
                             const std::function<Environment::Gpu(int)>& describe, const std::string& or_else = {});

/// Opens this machine with the selected GPUs after binding the process as `numa` says. The binding outlives the
/// machine. Throws NoDeviceError with one line that says what is missing (CUDA in this build, a driver, any GPU, or a
/// selected GPU), and UsageError if the process cannot be bound to the requested node.
std::unique_ptr<Machine> open_gpus(const GpuSelection& selection, const NumaPolicy& numa = {});

/// Whether the argument of --simulate names a file, not a built-in profile: it contains a / or ends in .json.
bool is_profile_file(std::string_view profile);

bool is_built_in_profile(std::string_view name);

/// Opens a simulated machine with the selected GPUs. `profile` is a built-in name or a file. `rank` is the rank of this
/// process, which seeds the random variation. Throws UsageError for an unknown profile, InputError for an invalid file,
/// NoDeviceError for a GPU that the machine lacks.
std::unique_ptr<Machine> open_simulated(const std::string& profile, const GpuSelection& selection = {}, int rank = 0);

/// For profile numbers with a confidence interval, selects the number itself (middle), or the end of the interval that
/// makes the machine fastest or slowest.
enum class ProfileEnds { middle, fastest, slowest };

/// The content of a profile file, held in memory.
struct ProfileText {
  std::string json;
  std::string name;  ///< name of the profile in messages
  ProfileEnds ends = ProfileEnds::middle;
};

/// Like open_simulated() for a name or file, but for a profile in memory.
std::unique_ptr<Machine> open_simulated(const ProfileText& profile, const GpuSelection& selection = {}, int rank = 0);

/// Returns the number in the named field of a profile. Throws like open_simulated(), and std::logic_error for an
/// unknown field.
double number_of_profile(const std::string& profile, std::string_view field);

/// Returns why a value is invalid for a known profile field, for example "-3e-06, expected one from 0 to 1 (seconds)";
/// empty if it is valid.
std::string problem_of_number(std::string_view field, double value);

/// Where the numbers of a profile file come from.
struct ProfileOrigins {
  std::vector<std::string> sources;  ///< origins of the numbers, in the words of the file
  bool has_intervals = false;        ///< whether at least one number that affects performance has an interval
};
/// Returns the origins of the profile's numbers. Throws InputError if the text is no valid profile.
ProfileOrigins origins_of(const ProfileText& profile);

/// Returns names and one-line descriptions of the built-in profiles, the default first.
std::vector<std::pair<std::string, std::string>> simulated_profiles();

}  // namespace xferbench
