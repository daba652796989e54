// Opens machines, real or simulated. The rest of the program does not know which backends the build contains.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/host.hpp"
#include "device/machine.hpp"

namespace xferbench {

/// Selects the GPU of one of several processes on a machine: the GPU with the process's local rank, or the only
/// visible one.
struct GpuOfProcess {
  int local_rank = 0;
  bool share = false;  ///< with more processes than GPUs, ranks wrap around and share GPUs
  friend bool operator==(const GpuOfProcess&, const GpuOfProcess&) = default;
};

/// Which GPUs of a machine to open.
struct GpuSelection {
  std::vector<int> numbers{0};               ///< CUDA device indices, in this order, each once; empty: every GPU
  std::optional<std::size_t> first{};        ///< if set, overrides numbers: this many GPUs, from 0 on
  std::optional<GpuOfProcess> of_process{};  ///< if set, overrides `numbers` and `first`: only the GPU of this process
  friend bool operator==(const GpuSelection&, const GpuSelection&) = default;
};

/// Resolves a selection to device indices on a machine of `count` GPUs. Throws NoDeviceError if GPUs are missing;
/// `or_else` is appended to that message as a further remedy.
std::vector<int> chosen_gpus(const GpuSelection& selection, std::size_t count, const std::string& or_else = {});

/// Opens this machine with the selected GPUs after binding the process as `numa` says; the binding outlives the
/// machine. Throws NoDeviceError with one line that says what is missing (CUDA in this build, a driver, any GPU, a
/// selected GPU), and UsageError if the process cannot be bound to the requested node.
std::unique_ptr<Machine> open_gpus(const GpuSelection& selection, const NumaPolicy& numa = {});

/// Whether the argument of --simulate is a profile file rather than a built-in profile: it contains a / or ends in
/// .json.
bool is_profile_file(std::string_view profile);

bool is_built_in_profile(std::string_view name);

/// Opens the simulated machine with the selected GPUs. `profile`: a built-in name or a file. `rank`: rank of this
/// process; it seeds the random variation. Throws UsageError for an unknown profile, InputError for an invalid file,
/// NoDeviceError for a GPU that the machine lacks.
std::unique_ptr<Machine> open_simulated(const std::string& profile, const GpuSelection& selection = {}, int rank = 0);

/// Which value to use for each profile number that has a confidence interval: the number itself (middle), or the end
/// of the interval that makes the machine fastest, or slowest.
enum class ProfileEnds { middle, fastest, slowest };

/// A profile file's content in memory.
struct ProfileText {
  std::string json;
  std::string name;  ///< name of the profile in messages
  ProfileEnds ends = ProfileEnds::middle;
};

/// Like open_simulated() for a name or file, but for a profile in memory.
std::unique_ptr<Machine> open_simulated(const ProfileText& profile, const GpuSelection& selection = {}, int rank = 0);

/// Returns one number of a profile, by its field name. Throws as open_simulated() does, and std::logic_error for an
/// unknown field.
double number_of_profile(const std::string& profile, std::string_view field);

/// Returns why a value is invalid for a known profile field, for example "-3e-06, expected one from 0 to 1 (seconds)";
/// empty if it is valid.
std::string problem_of_number(std::string_view field, double value);

/// Metadata of a profile file about the origin of its numbers.
struct ProfileOrigins {
  std::vector<std::string> sources;  ///< origins of the numbers, as the file gives them
  bool has_intervals = false;        ///< at least one performance number has an interval
};
/// Throws InputError if the text is no valid profile.
ProfileOrigins origins_of(const ProfileText& profile);

/// Names and one-line descriptions of the built-in profiles, the default first.
std::vector<std::pair<std::string, std::string>> simulated_profiles();

}  // namespace xferbench
