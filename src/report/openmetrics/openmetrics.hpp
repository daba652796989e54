// Numbers for monitoring, as OpenMetrics text (https://openmetrics.io): what a scraper reads, and what node exporter's
// textfile collector reads, which knows only the older Prometheus text format. A pure function from records to text.
//
// What both take:
//  - "# UNIT" and "# EOF" are comments in the older format.
//  - A counter's "# TYPE" names the family, its sample ends in "_total". The older format wants "_total" in both: there
//    the value arrives without its type and help, which changes nothing for queries.
//  - Type "info" is none of the older format, which would refuse the whole file: an info is written as what it is there
//    by convention, a gauge that is 1 and whose name ends in "_info".
//  - No timestamps: textfile collector refuses a file that has one. When it was written is a metric of its own.
//  - No double quotes in a help: one format wants them escaped, the other refuses that escape. They become single ones.
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

/// What the numbers may not be taken for, as labels of an info: simulated, verified, injected_fault. Whether they are
/// complete is a metric of its own, as it changes.
Labels labels_of(const Trust& trust);

/// One line: a value and what tells it from the others of its family.
struct Sample {
  Labels labels{};
  double value = 0;
};

/// Samples of one meaning and one unit.
struct Family {
  std::string name;  ///< without unit and without "_total": "xferbench_soak_moved"
  Type type = Type::gauge;
  std::string unit{};  ///< the end of the name, after an underscore; empty for a plain number
  std::string help;    ///< one sentence
  std::vector<Sample> samples{};
};

/// The name of its samples: "xferbench_soak_moved_bytes_total".
std::string sample_name(const Family& family);

/// All families with samples, to "# EOF". Texts of labels are escaped and cannot leave their line. Throws
/// std::invalid_argument where two samples of a family have the same labels, as two files may whose names differ in
/// what nobody can show. Names and labels are legal, units are base units in full and no ends of names, no name ends in
/// what belongs to a type (_total, _count, _info, ...): tests hold all that this program writes to that.
std::string to_text(const std::vector<Family>& families);

}  // namespace xferbench::openmetrics
