// Whether results are what was expected, as people and as programs read it. Pure functions from records to text.
#pragma once

#include <string>

#include "check/check.hpp"
#include "report/style.hpp"

namespace xferbench {

std::string to_check_table(const check::Checked& checked, const Style& style);
std::string to_check_markdown(const check::Checked& checked);
/// "xferbench-check/1": results, expectations, gpu, all_hold, and one entry for each expectation.
std::string to_check_json(const check::Checked& checked);

}  // namespace xferbench
