// By how much numbers changed: a row for each, with a dot on an axis on which twice and half are as far from equal.
// Drawn on pages only: what else shows a document has the same numbers in its tables.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paper/style.hpp"

namespace xferbench {

struct Ratios {
  struct Row {
    std::string name{};
    double ratio = 1;
    std::optional<double> low{};  ///< of its interval
    std::optional<double> high{};
    std::string text{};  ///< the ratio in words
    std::string verdict{};
    Tone tone = Tone::plain;  ///< of the verdict
    std::string said{};       ///< shown where one points at it
  };
  std::string title{};
  std::string along{};   ///< what the axis has
  double threshold = 0;  ///< differences within this share do not matter
  std::vector<Row> rows{};
};

/// Empty where there is nothing to draw.
std::string to_svg(const Ratios& ratios);

}  // namespace xferbench
