#include "results/utc.hpp"

#include <array>
#include <string_view>

namespace xferbench {

std::optional<std::time_t> parse_utc(const std::string& text) {
  std::tm date{};
  const char* const end = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &date);
  if (end == nullptr || std::string_view(end) != "Z") return std::nullopt;
  // timegm() turns an impossible date, such as February 30, into another one.
  const std::time_t moment = timegm(&date);
  return utc_text(moment) + "Z" == text ? std::optional(moment) : std::nullopt;
}

std::string utc_text(std::time_t moment) {
  std::tm utc{};
  gmtime_r(&moment, &utc);
  std::array<char, 40> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  return {text.data(), length};
}

}  // namespace xferbench
