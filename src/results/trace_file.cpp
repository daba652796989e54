#include "results/trace_file.hpp"

#include <array>
#include <limits>

#include "results/json_codec.hpp"
#include "results/stored_file.hpp"

namespace xferbench {

namespace {

using namespace json;
using enum Rule;
using Traced = TraceFile::Event;

constexpr std::size_t kMostEvents = 50'000;  // more events than an HTML page draws

constexpr std::array kArgumentFields{
    field<&Traced::called, kText>("name", optional), field<&Traced::of_case, kText>("case", optional),
    field<&Traced::part, kText>("part", optional),   field<&Traced::bytes>("bytes", optional),
    field<&Traced::place>("sort_index", optional),
};
constexpr Codec kArguments = record(kArgumentFields);

constexpr std::array kEventFields{
    field<&Traced::name, kText>("name"),
    field<&Traced::phase, kText>("ph"),
    field<&Traced::category, kText>("cat", optional),
    field<&Traced::process>("pid"),
    field<&Traced::track>("tid"),
    field<&Traced::begin, kNumber>("ts", optional),
    field<&Traced::length>("dur", optional),
    part("args", kArguments, optional),
};
constexpr Codec kEvent = record(kEventFields);

/// The shape of the list of events: reads the first kMostEvents into the TraceFile, which counts the others.
constexpr Codec kEvents{.expected = "a list", .item = [](Reader& in, void* into, std::size_t index) -> Target {
                          auto& file = as<TraceFile>(into);
                          if (index < kMostEvents) return {&kEvent, &in.one_more(file.events, kMostEvents)};
                          ++file.left_out;
                          return {};
                        }};

constexpr std::array kOtherFields{
    field<&TraceFile::gpu, kText>("gpu", optional),
    field<&TraceFile::simulated, kText>("SIMULATED", optional),
    field<&TraceFile::unverified, kText>("NOT VERIFIED", optional),
    field<&TraceFile::fault, kText>("FAULT INJECTED", optional),
};
constexpr Codec kOther = record(kOtherFields);

constexpr std::array kTraceFields{
    part("traceEvents", kEvents),
    part("otherData", kOther, optional),
};
constexpr Codec kTrace = record(kTraceFields);

/// Returns the part of a text between `before` and `behind`. Returns the whole text if either is missing.
std::string between(const std::string& text, std::string_view before, std::string_view behind) {
  const std::size_t end = text.find(behind);
  if (!text.starts_with(before) || end == std::string::npos) return text;
  return text.substr(before.size(), end - before.size());
}

}  // namespace

TraceFile read_trace(const std::string& path) {
  TraceFile file;
  read_beginning(open_stored(path).number(), path, std::numeric_limits<std::uint64_t>::max(), {}, {&kTrace, &file});
  file.simulated = between(file.simulated, "by profile ", ": modelled times");
  file.fault = between(file.fault, "", "; not a measurement");
  return file;
}

}  // namespace xferbench
