// Results as people read them. Pure functions from records to text.
#pragma once

#include <span>
#include <string>

#include "core/scenario_descriptor.hpp"
#include "report/style.hpp"
#include "results/result.hpp"

namespace xferbench {

/// One table per scenario. Axes with one value stand in the title, the others are columns; columns without any value
/// are left out. One single case gets all its measurements below. Then what the results say together: a table for each
/// kind of finding, and the sentences. `scenarios` says what each calls its columns.
std::string to_table(const Report& report, Descriptors scenarios, const Style& style);

}  // namespace xferbench
