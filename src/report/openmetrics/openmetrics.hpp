// Writes metrics for monitoring as OpenMetrics text (https://openmetrics.io), for scrapers and for node exporter's
// textfile collector, which knows only the older Prometheus text format. A pure function from records to text.
//
// To be valid in both formats:
//  - "# UNIT" and "# EOF" are comments in the older format.
//  - A counter's "# TYPE" names the family, its sample ends in "_total". The older format expects "_total" in both, so
//    there the value has no type and help; queries still work.
//  - The older format has no type "info" and would reject the whole file. So an info is a gauge of value 1 with a name
//    that ends in "_info", which is the convention there.
//  - No timestamps: textfile collector rejects a file with one. The time of writing is a metric of its own.
//  - No double quotes in a help: one format requires an escape that the other rejects. They become single quotes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "paper/document.hpp"

namespace xferbench::openmetrics {

enum class Type {
  gauge,    ///< a number that goes up and down
  counter,  ///< a number that only grows; its sample's name gets "_total"
  info,     ///< facts as labels; its name gets "_info", its value is 1, and it has no unit
};

using Labels = std::vector<std::pair<std::string, std::string>>;

/// Returns labels for a metric of type info about how far the numbers can be trusted: simulated, verified,
/// injected_fault. Completeness changes over time, so it is a metric of its own.
Labels labels_of(const Trust& trust);

/// One line: a value, and labels that distinguish it within its family.
struct Sample {
  Labels labels{};
  double value = 0;
};

/// Samples with one meaning and one unit.
struct Family {
  std::string name;  ///< without unit and without "_total": "xferbench_soak_moved"
  Type type = Type::gauge;
  std::string unit{};  ///< suffix of the name, after an underscore; empty for a plain number
  std::string help;    ///< one sentence
  std::vector<Sample> samples{};
};

/// Writes all families with samples, then "# EOF". Escapes the values of labels. Throws std::invalid_argument if two
/// samples of a family have the same labels, which happens if two file names differ only in unprintable characters.
/// Names and labels must be legal. Units must be base units, spelled out, and not part of `name`. Names
/// must not end in a suffix that belongs to a type (_total, _count, _info, ...). Tests check this for everything that
/// the program writes.
std::string to_text(const std::vector<Family>& families);

}  // namespace xferbench::openmetrics
