// Keeps the program alive when a page of a mapped file cannot be read. The system says so by SIGBUS in whichever thread
// reads, for example after the file became shorter or its disk failed.
#pragma once

#include <cstddef>
#include <span>

#include "core/non_copyable.hpp"

namespace xferbench {

/// While this object lives, a SIGBUS within the mapping replaces the pages from the failed one to the end by zeros, and
/// broken() returns true. All later pages are replaced, too, because that needs one entry in the process's table of
/// mappings, which is limited, and one fault instead of millions; data of a broken mapping is not used anyway. Signals
/// elsewhere go to the previous handler.
class MappingGuard : NonCopyable {
 public:
  /// `mapping` begins at a page boundary. Throws std::system_error if there are too many mappings or if the system does
  /// not accept the handler.
  explicit MappingGuard(std::span<const std::byte> mapping);
  /// No thread may read the mapping any more. Unmap it after this, so that no other mapping is taken for this one.
  ~MappingGuard();

  [[nodiscard]] bool broken() const;

 private:
  std::size_t slot_;
};

}  // namespace xferbench
