// What a run measured, in words. Pure functions from records to documents; `scenarios` says what each calls its
// columns.
#pragma once

#include <string>
#include <vector>

#include "paper/document.hpp"
#include "results/result.hpp"
#include "results/scenario_descriptor.hpp"

namespace xferbench {

struct RunShown {
  bool details = false;   ///< all measurements of a single case, and all findings; else those that are columns, and the
                          ///< first findings that are no details, and how many more there are
  bool every_row = true;  ///< else, where there are many, those whose numbers matrices from GPU to GPU show are left
                          ///< out, and of the others those after the first thousand
  std::string next{};     ///< how to go on with a run that is not complete
};

/// One table per scenario. Axes with one value stand in the heading, the others are columns; columns without any value
/// are left out, and cases that were skipped for one reason share a line below. One single case gets its
/// measurements there. Then what the results say together: a table for each kind of finding, and the sentences. Of a
/// fleet what words/fleet.hpp says. Markdown and pages end with what was doubtful.
Document document_of(const Report& report, Descriptors scenarios, const RunShown& shown = {});

/// What was doubtful, and of which case: warnings that differ only in their numbers once, with how many cases more.
std::vector<std::string> warning_lines(const Report& report);

}  // namespace xferbench
