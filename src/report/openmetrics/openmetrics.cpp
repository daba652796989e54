#include "report/openmetrics/openmetrics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string_view>

#include "core/printable.hpp"

namespace xferbench::openmetrics {

namespace {

constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Of a family or a label. Colons are legal in names of families, but belong to those who write recording rules.
bool is_name(std::string_view name) {
  return !name.empty() && is_letter(name.front()) &&
         std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c); });
}

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument("OpenMetrics: " + what); }

void refuse_bad_name(const Family& family) {
  // Ends of names of samples, each of a type.
  constexpr auto kOfTypes =
      std::to_array<std::string_view>({"_total", "_created", "_count", "_sum", "_bucket", "_gcount", "_gsum", "_info"});
  if (!is_name(family.name)) refuse(fmt::format("'{}' is no name of a metric", family.name));
  for (const std::string_view end : kOfTypes) {
    if (family.name.ends_with(end)) refuse(fmt::format("{} ends in {}, which belongs to a type", family.name, end));
  }
  if (family.unit.empty()) return;
  if (family.type == Type::info) refuse(fmt::format("{} is an info and has a unit", family.name));
  if (std::ranges::find(base_units(), family.unit) == base_units().end()) {
    refuse(fmt::format("{} has the unit {}, which is no base unit ({})", family.name, family.unit,
                       fmt::join(base_units(), ", ")));
  }
  if (family.name.ends_with("_" + family.unit)) refuse(fmt::format("{} has its unit twice", family.name));
}

void refuse_bad_label(const Family& family, const std::string& label) {
  if (!is_name(label) || label.starts_with("__")) refuse(fmt::format("{}: '{}' is no label", family.name, label));
  if (label == "le" || label == "quantile") refuse(fmt::format("{}: {} belongs to a type", family.name, label));
}

/// The name in the lines that are about the family.
std::string family_name(const Family& family) {
  const std::string name = family.unit.empty() ? family.name : family.name + "_" + family.unit;
  return family.type == Type::info ? name + "_info" : name;
}

/// In one line: what would break it is written as \n, and other characters that nobody could show are replaced.
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

std::string without_quotes(std::string text) {
  std::ranges::replace(text, '"', '\'');
  return text;
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

/// As they are written. Two samples are the same for a reader if these are, in any order.
std::vector<std::string> labels_of(const Family& family, const Sample& sample) {
  std::vector<std::string> labels;
  std::set<std::string> names;
  for (const auto& [label, value] : sample.labels) {
    refuse_bad_label(family, label);
    if (!names.insert(label).second) refuse(fmt::format("{}: label {} is there twice", family.name, label));
    labels.push_back(fmt::format("{}=\"{}\"", label, escaped(value)));
  }
  return labels;
}

std::string family_text(const Family& family) {
  refuse_bad_name(family);
  if (family.help.empty()) refuse(fmt::format("{} has no help", family.name));
  const std::string name = family_name(family);
  std::string text = fmt::format("# TYPE {} {}\n", name, family.type == Type::counter ? "counter" : "gauge");
  if (!family.unit.empty()) text += fmt::format("# UNIT {} {}\n", name, family.unit);
  text += fmt::format("# HELP {} {}\n", name, escaped(without_quotes(family.help)));
  std::set<std::set<std::string>> seen;
  for (const Sample& sample : family.samples) {
    const std::vector<std::string> labels = labels_of(family, sample);
    if (!seen.emplace(labels.begin(), labels.end()).second) {
      refuse(fmt::format("{}: two samples have the same labels", family.name));
    }
    const bool may_count = std::isfinite(sample.value) && sample.value >= 0;
    if (family.type == Type::counter && !may_count) refuse(fmt::format("{} counts {}", family.name, sample.value));
    if (family.type == Type::info && sample.value != 1) refuse(fmt::format("{} is an info and not 1", family.name));
    const std::string all = labels.empty() ? "" : fmt::format("{{{}}}", fmt::join(labels, ","));
    text += fmt::format("{}{} {}\n", sample_name(family), all, number(sample.value));
  }
  return text;
}

}  // namespace

const std::vector<std::string>& base_units() {
  static const std::vector<std::string> units{
      "seconds", "bytes", "bytes_per_second", "ratio", "celsius", "watts", "joules", "hertz", "volts"};
  return units;
}

std::string sample_name(const Family& family) {
  return family.type == Type::counter ? family_name(family) + "_total" : family_name(family);
}

Labels labels_of(const Trust& trust) {
  return {{"simulated", trust.profile.empty() ? "no" : "yes"},
          {"verified", trust.verified ? "yes" : "no"},
          {"injected_fault", trust.fault}};
}

std::string to_text(const std::vector<Family>& families) {
  std::string text;
  std::set<std::string> names;  // of families and of samples: neither may be another's
  for (const Family& family : families) {
    if (family.samples.empty()) continue;
    text += family_text(family);
    const bool is_new = names.insert(family_name(family)).second;
    const bool counts = family.type == Type::counter;
    if (!is_new || (counts && !names.insert(sample_name(family)).second)) {
      refuse(fmt::format("{} is there twice", family_name(family)));
    }
  }
  return text + "# EOF\n";
}

}  // namespace xferbench::openmetrics
