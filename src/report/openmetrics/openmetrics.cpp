#include "report/openmetrics/openmetrics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <string_view>

#include "core/printable.hpp"

namespace xferbench::openmetrics {

namespace {

/// Returns the name in the family's TYPE, UNIT and HELP lines.
std::string family_name(const Family& family) {
  const std::string name = family.unit.empty() ? family.name : family.name + "_" + family.unit;
  return family.type == Type::info ? name + "_info" : name;
}

/// Escapes line breaks, quotes and backslashes, and replaces unprintable characters.
std::string escaped(std::string_view text) {
  std::string result;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (begin > 0) result += "\\n";
    for (const char c : printable(text.substr(begin, end - begin))) {
      if (c == '\\' || c == '"') result += '\\';
      result += c;
    }
    begin = end + 1;
  }
  return result;
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

std::string family_text(const Family& family) {
  const std::string name = family_name(family);
  const bool counts = family.type == Type::counter;
  std::string text = fmt::format("# TYPE {} {}\n", name, counts ? "counter" : "gauge");
  if (!family.unit.empty()) text += fmt::format("# UNIT {} {}\n", name, family.unit);
  std::string help = family.help;
  std::ranges::replace(help, '"', '\'');
  text += fmt::format("# HELP {} {}\n", name, escaped(help));
  std::set<std::set<std::string>> seen;
  for (const Sample& sample : family.samples) {
    std::vector<std::string> labels;
    for (const auto& [label, value] : sample.labels) labels.push_back(fmt::format("{}=\"{}\"", label, escaped(value)));
    // Compare the escaped labels, and ignore their order, as a reader does.
    if (!seen.emplace(labels.begin(), labels.end()).second) {
      throw std::invalid_argument(fmt::format("OpenMetrics: {}: two samples have the same labels", family.name));
    }
    const std::string all = labels.empty() ? "" : fmt::format("{{{}}}", fmt::join(labels, ","));
    text += fmt::format("{}{}{} {}\n", name, counts ? "_total" : "", all, number(sample.value));
  }
  return text;
}

}  // namespace

Labels labels_of(const Trust& trust) {
  return {{"simulated", trust.profile.empty() ? "no" : "yes"},
          {"verified", trust.verified ? "yes" : "no"},
          {"injected_fault", trust.fault}};
}

std::string to_text(const std::vector<Family>& families) {
  std::string text;
  for (const Family& family : families) {
    if (!family.samples.empty()) text += family_text(family);
  }
  return text + "# EOF\n";
}

}  // namespace xferbench::openmetrics
