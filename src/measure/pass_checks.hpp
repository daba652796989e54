// Which timed passes are checked: what checks before and after the samples would miss is what goes wrong in between.
#pragma once

#include <cstddef>
#include <cstdint>

namespace xferbench {

struct PassChecks {
  /// One pass out of so many, whichever the seed says: spread over a long run, and in step with nothing.
  static constexpr std::size_t kOneIn = 100;

  bool wanted = false;
  std::uint64_t seed = 0;

  /// Whether pass number `pass` (from 1) of region number `region` is one of them. The last pass is, too, but is not
  /// known here.
  [[nodiscard]] bool chosen(std::size_t region, std::size_t pass) const;
};

}  // namespace xferbench
