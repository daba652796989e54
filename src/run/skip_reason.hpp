// Why a case does not run: one question to scenarios, spaces of tune and the runner, with one answer.
#pragma once

#include <string>
#include <utility>

namespace xferbench {

struct SkipReason {
  enum class Kind {
    meaningless,  ///< its values do not go together: where they only came out of a product, there is no such case
    impossible,   ///< no device can run it, or it needs more memory than there is: an error where that is every case
    unavailable,  ///< this device cannot, or not now: a result that is skipped and says why
  };
  Kind kind = Kind::unavailable;
  std::string text;  ///< what was wrong, what was expected, what to do

  static SkipReason meaningless(std::string text) { return {Kind::meaningless, std::move(text)}; }
  static SkipReason impossible(std::string text) { return {Kind::impossible, std::move(text)}; }
  static SkipReason unavailable(std::string text) { return {Kind::unavailable, std::move(text)}; }
};

}  // namespace xferbench
