#include "core/trace.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace xferbench {

namespace {

bool on_device(const Activity& a) { return a.row != Activity::Row::host; }

}  // namespace

Trace make_trace(std::string source, std::vector<Activity> activities) {
  std::ranges::stable_sort(activities, {}, &Activity::begin);
  const double origin = activities.empty() ? 0 : activities.front().begin;
  // new stream numbers, by GPU and original stream number; streams of two GPUs may have the same original number
  std::map<std::pair<unsigned, unsigned>, unsigned> numbers;
  for (Activity& a : activities) {
    a.begin -= origin;
    a.end -= origin;
    const auto next = static_cast<unsigned>(numbers.size());
    a.stream = on_device(a) ? numbers.try_emplace({a.gpu, a.stream}, next).first->second : 0;
  }
  return {std::move(source), std::move(activities)};
}

std::vector<Activity> without_overlaps(std::vector<Activity> activities) {
  // Sort by end time: on each engine, the activity that ended first also ran first.
  std::ranges::stable_sort(activities, {}, &Activity::end);
  // time at which each engine becomes free, by GPU and row
  std::map<std::pair<unsigned, Activity::Row>, double> engine_free;
  for (Activity& a : activities) {
    if (!on_device(a)) continue;
    const auto [free, first] = engine_free.try_emplace({a.gpu, a.row}, a.end);
    if (!first) a.begin = std::min(std::max(a.begin, free->second), a.end);
    free->second = a.end;
  }
  return activities;
}

}  // namespace xferbench
