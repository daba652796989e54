// The reason why a case does not run, as scenarios, search spaces of `tune` and the runner report it.
#pragma once

#include <string>
#include <utility>

namespace xferbench {

struct SkipReason {
  enum class Kind {
    meaningless,  ///< values contradict each other; a case from a product of axis values is silently left out
    impossible,   ///< no device can run the case, or memory does not suffice; an error if this holds for every case
    unavailable,  ///< this device cannot run the case, or not now; the result has status skipped and this reason
  };
  Kind kind = Kind::unavailable;
  std::string text;  ///< text for the user: what was wrong, what was expected, what to do

  static SkipReason meaningless(std::string text) { return {Kind::meaningless, std::move(text)}; }
  static SkipReason impossible(std::string text) { return {Kind::impossible, std::move(text)}; }
  static SkipReason unavailable(std::string text) { return {Kind::unavailable, std::move(text)}; }
};

}  // namespace xferbench
