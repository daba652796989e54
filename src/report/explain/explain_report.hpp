// What a program's transfers cost it, as people, pull requests and programs read it. Pure functions from records to
// text.
#pragma once

#include <string>

#include "explain/explanation.hpp"
#include "report/style.hpp"

namespace xferbench {

/// For a terminal, the answer first. Of several processes the first is told in full and the others in a line each,
/// unless `all` is wanted; that also shows all rows of the traffic and whole call stacks.
std::string to_table(const explain::Explanation& explanation, bool all, const Style& style);

/// For issues and CI summaries: what the terminal shows of all processes. Texts from recordings are escaped.
std::string to_markdown(const explain::Explanation& explanation);

/// For programs, and for scripts/report (docs/explain-schema.json is the contract): "xferbench-explain/1". What is
/// unknown is absent.
std::string to_json(const explain::Explanation& explanation);

}  // namespace xferbench
