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
  if (group.size() < 3) return {};
  return places_where(group, [median = median_of(group)](const Estimate& one) {
    const bool far = std::abs(one.value - median) > kOutlierMargin * std::abs(median);
    const bool sure = one.interval && (one.interval->low > median || one.interval->high < median);
    return far && sure;
  });
}

}  // namespace xferbench::model
