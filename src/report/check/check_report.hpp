// Writes the results of checks for other programs. Pure functions from records to text, for one results file or several
// that were checked against the same expectations; and writes expectations.
#pragma once

#include "check/expectations.hpp"
#include "report/annotations.hpp"
#include "words/check.hpp"

namespace xferbench {

/// Returns JSON "xferbench-check/1" (docs/check-schema.json): totals over all files, an entry for each file, and one
/// for each of its expectations.
std::string to_check_json(AllChecked all);
/// Returns the contents of docs/check-schema.json.
std::string check_schema();
/// Returns JUnit XML, for CI servers: a suite for each file, a test case for each expectation. A test case is skipped
/// if the expected number was not measured. If a file does not pass although no expectation fails, its suite has an
/// additional test case with the reason.
std::string to_check_junit(AllChecked all);
/// Returns OpenMetrics text: whether each file passes, its expectations by verdict, and the distances from the limits.
std::string to_check_openmetrics(AllChecked all);
/// Returns annotations about failed expectations, and about other reasons why a file does not pass.
std::vector<Annotation> annotations_of(AllChecked all);

/// Returns a file of expectations (docs/expect-schema.json), one per line. Each expectation is a limit for a
/// measurement of a case, and names the case by its key. parse_expectations() reads the file back.
std::string to_expect_json(const check::Expectations& expectations);

}  // namespace xferbench
