#include "report/compare/cells.hpp"

#include <fmt/format.h>

#include "core/units.hpp"

namespace xferbench {

std::string compared_value(double value, const std::string& unit) {
  if (unit == "s") return format_seconds(value);
  if (unit == "1") return format_significant(value);
  return format_significant(value) + " " + unit;
}

std::string change_text(const std::optional<double>& ratio) {
  if (!ratio) return "";
  // Beyond that, a percentage is no longer what people read.
  constexpr double kMany = 10;
  if (*ratio >= kMany || *ratio <= 1 / kMany) return "x " + format_significant(*ratio);
  return fmt::format("{:+.1f} %", (*ratio - 1) * 100);
}

std::string change_text(const std::optional<Interval>& ratio) {
  return ratio ? change_text(std::optional(ratio->low)) + " to " + change_text(std::optional(ratio->high)) : "";
}

std::string p_text(const std::optional<double>& p) {
  constexpr double kLeast = 1e-4;
  if (!p) return "";
  return *p < kLeast ? "< 0.0001" : fmt::format("{:.4f}", *p);
}

std::string sizes_text(const compare::Row& row) {
  const auto size = [](const std::optional<compare::Side>& side) { return side ? fmt::format("{}", side->n) : "-"; };
  return size(row.base) + ", " + size(row.next);
}

std::string summary(const compare::Comparison& comparison) {
  std::string text;
  for (const compare::Verdict verdict : compare::kVerdicts) {
    const std::size_t count = comparison.count(verdict);
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, to_text(verdict));
  }
  if (comparison.not_compared > 0) text += fmt::format(", {} without a number on either side", comparison.not_compared);
  return text;
}

std::string method(const compare::Comparison& comparison) {
  const compare::Options& options = comparison.options;
  return fmt::format(
      "threshold {:g} %; {}; ratio new/base {} with its 95 % interval; Mann-Whitney test, 5 % over all cases (Holm)",
      options.threshold * 100,
      comparison.several_files() ? "medians of files are the samples" : "samples of one process a side",
      options.bootstrap ? "of medians (bootstrap)" : "of Hodges and Lehmann");
}

std::vector<std::string> not_verified(const std::vector<compare::Source>& sources) {
  std::vector<std::string> names;
  for (const compare::Source& s : sources) {
    if (!s.verified) names.push_back(s.name);
  }
  return names;
}

std::string difference_text(const compare::Difference& d) {
  return fmt::format("{}: {} in base, {} in new", d.what, d.base, d.next);
}

std::vector<const compare::Row*> by_verdict(const compare::Comparison& comparison) {
  std::vector<const compare::Row*> rows;
  for (const compare::Verdict verdict : compare::kVerdicts) {
    for (const compare::Row& row : comparison.rows) {
      if (row.verdict == verdict) rows.push_back(&row);
    }
  }
  return rows;
}

}  // namespace xferbench
