// The samples of one measurement.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace xferbench {

/// Samples in the order in which they were taken. Samples of a finished case are in a file, and can be freed to save
/// nearly all of a long run's memory. Then only their number is known, and any access to them throws std::logic_error.
class Samples {
 public:
  Samples() = default;
  Samples(std::vector<double> held) : held_(std::move(held)) {}
  Samples(std::initializer_list<double> held) : held_(held) {}

  [[nodiscard]] std::size_t size() const { return released_ > 0 ? released_ : held_.size(); }
  [[nodiscard]] bool empty() const { return size() == 0; }

  [[nodiscard]] const double* data() const { return held().data(); }
  [[nodiscard]] auto begin() const { return held().begin(); }
  [[nodiscard]] auto end() const { return held().end(); }
  [[nodiscard]] double front() const { return held().at(0); }
  [[nodiscard]] double operator[](std::size_t place) const { return held().at(place); }

  void push_back(double sample) { held().push_back(sample); }
  void append(std::span<const double> more) { held().insert(held_.end(), more.begin(), more.end()); }

  /// Frees the samples, and keeps only their number.
  void release() {
    released_ = size();
    std::vector<double>().swap(held_);
  }
  [[nodiscard]] bool are_released() const { return released_ > 0; }
  [[nodiscard]] const std::vector<double>& held() const {
    if (released_ > 0) throw std::logic_error("the samples are in a file, not in memory");
    return held_;
  }
  /// Returns the stored samples, so that a reader of files can fill them.
  [[nodiscard]] std::vector<double>& held() {
    static_cast<void>(std::as_const(*this).held());
    return held_;
  }

  friend bool operator==(const Samples&, const Samples&) = default;

 private:
  std::vector<double> held_;
  std::size_t released_ = 0;  // number of freed samples; 0: they are in memory
};

}  // namespace xferbench
