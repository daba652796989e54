// What reports of a fleet say, before it is drawn for a terminal or as Markdown.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/grid.hpp"
#include "results/result.hpp"

namespace xferbench::fleet_report {

/// The tests of one scenario.
struct Part {
  std::string scenario;
  std::string common;  ///< "host=pinned, api=async": what the keys of all its cases share
  Grid tests;          ///< a row for each case and pace
  Grid contention;     ///< a row for each case that ran at several paces; else empty
  Grid ranks;          ///< a row for each rank, a column for each test
};

/// What it means that nothing is flagged.
struct Nothing {
  std::string text;
  Tone tone = Tone::good;
};

struct Content {
  std::vector<std::string> alarms;  ///< what is said above all: simulated, not verified
  std::string head;                 ///< "8 x NVIDIA H200 on 2 hosts, 8 ranks, Open MPI 4.1.4, PCIe Gen5 x16"
  std::vector<Part> parts;
  std::vector<std::string> flagged;
  std::optional<Nothing> nothing;     ///< of a whole run in which nothing is flagged
  std::vector<std::string> failed;    ///< ranks that are missing, and what failed, by the reason
  std::vector<std::string> skipped;   ///< by the reason
  std::vector<std::string> findings;  ///< what the cases say together
  std::vector<std::string> notes;     ///< what limits the judgement, ranks that were late, the clocks
};

/// All in sentences without their full stop.
Content content_of(const Report& report);

}  // namespace xferbench::fleet_report
