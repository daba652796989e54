// Opening a machine, whatever the build can do. The rest of the program does not know which backends exist.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/host.hpp"
#include "device/machine.hpp"

namespace xferbench {

/// The GPU of one of several processes on a machine: that of its number among them, or the only one it sees.
struct GpuOfProcess {
  int local_rank = 0;
  bool share = false;  ///< where there are fewer GPUs than processes, they begin again with the first
  friend bool operator==(const GpuOfProcess&, const GpuOfProcess&) = default;
};

/// Which of a machine's GPUs.
struct GpuSelection {
  std::vector<int> numbers{0};               ///< as CUDA counts them, in this order, each once; none: every GPU
  std::optional<std::size_t> first{};        ///< instead: so many, from 0 on
  std::optional<GpuOfProcess> of_process{};  ///< instead: one of them
  friend bool operator==(const GpuSelection&, const GpuSelection&) = default;
};

/// The numbers that a selection comes to on a machine of `count` GPUs. Throws NoDeviceError where it has not got them;
/// what else could be done about that than to choose others is its last word.
std::vector<int> chosen_gpus(const GpuSelection& selection, std::size_t count, const std::string& or_else = {});

/// Opens this machine with some of its GPUs, after placing the process as `numa` says, which stays so when the machine
/// is gone. Throws NoDeviceError with one line that says what is missing: CUDA in this build, a driver, a GPU, or one
/// of that number; UsageError if the process cannot be bound to a node that is asked for by number.
std::unique_ptr<Machine> open_gpus(const GpuSelection& selection, const NumaPolicy& numa = {});

/// Whether what should be simulated is a profile file, and not the name of a built-in profile: there is a / in it, or
/// it ends in .json.
bool is_profile_file(std::string_view profile);

/// Whether it is the name of a built-in profile.
bool is_built_in_profile(std::string_view name);

/// Opens the simulated machine with some of its GPUs. `profile`: a built-in one, by its name, or a file. `rank`: of the
/// process among several; what varies does so otherwise on each. Throws UsageError for an unknown profile, InputError
/// for a file that is none, NoDeviceError for a GPU that the machine has not got.
std::unique_ptr<Machine> open_simulated(const std::string& profile, const GpuSelection& selection = {}, int rank = 0);

/// A profile whose numbers are known within intervals: as it says, or where all of them are best or worst.
enum class ProfileEnds { middle, fastest, slowest };

/// A profile file that is no file.
struct ProfileText {
  std::string json;
  std::string name;  ///< what messages call it
  ProfileEnds ends = ProfileEnds::middle;
};

/// The same machine of such a text.
std::unique_ptr<Machine> open_simulated(const ProfileText& profile, const GpuSelection& selection = {}, int rank = 0);

/// A number of a profile as open_simulated() takes it, by its name. Throws as that does, and std::logic_error where
/// profiles have no such number.
double number_of_profile(const std::string& profile, std::string_view field);

/// What is wrong with a number that a profile file is to have, which is one of those that profiles have: "-3e-06,
/// expected one from 0 to 1 (seconds)". Empty: nothing.
std::string problem_of_number(std::string_view field, double value);

/// What a profile file says of its numbers beside them.
struct ProfileOrigins {
  std::vector<std::string> sources;  ///< where they come from
  bool has_intervals = false;        ///< of a number that makes a machine faster or slower
};
/// Throws InputError where the text is no profile that could be simulated.
ProfileOrigins origins_of(const ProfileText& profile);

/// Names and one-line descriptions of the built-in profiles, the default first.
std::vector<std::pair<std::string, std::string>> simulated_profiles();

}  // namespace xferbench
