// Expectations as a file (docs/expect-schema.json). A pure function.
#pragma once

#include <string>

#include "check/expectations.hpp"

namespace xferbench {

/// What parse_expectations() reads as the same again; an expectation a line.
std::string to_expect_json(const check::Expectations& expectations);

}  // namespace xferbench
