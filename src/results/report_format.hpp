// The formats of other programs in which results can be written.
#pragma once

#include <array>
#include <string_view>

#include "core/enum_text.hpp"

namespace xferbench {

enum class ReportFormat {
  bmf,             ///< Bencher Metric Format, of bencher.dev
  github_smaller,  ///< customSmallerIsBetter of github-action-benchmark: numbers of which less is better
  github_bigger,   ///< customBiggerIsBetter of github-action-benchmark: numbers of which more is better
  nvbandwidth,     ///< the JSON output of NVIDIA's nvbandwidth
};
constexpr auto texts_of(ReportFormat) {
  return std::to_array<std::string_view>({"bmf", "github-smaller", "github-bigger", "nvbandwidth"});
}

}  // namespace xferbench
