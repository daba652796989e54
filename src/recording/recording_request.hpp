// What to record of a program. The request is passed in environment variables to the library that is injected into the
// program; child processes inherit them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace xferbench {

struct RecordingRequest {
  std::string folder;                  ///< an absolute path; each process writes a file of its own into it
  std::uint64_t max_records = 0;       ///< largest number of records in each process; 0: unlimited
  double from = 0;                     ///< seconds after a process's start at which recording begins
  std::optional<double> seconds{};     ///< seconds that the recording lasts; absent: no limit
  std::optional<std::string> range{};  ///< name of an NVTX range; recording begins with its first occurrence
  bool stacks = false;                 ///< record the host call stack of each call
  bool only_ranges = false;            ///< record NVTX ranges, but nothing of CUDA: costs next to nothing
  std::optional<std::string> cupti{};  ///< path of CUPTI's library; absent: search the usual places
  friend bool operator==(const RecordingRequest&, const RecordingRequest&) = default;
};

/// Returns the environment variables that pass the request, for example "XFERBENCH_RECORD_FOLDER" and "/tmp/x". Leaves
/// out defaults.
std::vector<std::pair<std::string, std::string>> to_environment(const RecordingRequest& request);

/// Reads the request from the environment; `get` is getenv or a substitute. Returns nullopt if no folder is set.
/// Invalid values count as not set, because the library must not end the program that it is in.
std::optional<RecordingRequest> recording_request(const std::function<const char*(const char*)>& get);

}  // namespace xferbench
