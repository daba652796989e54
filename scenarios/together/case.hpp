// The cases of scenario together: copy patterns, groups of GPUs that copy at once, skip reasons, and findings.
#pragma once

#include <cstddef>
#include <string_view>

#include "device/types.hpp"
#include "run/scenario.hpp"

namespace xferbench {

/// Which copies run at once within a group of GPUs.
enum class GroupPattern {
  h2d,         ///< from the host to each GPU
  d2h,         ///< from each GPU to the host
  both,        ///< h2d and d2h at once
  ring,        ///< from each GPU to the next, and from the last to the first
  all_to_all,  ///< from each GPU to each other GPU
  one_to_all,  ///< from the first GPU to each other GPU
  all_to_one,  ///< from each other GPU to the first
};

/// Values of the pattern axis, indexed by GroupPattern.
inline constexpr std::array<std::string_view, 7> kGroupPatterns{"h2d",        "d2h",        "both",      "ring",
                                                                "all-to-all", "one-to-all", "all-to-one"};
constexpr bool between_gpus(GroupPattern pattern) { return pattern >= GroupPattern::ring; }

/// One copy of a pattern. Its GPUs are given by their indices in the group.
struct GroupCopy {
  std::size_t owner = 0;  ///< GPU whose stream runs the copy; the copy counts for this GPU's rate
  Direction direction = Direction::h2d;
  std::size_t from = 0;  ///< source GPU; `from` and `to` are used for Direction::p2p only
  std::size_t to = 0;
  friend bool operator==(const GroupCopy&, const GroupCopy&) = default;
};

/// Returns the copies of a group of `gpus` GPUs. In one-to-all and all-to-one each GPU but the first owns one copy,
/// from the first GPU or to it, so that each copy is timed by a different GPU.
std::vector<GroupCopy> copies_of(GroupPattern pattern, std::size_t gpus);

struct TogetherCase {
  GroupPattern pattern = GroupPattern::h2d;
  std::string word;       ///< word that stands for groups until groups_of() expands it; else empty
  std::vector<int> gpus;  ///< GPU numbers of the group; empty if `word` is set
  bool shared = false;    ///< whether each GPU uses a part of one host buffer instead of its own buffer
  std::size_t bytes = 0;

  /// Whether the case has a single GPU that copies.
  [[nodiscard]] bool is_alone() const { return word == "alone" || gpus.size() == 1; }
};
TogetherCase together_case(const Case& c);

std::vector<Axis> together_axes();
/// Returns one case per group of GPUs that the word in TogetherCase::word stands for; only `c` itself if it names GPUs.
std::vector<Case> groups_of(const Case& c, const GpusOfRun& run);
/// Returns why the case cannot run on any machine (`can` is null) or on this one; nothing if it can.
std::optional<SkipReason> together_skip_reason(const TogetherCase& c, const Capabilities* can);

/// Name of the measurement of one GPU's copies while no other GPU copies, sampled interleaved with the group's copies.
/// Measurement::gpu is the GPU's number.
inline constexpr const char* kAlone = "alone";

/// Returns a list of GPU numbers in words, for example "0", "0 and 1", "0 to 3" or "0, 2 and 4 to 7": three or more
/// consecutive numbers become a range.
std::string gpus_in_words(std::vector<int> numbers);

/// Returns the findings "shares" (whether a pair of GPUs shares a bottleneck), "bottleneck" (which GPUs share one),
/// "at-once" (bandwidth of each group that is not part of another) and "memory" (own against shared host memory).
/// `results` must be successful. Throws InputError if a result lacks its time.
std::vector<Finding> conclude_together(std::span<const Result* const> results);

}  // namespace xferbench
