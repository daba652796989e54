// What is to be recorded of a program, as it is told to the library that is loaded into it: by environment variables,
// which its children inherit.
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
  std::uint64_t max_records = 0;       ///< of each process; 0: all
  double from = 0;                     ///< seconds after a process's start at which recording begins
  std::optional<double> seconds{};     ///< that it goes on from there
  std::optional<std::string> range{};  ///< recording begins with the first NVTX range of this name
  bool stacks = false;                 ///< the call stack of the host with each call
  bool only_ranges = false;            ///< NVTX ranges and nothing of CUDA: costs next to nothing
  std::optional<std::string> cupti{};  ///< path of the library, where the usual places are not to be searched
  friend bool operator==(const RecordingRequest&, const RecordingRequest&) = default;
};

/// "XFERBENCH_RECORD_FOLDER=/tmp/x" and so on, without what is as by default.
std::vector<std::pair<std::string, std::string>> to_environment(const RecordingRequest& request);

/// As the environment says: `get` is getenv, or stands in for it. Nothing where no folder is named. What cannot be read
/// counts as absent: the library that asks must not end the program that it is in.
std::optional<RecordingRequest> recording_request(const std::function<const char*(const char*)>& get);

}  // namespace xferbench
