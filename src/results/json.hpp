// The results file, version 1 (docs/results-schema.json is the contract): written, and read back. One list of fields
// for each record serves both.
#pragma once

#include <string>
#include <string_view>

#include "results/result.hpp"
#include "results/sink.hpp"

namespace xferbench {

/// A measurement is on one line, and so is what is declared of a metric. What is unknown is absent; metrics that JSON
/// cannot hold (NaN, infinities) are absent, too.
void write_json(const Report& report, const Sink& sink);
/// The same as one text.
std::string to_json(const Report& report);

/// Reads a results file; "-" is standard input. Keys of results are unique. Fields that it does not know are ignored,
/// since the format may grow. Throws InputError with one line: the file, the line in it, the place
/// (results[3].measurements[0].samples[2]), what was found and what was expected. Several files may be read at once, by
/// a thread each.
Report read_report(const std::string& path);

/// The same of a text; `name` is what messages call it.
Report parse_report(std::string_view text, std::string_view name);

namespace json {
struct Shape;
extern const Shape kInterval;  ///< [low, high]
}  // namespace json

}  // namespace xferbench
