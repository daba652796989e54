// Not a scenario: what the results of exchange say together. Pure functions.
#pragma once

#include <span>
#include <vector>

#include "results/result.hpp"

namespace xferbench {

/// Of results that are ok, of all ranks: a fit for each direction of a pair that was measured with several sizes, and
/// for each way of exchanging what the pairs reach and what limits them. Throws InputError where one lacks what every
/// such result has, as only a file's can.
std::vector<Finding> exchange_findings(std::span<const Result* const> results);

}  // namespace xferbench
