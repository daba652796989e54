// Not a scenario: what together copies, between whom, and in which groups of GPUs; what results say in
// words: who shares what, how much it carries, whose memory is better.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/types.hpp"
#include "results/result.hpp"
#include "run/scenario.hpp"

namespace xferbench {

/// Who copies to whom, in a group.
enum class GroupPattern {
  h2d,         ///< from the host to each
  d2h,         ///< from each to the host
  both,        ///< both at once
  ring,        ///< from each to the next, from the last to the first
  all_to_all,  ///< from each to each other
  one_to_all,  ///< from the first to each other
  all_to_one,  ///< from each other to the first
};

/// What the axis calls them, in the order of GroupPattern.
inline constexpr std::array<std::string_view, 7> kGroupPatterns{"h2d",        "d2h",        "both",      "ring",
                                                                "all-to-all", "one-to-all", "all-to-one"};
constexpr bool between_gpus(GroupPattern pattern) { return pattern >= GroupPattern::ring; }

/// One copy of a pattern; GPUs are places in the group.
struct GroupCopy {
  std::size_t owner = 0;  ///< whose stream it goes by, and whose it counts as
  Direction direction = Direction::h2d;
  std::size_t from = 0;  ///< Direction::p2p only, as is `to`
  std::size_t to = 0;
  friend bool operator==(const GroupCopy&, const GroupCopy&) = default;
};

/// Those of a group of so many GPUs. Whoever is neither the first of one-to-all nor of all-to-one has one of them, so
/// that each has its own clock: from the first the others read, and to the first they write.
std::vector<GroupCopy> copies_of(GroupPattern pattern, std::size_t gpus);

struct TogetherCase {
  GroupPattern pattern = GroupPattern::h2d;
  std::string word;       ///< of groups that are not known yet; else empty
  std::vector<int> gpus;  ///< the group's numbers; empty where `word` stands for them
  bool shared = false;    ///< one buffer on the host, of which each has a part
  std::size_t bytes = 0;  ///< of each copy

  /// Whether one GPU is to copy by itself.
  [[nodiscard]] bool is_alone() const { return word == "alone" || gpus.size() == 1; }
};
TogetherCase together_case(const Case& c);

/// The scenario's axes.
std::vector<Axis> together_axes();
/// The groups that the case's word stands for.
std::vector<Case> groups_of(const Case& c, const GpusOfRun& run);
/// Why the case does not run: anywhere, or on this machine.
std::optional<SkipReason> together_skip_reason(const TogetherCase& c, const Capabilities* can);

/// What one GPU's copies are called when nothing else runs, sampled in the same rounds; Measurement::gpu says whose.
inline constexpr const char* kAlone = "alone";

/// "0", "0 and 1", "0 to 3", "0, 2 and 4 to 7": numbers that follow each other, from three on, as a range.
std::string gpus_in_words(std::vector<int> numbers);

/// Findings of kind "shares" for every two GPUs; "bottleneck", which share one, where there are more than two;
/// "at-once", what all of a group reach that is part of no other; "memory", own against shared. All results are ok.
/// Pure. Throws InputError where one lacks its own time.
std::vector<Finding> conclude_together(std::span<const Result* const> results);

}  // namespace xferbench
