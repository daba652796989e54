// Reads timelines that --timeline wrote in Chrome's trace-event format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace xferbench {

/// Result of schema_of() for a trace file, which has no schema.
inline constexpr std::string_view kTraceEvents = "traceEvents";

struct TraceFile {
  struct Event {
    std::string name{};
    std::string phase{};     ///< "X": an event with a duration; "M": names a process or a track
    std::string category{};  ///< for example "H2D"
    std::uint64_t process = 0;
    std::uint64_t track = 0;
    double begin = 0;   ///< microseconds
    double length = 0;  ///< microseconds
    std::uint64_t bytes = 0;
    std::string called{};     ///< name of the process or track
    std::string of_case{};    ///< the case that the process shows, if the case has several processes
    std::string part{};       ///< which part of the case the process shows, for example "GPU 1"
    std::uint64_t place = 0;  ///< position of a track among the tracks of its process
  };
  std::vector<Event> events{};  ///< events at the beginning of the file
  std::size_t left_out = 0;     ///< number of further events, which were not kept
  std::string gpu{};
  std::string simulated{};  ///< profile of the simulation; empty for a real GPU
  std::string unverified{};
  std::string fault{};
};

/// Reads a trace file. Throws InputError with the place in the file, what was found there, and what was expected.
TraceFile read_trace(const std::string& path);

}  // namespace xferbench
