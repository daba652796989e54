// Writes files of expectations (docs/expect-schema.json). A pure function.
#pragma once

#include <string>

#include "check/expectations.hpp"

namespace xferbench {

/// Returns a file of expectations, one per line. Each expectation is a limit for a measurement of a case, and names the
/// case by its key. parse_expectations() reads the file back.
std::string to_expect_json(const check::Expectations& expectations);

}  // namespace xferbench
