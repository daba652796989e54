// Memory of the simulated device: pages straight from the system, and bytes in flight.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace xferbench::sim {

/// Move-only owner of anonymous pages. Untouched pages cost nothing, so that what is only timed may be larger than the
/// host's memory.
class Pages {
 public:
  Pages() = default;
  /// Throws std::bad_alloc.
  explicit Pages(std::size_t bytes);
  Pages(Pages&& other) noexcept;
  Pages& operator=(Pages&& other) noexcept;
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages();

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Keeps pages for the next operation: touching fresh ones costs more than the copies they hold.
class PagePool {
 public:
  Pages take(std::size_t bytes);
  void give_back(Pages pages);

 private:
  std::vector<Pages> idle_;
};

/// The bytes of one operation between its start, when it reads its sources, and its finish, when it commits them.
class InFlight {
 public:
  explicit InFlight(PagePool& pool) : pool_(pool) {}
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;
  ~InFlight() { pool_.give_back(std::move(pages_)); }

  std::span<std::byte> take(std::size_t bytes) {
    pages_ = pool_.take(bytes);
    return {pages_.data(), bytes};
  }
  [[nodiscard]] const std::byte* data() const { return pages_.data(); }

 private:
  PagePool& pool_;
  Pages pages_;
};

}  // namespace xferbench::sim
