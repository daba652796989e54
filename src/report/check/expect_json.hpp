// Writes files of expectations (docs/expect-schema.json). A pure function.
#pragma once

#include <string>

#include "check/expectations.hpp"

namespace xferbench {

/// Writes what check::derive() makes, one expectation per line: limits of measurements, with cases given by their keys.
/// parse_expectations() reads the same back.
std::string to_expect_json(const check::Expectations& expectations);

}  // namespace xferbench
