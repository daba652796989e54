// Typical durations: medians of samples by kind.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

namespace xferbench::explain {

/// Collector of samples. Gives the median of each key's samples, or `unseen` for a key without samples.
template <class Key>
class TypicalValue {
 public:
  explicit TypicalValue(double unseen) : unseen_(unseen) {}
  void see(const Key& key, double seconds) { seen_[key].push_back(seconds); }
  /// Call this after the last see() and before of().
  void settle() {
    for (auto& [key, all] : seen_) {
      const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
      std::ranges::nth_element(all, middle);
      median_[key] = *middle;
    }
  }
  [[nodiscard]] double of(const Key& key) const {
    const auto found = median_.find(key);
    return found == median_.end() ? unseen_ : found->second;
  }

 private:
  double unseen_;
  std::map<Key, std::vector<double>> seen_;
  std::map<Key, double> median_;
};

}  // namespace xferbench::explain
