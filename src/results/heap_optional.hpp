// An optional value on the heap, for large values that most records lack.
#pragma once

#include <memory>
#include <optional>
#include <utility>

namespace xferbench {

/// Like std::optional, but an empty one is only as large as a pointer.
template <class T>
class HeapOptional {
 public:
  using value_type = T;

  HeapOptional() = default;
  HeapOptional(T value) : value_(std::make_unique<T>(std::move(value))) {}
  HeapOptional(std::optional<T> value) : value_(value ? std::make_unique<T>(std::move(*value)) : nullptr) {}
  HeapOptional(const HeapOptional& other) : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
  HeapOptional(HeapOptional&&) noexcept = default;
  HeapOptional& operator=(HeapOptional other) noexcept {
    value_ = std::move(other.value_);
    return *this;
  }
  ~HeapOptional() = default;

  [[nodiscard]] bool has_value() const { return value_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }
  [[nodiscard]] T value_or(T otherwise) const { return value_ ? *value_ : std::move(otherwise); }
  T& emplace() { return *(value_ = std::make_unique<T>()); }
  void reset() { value_.reset(); }

  friend bool operator==(const HeapOptional& a, const HeapOptional& b) {
    return a.has_value() == b.has_value() && (!a.has_value() || *a == *b);
  }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace xferbench
