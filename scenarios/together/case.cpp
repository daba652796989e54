#include "scenarios/together/case.hpp"

#include <fmt/format.h>

namespace xferbench {

namespace {

std::vector<std::vector<int>> groups_for(const TogetherCase& c, const std::vector<int>& all) {
  std::vector<std::vector<int>> groups;
  if (c.word == "alone") {
    for (const int gpu : all) groups.push_back({gpu});
  } else if (c.word == "pairs") {
    for (std::size_t a = 0; a < all.size(); ++a) {
      for (std::size_t b = a + 1; b < all.size(); ++b) groups.push_back({all[a], all[b]});
    }
  } else if (c.word == "all") {
    groups.push_back(all);
  } else {
    for (std::size_t n = 2; n <= all.size(); ++n) groups.emplace_back(all.begin(), all.begin() + static_cast<int>(n));
  }
  return groups;
}

}  // namespace

std::vector<GroupCopy> copies_of(GroupPattern pattern, std::size_t gpus) {
  std::vector<GroupCopy> copies;
  const auto between = [&copies](std::size_t owner, std::size_t from, std::size_t to) {
    copies.push_back({.owner = owner, .direction = Direction::p2p, .from = from, .to = to});
  };
  for (std::size_t i = 0; i < gpus; ++i) {
    const bool both = pattern == GroupPattern::both;
    if (both || pattern == GroupPattern::h2d) copies.push_back({.owner = i, .direction = Direction::h2d});
    if (both || pattern == GroupPattern::d2h) copies.push_back({.owner = i, .direction = Direction::d2h});
    if (pattern == GroupPattern::ring && gpus > 1) between(i, i, (i + 1) % gpus);
    if (pattern == GroupPattern::one_to_all && i > 0) between(i, 0, i);
    if (pattern == GroupPattern::all_to_one && i > 0) between(i, i, 0);
    if (pattern != GroupPattern::all_to_all) continue;
    for (std::size_t step = 1; step < gpus; ++step) between(i, i, (i + step) % gpus);
  }
  return copies;
}

TogetherCase together_case(const Case& c) {
  TogetherCase t{.pattern = c.one_of<GroupPattern>("pattern", kGroupPatterns),
                 .word = c.word("group"),
                 .gpus = gpu_numbers(c.word("group")),
                 .shared = c.is("memory", "shared"),
                 .bytes = c.count("size")};
  if (!t.gpus.empty()) t.word.clear();
  return t;
}

std::vector<Axis> together_axes() {
  return {
      choice_axis("pattern", words(kGroupPatterns),
                  {.defaults = "h2d,d2h,both",
                   .help = "copies between host and GPUs, or between GPUs; one-to-all, all-to-one: one is the first "
                           "GPU of the group"}),
      gpus_axis("group", {"alone", "pairs", "growing", "all"},
                {.defaults = "alone,pairs,growing",
                 .help = "GPUs that copy at once; alone: each GPU alone; pairs: every pair; growing: the first 2, 3, "
                         "... up to all; all: all GPUs"}),
      only_with(
          "pattern", words(std::span(kGroupPatterns).first(static_cast<std::size_t>(GroupPattern::ring))),
          choice_axis("memory", {"own", "shared"},
                      {.defaults = "own",
                       .help = "own: a pinned buffer for each GPU, near it; shared: parts of one pinned buffer"})),
      size_axis("size", {.defaults = "256M", .help = "bytes per copy: per GPU and direction, or from GPU to GPU"}),
  };
}

std::vector<Case> groups_of(const Case& c, const GpusOfRun& run) {
  const TogetherCase t = together_case(c);
  if (t.word.empty() || run.count() < 2) return {c};
  return list_of(groups_for(t, run.numbers()), [&](const std::vector<int>& group) {
    return c.with("group", std::array{Case::Param{"group", AxisKind::gpus, gpus_text(group)}});
  });
}

std::optional<SkipReason> together_skip_reason(const TogetherCase& c, const Capabilities* can) {
  if (c.is_alone() && between_gpus(c.pattern)) {
    return SkipReason::meaningless(
        fmt::format("--pattern {} copies between GPUs and needs at least two; choose --group pairs or growing",
                    kGroupPatterns[static_cast<std::size_t>(c.pattern)]));
  }
  if (c.is_alone() && c.shared) {
    return SkipReason::meaningless(
        "--memory shared is one buffer for several GPUs and needs at least two; choose --group pairs or growing");
  }
  if (can == nullptr) return std::nullopt;
  const Environment& environment = can->environment;
  if (environment.gpu_count() < 2) {
    return SkipReason::unavailable("needs several GPUs, but this run has one; for one GPU, use memcpy");
  }
  if (auto reason = missing_gpus(c.gpus, environment)) return reason;
  return between_gpus(c.pattern) ? missing_access(c.gpus, c.gpus, environment) : std::nullopt;
}

}  // namespace xferbench
