// Trust marks of documents: simulated, not verified, injected fault, incomplete.
#pragma once

#include "paper/document.hpp"
#include "results/result.hpp"

namespace xferbench {

Trust trust_of(const Environment& environment, bool verified, bool complete);
Trust trust_of(const Report& report);

}  // namespace xferbench
