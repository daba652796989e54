// Writes Chrome's trace-event format (for ui.perfetto.dev and chrome://tracing) one event at a time, so that the file
// need not fit in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/sink.hpp"

namespace xferbench {

/// An event with a duration; times in nanoseconds.
struct TraceEvent {
  std::string_view name{};
  std::string_view category{};
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::uint64_t bytes = 0;  ///< bytes that were moved; 0: none
  std::optional<std::uint32_t> stream{};
};

/// Writer of one file. Its times are microseconds, with nanosecond precision. Control characters in texts are escaped.
class TraceEvents {
 public:
  explicit TraceEvents(const Sink& sink);
  /// Adds a process to the trace and returns its number. `arguments` contain the process's name.
  std::size_t add_process(const nlohmann::ordered_json& arguments);
  /// Adds a track to a process. `order` is its position among the process's tracks in the viewer.
  void add_track(std::size_t process, std::size_t track, const std::string& name, std::size_t order);
  void add(std::size_t process, std::size_t track, const TraceEvent& event);
  /// Completes the file. `other` contains facts about the whole trace.
  void end(const nlohmann::ordered_json& other);

 private:
  void add(std::string_view event);
  void metadata(const char* what, std::size_t process, std::size_t track, const nlohmann::ordered_json& arguments);
  void flush();

  const Sink& sink_;
  std::string text_;
  std::size_t processes_ = 0;
  bool first_ = true;
};

/// Assigns spans to lanes so that no two spans of a lane overlap. Viewers draw overlapping spans of one track wrongly
/// unless they are nested. Spans must be sorted by begin.
class Lanes {
 public:
  std::size_t lane_of(std::int64_t begin, std::int64_t end);

 private:
  template <class Item>
  using Least = std::priority_queue<Item, std::vector<Item>, std::greater<>>;
  Least<std::pair<std::int64_t, std::size_t>> busy_;  // busy lanes: time at which each becomes free, and its number
  Least<std::size_t> free_;
};

/// Returns the name of a lane of a row in viewers: "kernel", "kernel 2", "inside the GPU".
std::string track_name(std::string_view row, std::size_t lane);

std::int64_t nanoseconds(double seconds);

}  // namespace xferbench
