#include "recording/recording_request.hpp"

#include <charconv>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

namespace xferbench {

namespace {

constexpr const char* kFolder = "XFERBENCH_RECORD_FOLDER";
constexpr const char* kMaxRecords = "XFERBENCH_RECORD_MAX";
constexpr const char* kFrom = "XFERBENCH_RECORD_FROM";
constexpr const char* kSeconds = "XFERBENCH_RECORD_FOR";
constexpr const char* kRange = "XFERBENCH_RECORD_RANGE";
constexpr const char* kStacks = "XFERBENCH_RECORD_STACKS";
constexpr const char* kOnlyRanges = "XFERBENCH_RECORD_ONLY_RANGES";
constexpr const char* kCupti = "XFERBENCH_RECORD_CUPTI";

/// Returns the text as a number of at least 0; nullopt for any other text.
template <class Number>
std::optional<Number> number(const char* text) {
  if (text == nullptr) return std::nullopt;
  Number value{};
  const char* const end = text + std::strlen(text);
  const auto [last, error] = std::from_chars(text, end, value);
  if (error != std::errc() || last != end || value < Number{}) return std::nullopt;
  return value;
}

std::optional<std::string> word(const char* text) {
  if (text == nullptr || *text == '\0') return std::nullopt;
  return text;
}

bool is_on(const char* text) { return text != nullptr && std::string_view(text) == "1"; }

}  // namespace

std::vector<std::pair<std::string, std::string>> to_environment(const RecordingRequest& request) {
  std::vector<std::pair<std::string, std::string>> variables{{kFolder, request.folder}};
  if (request.max_records > 0) variables.emplace_back(kMaxRecords, std::to_string(request.max_records));
  if (request.from > 0) variables.emplace_back(kFrom, fmt::format("{}", request.from));
  if (request.seconds) variables.emplace_back(kSeconds, fmt::format("{}", *request.seconds));
  if (request.range) variables.emplace_back(kRange, *request.range);
  if (request.stacks) variables.emplace_back(kStacks, "1");
  if (request.only_ranges) variables.emplace_back(kOnlyRanges, "1");
  if (request.cupti) variables.emplace_back(kCupti, *request.cupti);
  return variables;
}

std::optional<RecordingRequest> recording_request(const std::function<const char*(const char*)>& get) {
  const std::optional<std::string> folder = word(get(kFolder));
  if (!folder) return std::nullopt;
  RecordingRequest request{.folder = *folder};
  request.max_records = number<std::uint64_t>(get(kMaxRecords)).value_or(0);
  request.from = number<double>(get(kFrom)).value_or(0);
  request.seconds = number<double>(get(kSeconds));
  request.range = word(get(kRange));
  request.stacks = is_on(get(kStacks));
  request.only_ranges = is_on(get(kOnlyRanges));
  request.cupti = word(get(kCupti));
  return request;
}

}  // namespace xferbench
