#include <fmt/format.h>

#include "report/compare/compare_report.hpp"
#include "words/compare.hpp"
#include "words/compare_text.hpp"

namespace xferbench {

namespace {

using Weight = Annotation::Weight;

std::string change_of(const compare::Row& row) {
  if (!row.base || !row.new_side) return remarks(row);
  std::string text = fmt::format("{} in base, {} in new", compared_value(row.base->median, row.unit),
                                 compared_value(row.new_side->median, row.unit));
  if (row.ratio) text += fmt::format(", {}", change_text(row.ratio));
  if (row.interval) text += fmt::format(" (95 % interval {})", change_text(row.interval));
  return text;
}

Annotation note_of(const compare::Row& row, Weight weight) {
  return {.weight = weight,
          .title = fmt::format("xferbench compare: {}: {}", to_text(row.verdict), with_place(row.key, row)),
          .message = fmt::format("{}: {}", row.measured, change_of(row))};
}

}  // namespace

std::vector<Annotation> annotations_of(const compare::Comparison& comparison) {
  std::vector<Annotation> notes;
  const Trust trust = trust_of(comparison);
  add_marks(trust, "xferbench compare", "", notes);
  if (!trust.complete) {
    notes.push_back({.weight = Weight::warning, .title = "xferbench compare: INCOMPLETE", .message = trust.incomplete});
  }
  for (const compare::Row* row : by_verdict(comparison)) {
    using enum compare::Verdict;
    if (row->verdict == regressed || row->failed) notes.push_back(note_of(*row, Weight::error));
    if (row->verdict == missing && !row->failed) notes.push_back(note_of(*row, Weight::warning));
    if (row->verdict == improved || row->verdict == changed) notes.push_back(note_of(*row, Weight::notice));
  }
  if (comparison.outcome.code == ExitCode::undecided) {
    notes.push_back(
        {.weight = Weight::error, .title = "xferbench compare: undecided", .message = conclusion(comparison.outcome)});
  }
  return notes;
}

}  // namespace xferbench
