#include "report/trace/trace_events.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/printable.hpp"

namespace xferbench {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kPiece = 1U << 16U;

std::string text_of(const Json& json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (find_control(text).bytes > 0) text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text;
}

std::string microseconds(std::int64_t nanoseconds) { return Json(static_cast<double>(nanoseconds) / 1e3).dump(); }

std::string arguments_of(const TraceEvent& e) {
  std::string text;
  const auto add = [&text](std::string_view name, const std::string& value) {
    text += fmt::format("{}\"{}\":{}", text.empty() ? "" : ",", name, value);
  };
  if (e.bytes > 0) add("bytes", std::to_string(e.bytes));
  if (e.stream) add("stream", std::to_string(*e.stream));
  if (e.bytes > 0 && e.end > e.begin) {
    add("GB/s", Json(static_cast<double>(e.bytes) / static_cast<double>(e.end - e.begin)).dump());
  }
  return text;
}

}  // namespace

TraceEvents::TraceEvents(const Sink& sink) : sink_(sink), text_("{\"traceEvents\":[") {}

void TraceEvents::flush() {
  sink_(text_);
  text_.clear();
}

void TraceEvents::add(std::string_view event) {
  if (!first_) text_ += ',';
  first_ = false;
  text_ += event;
  if (text_.size() >= kPiece) flush();
}

void TraceEvents::metadata(const char* what, std::size_t process, std::size_t track, const Json& arguments) {
  add(text_of({{"name", what}, {"ph", "M"}, {"pid", process}, {"tid", track}, {"args", arguments}}));
}

std::size_t TraceEvents::add_process(const Json& arguments) {
  const std::size_t process = ++processes_;
  metadata("process_name", process, 0, arguments);
  metadata("process_sort_index", process, 0, {{"sort_index", process}});
  return process;
}

void TraceEvents::add_track(std::size_t process, std::size_t track, const std::string& name, std::size_t order) {
  metadata("thread_name", process, track, {{"name", name}});
  metadata("thread_sort_index", process, track, {{"sort_index", order}});
}

void TraceEvents::add(std::size_t process, std::size_t track, const TraceEvent& e) {
  // Round both ends and not the duration, so that events without a gap between them do not overlap.
  add(fmt::format(R"({{"name":{},"cat":{},"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
                  text_of(Json(e.name)), text_of(Json(e.category)), process, track, microseconds(e.begin),
                  microseconds(e.end - e.begin), arguments_of(e)));
}

void TraceEvents::end(const Json& other) {
  text_ += fmt::format(R"(],"displayTimeUnit":"ns","otherData":{}}})", text_of(other)) + "\n";
  flush();
}

std::size_t Lanes::lane_of(std::int64_t begin, std::int64_t end) {
  while (!busy_.empty() && busy_.top().first <= begin) {
    free_.push(busy_.top().second);
    busy_.pop();
  }
  const std::size_t lane = free_.empty() ? busy_.size() : free_.top();
  if (!free_.empty()) free_.pop();
  busy_.emplace(end, lane);
  return lane;
}

std::string track_name(std::string_view row, std::size_t lane) {
  std::string name(row);
  if (row == "inside") name = "inside the GPU";
  if (row == "host") name = "host calls";
  return lane == 0 ? name : fmt::format("{} {}", name, lane + 1);
}

std::int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }

}  // namespace xferbench
