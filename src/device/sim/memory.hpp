// Bytes in flight on the simulated device.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "device/pages.hpp"

namespace xferbench::sim {

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
