#include "explain/traffic.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/lists.hpp"
#include "core/units.hpp"

namespace xferbench::explain {

namespace {

int size_class(std::uint64_t bytes) {
  int found = 0;
  for (const std::uint64_t most : {4 * KiB, 64 * KiB, MiB, 16 * MiB}) {
    if (bytes > most) ++found;
  }
  return found;
}

void add(std::optional<double>& sum, std::optional<double> value) {
  sum = sum && value ? std::optional(*sum + *value) : std::nullopt;
}

}  // namespace

std::vector<Traffic> traffic_of(const Program& program, const Costs& costs) {
  struct Group {
    Traffic traffic;
    double until = 0;  // latest end of the copies counted so far
  };
  std::map<std::tuple<recording::CopyKind, Memory, int>, Group> groups;
  for (const Operation& o : program.operations) {
    if (!o.is_copy) continue;
    const Traffic none{
        .kind = o.copy, .host = o.host, .smallest = o.bytes, .largest = o.bytes, .reachable = 0, .pinned = 0};
    Group& group = groups.try_emplace({o.copy, o.host, size_class(o.bytes)}, Group{none}).first->second;
    Traffic& t = group.traffic;
    t.smallest = std::min(t.smallest, o.bytes);
    t.largest = std::max(t.largest, o.bytes);
    ++t.count;
    t.bytes += o.bytes;
    t.seconds += o.end - o.begin;
    t.busy += std::max(0., o.end - std::max(o.begin, group.until));
    group.until = std::max(group.until, o.end);
    if (o.bytes <= kSmallCopy) t.reachable = t.pinned = std::nullopt;
    add(t.reachable, costs.copy(o.copy, o.host, o.bytes));
    add(t.pinned, costs.copy(o.copy, Memory::pinned, o.bytes));
  }
  auto all = list_of(groups, [](const auto& group) { return group.second.traffic; });
  std::ranges::stable_sort(all, std::ranges::greater(), &Traffic::seconds);
  return all;
}

std::vector<CopyPoint> cloud_of(const Program& program, std::size_t most) {
  std::map<std::tuple<recording::CopyKind, Memory, std::uint64_t, long>, CopyPoint> points;
  for (const Operation& o : program.operations) {
    const double seconds = o.end - o.begin;
    if (!o.is_copy || o.bytes == 0 || seconds <= 0) continue;
    const long about = std::lround(std::log(seconds) / std::log(1.1));
    CopyPoint& point =
        points.try_emplace({o.copy, o.host, o.bytes, about}, CopyPoint{o.copy, o.host, o.bytes, 0, 0}).first->second;
    point.seconds += (seconds - point.seconds) / static_cast<double>(++point.count);
  }
  auto all = list_of(points, [](const auto& point) { return point.second; });
  // If there are too many points, drop those that stand for the fewest copies.
  std::ranges::stable_sort(all, std::ranges::greater(), &CopyPoint::count);
  if (all.size() > most) all.resize(most);
  return all;
}

}  // namespace xferbench::explain
