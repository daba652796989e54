// Expectations as a file (docs/expect-schema.json). A pure function.
#pragma once

#include <string>

#include "check/expectations.hpp"

namespace xferbench {

/// What check::derive() makes, so that parse_expectations() reads it as the same again: limits of measurements of cases
/// by their keys. An expectation a line.
std::string to_expect_json(const check::Expectations& expectations);

}  // namespace xferbench
