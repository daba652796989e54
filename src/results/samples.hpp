// The samples of one measurement.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

namespace xferbench {

/// Samples in the order in which they were taken. Those of a case that has ended are in a file and need not stay in
/// memory, where they would be nearly all that a long run holds: of these only the number is known here, and whoever
/// asks for one of them makes a mistake that is told.
class Samples : public std::vector<double> {
  using Held = std::vector<double>;

 public:
  using Held::Held;
  Samples() = default;
  Samples(Held held) : Held(std::move(held)) {}

  [[nodiscard]] std::size_t size() const { return put_away_ > 0 ? put_away_ : Held::size(); }
  [[nodiscard]] bool empty() const { return size() == 0; }

  [[nodiscard]] const double* data() const { return held().data(); }
  [[nodiscard]] double* data() { return held().data(); }
  [[nodiscard]] const_iterator begin() const { return held().begin(); }
  [[nodiscard]] const_iterator end() const { return held().end(); }
  [[nodiscard]] iterator begin() { return held().begin(); }
  [[nodiscard]] iterator end() { return held().end(); }

  /// Keeps their number only.
  void put_away() {
    put_away_ = size();
    Held().swap(*this);
  }
  [[nodiscard]] bool are_put_away() const { return put_away_ > 0; }
  /// Throws std::logic_error where they are put away.
  [[nodiscard]] const Held& held() const {
    if (put_away_ > 0) throw std::logic_error("samples are asked for that are in a file and no more in memory");
    return *this;
  }
  [[nodiscard]] Held& held() {
    static_cast<void>(std::as_const(*this).held());
    return *this;
  }

  // Of its own for vectors: a comparison would find both theirs and the one below.
  friend bool operator==(const Samples& a, const Held& b) { return a == Samples(b); }
  friend bool operator==(const Samples& a, const Samples& b) {
    return a.put_away_ == b.put_away_ && static_cast<const Held&>(a) == static_cast<const Held&>(b);
  }

 private:
  std::size_t put_away_ = 0;  // so many; 0: they are here
};

}  // namespace xferbench
