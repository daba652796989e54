// Marks for documents whose numbers are simulated, not verified, incomplete, or measured with an injected fault.
#pragma once

#include "paper/document.hpp"
#include "results/result.hpp"

namespace xferbench {

Trust trust_of(const Environment& environment, bool verified, bool complete);
Trust trust_of(const Report& report);

}  // namespace xferbench
