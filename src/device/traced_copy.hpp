// How copies appear in timelines, on every backend.
#pragma once

#include <string_view>

#include "core/trace.hpp"
#include "device/types.hpp"

namespace xferbench {

constexpr std::string_view traced_name(Direction direction) {
  switch (direction) {
    case Direction::h2d: return "copy H2D";
    case Direction::d2h: return "copy D2H";
    case Direction::d2d: return "copy D2D";
  }
  return "";
}

constexpr Activity::Row traced_row(Direction direction) {
  switch (direction) {
    case Direction::h2d: return Activity::Row::h2d;
    case Direction::d2h: return Activity::Row::d2h;
    case Direction::d2d: return Activity::Row::internal;
  }
  return Activity::Row::internal;
}

}  // namespace xferbench
