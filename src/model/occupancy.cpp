#include "model/occupancy.hpp"

#include <algorithm>
#include <vector>

#include "core/lists.hpp"

namespace xferbench::model {

namespace {

using Row = Activity::Row;

constexpr double kGrain = 1e-9;

struct BusySpan {
  double begin = 0;
  double end = 0;
};

/// Returns the activities of the given rows, sorted by begin, and merged where they overlap or touch.
std::vector<BusySpan> busy_spans(const Trace& trace, std::initializer_list<Row> rows) {
  std::vector<BusySpan> all;
  for (const Activity& a : trace.activities) {
    if (has_item(rows, a.row)) all.push_back({a.begin, a.end});
  }
  std::ranges::sort(all, {}, &BusySpan::begin);
  std::vector<BusySpan> joined;
  for (const BusySpan& s : all) {
    if (joined.empty() || s.begin > joined.back().end + kGrain) joined.push_back(s);
    joined.back().end = std::max(joined.back().end, s.end);
  }
  return joined;
}

double length(const std::vector<BusySpan>& all) {
  return total_of(all, [](const BusySpan& s) { return s.end - s.begin; });
}

double over(double sum, double time) { return time > 0 ? sum / time : 0; }

}  // namespace

double makespan(const Trace& trace) {
  const auto all = busy_spans(trace, {Row::h2d, Row::kernel, Row::d2h, Row::internal, Row::peer});
  return all.empty() ? 0 : all.back().end - all.front().begin;
}

double busy(const Trace& trace, Row row) {
  return total_of(trace.activities, [row](const Activity& a) { return a.row == row ? a.end - a.begin : 0; });
}

double covered(const Trace& trace, std::initializer_list<Row> rows) { return length(busy_spans(trace, rows)); }

double concurrency(const Trace& trace) {
  const double sum = busy(trace, Row::h2d) + busy(trace, Row::kernel) + busy(trace, Row::d2h) + busy(trace, Row::peer);
  return over(sum, covered(trace, {Row::h2d, Row::kernel, Row::d2h, Row::peer}));
}

double kernel_concurrency(const Trace& trace) { return over(busy(trace, Row::kernel), covered(trace, {Row::kernel})); }

Gaps gaps(const Trace& trace, Row row) {
  const auto all = busy_spans(trace, {row});
  if (all.empty()) return {};
  return {all.size() - 1, all.back().end - all.front().begin - length(all)};
}

}  // namespace xferbench::model
