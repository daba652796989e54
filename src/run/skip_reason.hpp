// Why a case does not run: the common answer of scenarios, search spaces of tune, and the runner.
#pragma once

#include <string>
#include <utility>

namespace xferbench {

struct SkipReason {
  enum class Kind {
    meaningless,  ///< its values contradict each other; dropped if it came from a product of axis values
    impossible,   ///< no device can run it, or memory does not suffice; an error if it is every case
    unavailable,  ///< this device cannot run it, or not now; gives a skipped result with this reason
  };
  Kind kind = Kind::unavailable;
  std::string text;  ///< what was wrong, what was expected, what to do

  static SkipReason meaningless(std::string text) { return {Kind::meaningless, std::move(text)}; }
  static SkipReason impossible(std::string text) { return {Kind::impossible, std::move(text)}; }
  static SkipReason unavailable(std::string text) { return {Kind::unavailable, std::move(text)}; }
};

}  // namespace xferbench
