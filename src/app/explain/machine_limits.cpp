#include "app/explain/machine_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <system_error>

#include "app/explain/run_program.hpp"
#include "app/explain/temporary_folder.hpp"
#include "app/fleet/rank_session.hpp"
#include "app/session.hpp"
#include "core/error.hpp"
#include "core/own_process.hpp"
#include "core/standard_error.hpp"
#include "results/json.hpp"
#include "results/output_file.hpp"
#include "results/utc.hpp"

namespace xferbench::app {

namespace fs = std::filesystem;

namespace {

constexpr std::time_t kDay = 86400;  // seconds
constexpr std::time_t kMostDays = 30;

/// Returns the version of the loaded NVIDIA kernel module; empty if none is loaded.
std::string driver_version() {
  std::ifstream file("/sys/module/nvidia/version");
  std::string version;
  std::getline(file, version);
  return version;
}

/// Makes a text usable in a file name: replaces all but letters, digits, - and . by _.
std::string as_name(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '.'; }, '_');
  return text;
}

/// Returns the cache folder, in $XDG_CACHE_HOME or ~/.cache; nullopt if there is no home folder.
std::optional<fs::path> cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return fs::path(cache) / "xferbench";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return fs::path(home) / ".cache" / "xferbench";
  return std::nullopt;
}

/// Returns the UUID of the GPU used by the process with the most copies and kernels; empty if unknown.
std::string uuid_of(const std::vector<Recording>& recordings) {
  std::string uuid;
  std::size_t most = 0;
  for (const Recording& r : recordings) {
    const std::size_t operations = r.copies.size() + r.kernels.size();
    if (operations <= most || r.devices.empty()) continue;
    const std::uint32_t device = r.copies.empty() ? r.kernels.front().on.device : r.copies.front().on.device;
    const auto found = std::ranges::find(r.devices, device, &recording::Device::id);
    if (found == r.devices.end()) continue;
    most = operations;
    uuid = r.name(found->uuid);
  }
  return uuid;
}

/// Measures the limits in a child process, so that the parent does not initialize CUDA. Returns the error message;
/// empty on success.
std::string measure(const std::string& file, const std::vector<std::string>& flags, const Variables& variables) {
  std::vector<std::string> words{"/proc/self/exe", "--suite", "limits", "--json", file};
  words.insert(words.end(), flags.begin(), flags.end());
  // The suite's warnings are not shown, because they concern only the precision of single measurements.
  words.emplace_back("--quiet");
  const ProgramEnd end = run_program(words, variables, StandardOutput::dropped);
  if (end.code() == static_cast<int>(ExitCode::ok) || end.code() == static_cast<int>(ExitCode::failed)) return {};
  return fmt::format("xferbench --suite limits ended with exit code {}", end.code());
}

std::optional<Report> measured(const std::string& file, const std::vector<std::string>& flags,
                               const Variables& variables, std::vector<std::string>& warnings) {
  const std::string reason = measure(file, flags, variables);
  if (reason.empty()) return read_report(file);
  warnings.push_back(
      fmt::format("The limits of this machine are unknown ({}): findings that need them are missing. Measure them with "
                  "xferbench --suite limits --json FILE, and give --limits FILE",
                  reason));
  return std::nullopt;
}

std::optional<Report> simulated(const std::string& profile, std::vector<std::string>& warnings) {
  const TemporaryFolder folder;
  return measured((folder.path() / "limits.json").string(), {"--simulate=" + profile}, {}, warnings);
}

/// Returns the limits of the GPU from the cache; nullopt if they are missing, outdated or unreadable.
std::optional<Report> kept(const fs::path& file, const std::string& uuid) {
  std::error_code unknown;
  if (!fs::exists(file, unknown)) return std::nullopt;
  try {
    Report report = read_report(file.string());
    if (limits_hold(report, uuid, driver_version(), utc_now())) return report;
  } catch (const InputError&) {
  }
  return std::nullopt;
}

/// Stores the limits in the cache. If writing fails (read-only home folder), the next run measures again.
void keep(const Report& report, const fs::path& file) {
  try {
    std::error_code failed;
    fs::create_directories(file.parent_path(), failed);
    ResultsFile(file.string()).finish(to_json(report));
  } catch (const OutputError&) {
  }
}

std::optional<Report> of_gpu(const std::string& uuid, bool anew, bool quiet, std::vector<std::string>& warnings) {
  const std::optional<fs::path> cache = cache_folder();
  const fs::path file = cache.value_or("") / fmt::format("limits-{}-{}.json", as_name(uuid), as_name(host_name()));
  if (!anew && cache) {
    if (std::optional<Report> report = kept(file, uuid)) return report;
  }
  if (const auto launch = launch_from_environment(); launch && launch->size != 1) {
    warnings.emplace_back(
        "Several processes at once do not measure the limits of this machine: run xferbench --suite limits --json "
        "limits.json without mpirun or srun, and give --limits limits.json");
    return std::nullopt;
  }
  if (!quiet) tell("measuring the limits of copies on this GPU (about 12 s on an H100; kept for 30 days)");
  const TemporaryFolder folder;
  const std::string fresh = (folder.path() / "limits.json").string();
  std::optional<Report> report = measured(fresh, {}, {{"CUDA_VISIBLE_DEVICES", uuid}}, warnings);
  if (report && cache && limits_hold(*report, uuid, driver_version(), utc_now())) keep(*report, file);
  return report;
}

}  // namespace

bool limits_hold(const Report& kept, const std::string& uuid, const std::string& driver, std::string_view now) {
  const std::optional<std::time_t> then = parse_utc(kept.started_at);
  const std::optional<std::time_t> today = parse_utc(std::string(now));
  const bool recent = then && today && *today / kDay >= *then / kDay && *today / kDay - *then / kDay <= kMostDays;
  const bool same_driver = driver.empty() || kept.environment.driver.empty() ||
                           // the stored text contains the CUDA version after the driver version
                           kept.environment.driver.starts_with(driver);
  const bool all_measured =
      kept.complete && std::ranges::none_of(kept.results, [](const Result& r) { return r.status == Status::failed; });
  return all_measured && recent && same_driver && kept.environment.gpu.uuid == uuid &&
         kept.tool.version == this_tool().version;
}

std::optional<Report> machine_limits(const cli::ExplainCommand& command, const std::vector<Recording>& recordings,
                                     std::vector<std::string>& warnings) {
  if (command.limits) return read_report(*command.limits);
  if (command.simulate) return simulated(*command.simulate, warnings);
  for (const Recording& r : recordings) {
    const std::string profile(r.name(r.process.profile));
    if (r.process.backend == recording::Backend::simulated && !profile.empty()) return simulated(profile, warnings);
  }
  const std::string uuid = uuid_of(recordings);
  if (uuid.empty()) return std::nullopt;
  return of_gpu(uuid, command.measure_limits, command.show.quiet, warnings);
}

}  // namespace xferbench::app
