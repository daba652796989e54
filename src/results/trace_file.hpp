// Timelines as --timeline writes them, in Chrome's trace-event format, read again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace xferbench {

/// What schema_of() says of such a file, which has none.
inline constexpr std::string_view kTraceEvents = "traceEvents";

struct TraceFile {
  struct Event {
    std::string name{};
    std::string phase{};     ///< "X": it took time; "M": it says the name of a process or a track
    std::string category{};  ///< "H2D"
    std::uint64_t process = 0;
    std::uint64_t track = 0;
    double begin = 0;   ///< microseconds
    double length = 0;  ///< likewise
    std::uint64_t bytes = 0;
    std::string called{};     ///< the process or track
    std::string of_case{};    ///< where a case has several processes
    std::string part{};       ///< which of them
    std::uint64_t place = 0;  ///< of a track among the others
  };
  std::vector<Event> events{};  ///< the first of them
  std::size_t left_out = 0;     ///< how many more there are
  std::string gpu{};
  std::string simulated{};  ///< by which profile; empty of a real GPU
  std::string unverified{};
  std::string fault{};
};

/// Throws InputError as read_report() does.
TraceFile read_trace(const std::string& path);

}  // namespace xferbench
