// Chrome's trace-event format (ui.perfetto.dev and chrome://tracing read it), an event at a time: what a file holds
// need not be in memory.
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

/// Something that took time; nanoseconds.
struct TraceEvent {
  std::string_view name{};
  std::string_view category{};
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::uint64_t bytes = 0;  ///< 0: none were moved
  std::optional<std::uint32_t> stream{};
};

/// A file that is being written. Times in it are microseconds, to the nanosecond. What a terminal would obey in a text
/// is written by its number.
class TraceEvents {
 public:
  explicit TraceEvents(const Sink& sink);
  /// A process of the viewer, as they follow each other; its number. `arguments` say its name.
  std::size_t add_process(const nlohmann::ordered_json& arguments);
  /// A track of a process. `order`: its place among the others.
  void add_track(std::size_t process, std::size_t track, const std::string& name, std::size_t order);
  void add(std::size_t process, std::size_t track, const TraceEvent& event);
  /// The rest of the file: what it is of.
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

/// Which lane of a row each span goes to, so that no two of one lane overlap: such viewers show only what nests. Spans
/// come by begin.
class Lanes {
 public:
  std::size_t lane_of(std::int64_t begin, std::int64_t end);

 private:
  template <class Item>
  using Least = std::priority_queue<Item, std::vector<Item>, std::greater<>>;
  Least<std::pair<std::int64_t, std::size_t>> busy_;  // lanes by when they become free
  Least<std::size_t> free_;
};

/// What viewers call a lane of a row: "kernel", "kernel 2", "inside the GPU".
std::string track_name(std::string_view row, std::size_t lane);

std::int64_t nanoseconds(double seconds);

}  // namespace xferbench
