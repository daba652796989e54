#include <fmt/format.h>

#include "report/check/check_report.hpp"

namespace xferbench {

namespace {

using Weight = Annotation::Weight;

std::string found_text(const check::Row& row) {
  return row.shown.empty() ? about(row) : fmt::format("{}, expected {}: {}", row.shown, row.expected, about(row));
}

}  // namespace

std::vector<Annotation> annotations_of(AllChecked all) {
  std::vector<Annotation> notes;
  for (const check::Checked& checked : all) {
    for (const check::Row& row : checked.rows) {
      const bool wrong = row.verdict == check::Verdict::fails || row.verdict == check::Verdict::no_case;
      if (!wrong) continue;
      notes.push_back({.weight = Weight::error,
                       .title = fmt::format("xferbench check: {}", row.name),
                       .message = fmt::format("{}: {}", checked.results, found_text(row))});
    }
    if (!checked.complete) {
      notes.push_back({.weight = Weight::error,
                       .title = "xferbench check: incomplete",
                       .message = fmt::format("{}: {}", checked.results, incomplete(checked))});
    }
    if (nothing_was_checked(checked)) {
      notes.push_back({.weight = Weight::error,
                       .title = "xferbench check: nothing was checked",
                       .message = fmt::format("{}: {}", checked.results, summary(checked))});
    }
    add_marks(trust_of({&checked, 1}), "xferbench check", checked.results, notes);
  }
  return notes;
}

}  // namespace xferbench
