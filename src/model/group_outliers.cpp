#include "model/group_outliers.hpp"

#include <algorithm>
#include <cmath>

#include "core/lists.hpp"

namespace xferbench::model {

namespace {

double median_of(std::span<const Estimate> group) {
  auto values = list_of(group, &Estimate::value);
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace

std::vector<std::size_t> group_outliers(std::span<const Estimate> group) {
  std::vector<std::size_t> odd;
  if (group.size() < 3) return odd;
  const double median = median_of(group);
  for (std::size_t i = 0; i < group.size(); ++i) {
    const Estimate& one = group[i];
    const bool far = std::abs(one.value - median) > kOutlierMargin * std::abs(median);
    const bool sure = one.interval && (one.interval->low > median || one.interval->high < median);
    if (far && sure) odd.push_back(i);
  }
  return odd;
}

}  // namespace xferbench::model
