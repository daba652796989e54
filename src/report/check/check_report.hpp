// Whether results are what was expected, as programs read it. Pure functions from records to text, of the
// results of one file or of several that were held against the same expectations.
#pragma once

#include <string>
#include <vector>

#include "report/annotations.hpp"
#include "words/check.hpp"

namespace xferbench {

/// "xferbench-check/1" (docs/check-schema.json): what holds for all files, one entry for each, and one for each
/// expectation of each.
std::string to_check_json(AllChecked all);
/// What docs/check-schema.json says.
std::string check_schema();
/// As JUnit's XML, which CI servers show: a suite for each file, a test case for each expectation. One that was not
/// measured is skipped; a file that does not pass although none of its expectations fails has a case that says why.
std::string to_check_junit(AllChecked all);
/// As OpenMetrics text: of each file whether it passes, how many expectations have which verdict, and the margins.
std::string to_check_openmetrics(AllChecked all);
/// What is wrong, the worst first.
std::vector<Annotation> annotations_of(AllChecked all);

}  // namespace xferbench
