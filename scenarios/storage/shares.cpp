#include "scenarios/storage/shares.hpp"

#include <fmt/format.h>

#include "core/units.hpp"
#include "model/relation.hpp"
#include "run/finding_text.hpp"
#include "run/findings.hpp"

namespace xferbench {

namespace {

/// Where an equal share of the file ends, in bytes. `gpu`: from 1.
std::uint64_t equal_end(const StorageCase& c, std::size_t gpu) { return c.size * gpu / c.gpus.size(); }

std::vector<PartTable> split_bytes(const StorageCase& c) {
  constexpr std::uint64_t kCutAt = 4 * KiB;  // shares begin at multiples of this, as direct reads need
  std::vector<PartTable> shares;
  std::uint64_t begin = 0;
  for (std::size_t gpu = 1; gpu <= c.gpus.size(); ++gpu) {
    const std::uint64_t end = std::min<std::uint64_t>(c.size, (equal_end(c, gpu) + kCutAt - 1) / kCutAt * kCutAt);
    if (end > begin) shares.emplace_back(begin, std::vector{end - begin}, false);
    begin = end;
  }
  return shares;
}

/// A tensor that crosses the end of an equal share goes to the side where most of it lies.
std::vector<PartTable> split_tensors(const StorageCase& c) {
  const std::vector<std::uint64_t> sizes = part_sizes(c);
  std::vector<PartTable> shares;
  auto next = sizes.begin();
  std::uint64_t begin = 0;
  for (std::size_t gpu = 1; gpu <= c.gpus.size(); ++gpu) {
    std::uint64_t end = begin;
    std::vector<std::uint64_t> own;
    while (next != sizes.end() && (gpu == c.gpus.size() || 2 * end + *next <= 2 * equal_end(c, gpu))) {
      own.push_back(*next);
      end += *next++;
    }
    if (!own.empty()) shares.emplace_back(begin, own, true);
    begin = end;
  }
  return shares;
}

const Result* fastest_with(FileShare share, std::span<const Result* const> those) {
  const Result* best = nullptr;
  for (const Result* r : those) {
    if (storage_case(r->config).share != share) continue;
    if (best == nullptr || r->median("storage") < best->median("storage")) best = r;
  }
  return best;
}

}  // namespace

std::vector<Case> cases_for_gpus(const Case& c, const GpusOfRun& run) {
  const std::optional<FileShare> given = storage_case(c).share;
  if (run.count() < 2 || !(run.asked_for || given)) return {c};
  std::vector<Case> cases;
  for (std::size_t i = 0; i < kFileShares.size(); ++i) {
    if (given && *given != static_cast<FileShare>(i)) continue;
    Case& shared = cases.emplace_back(c);
    if (!given) shared.set(choice_axis("sharing", words(kFileShares), {}), std::string(kFileShares[i]));
    shared.set(gpus_axis("gpus", {}, {}), gpus_text(run.numbers()));
  }
  return cases;
}

std::optional<SkipReason> reason_against_sharing(const StorageCase& c, const Capabilities* can) {
  if (!c.share) return std::nullopt;
  if (c.saves || c.way == StorageWay::cufile) {
    return SkipReason::impossible("--dir save and --way cufile are for one GPU; leave out --gpus and --sharing");
  }
  if (can == nullptr) return std::nullopt;
  if (can->environment.gpu_count() < 2) {
    return SkipReason::unavailable(
        "--sharing needs several GPUs, but this run has one; give --gpus on a machine with more");
  }
  if (auto reason = missing_gpus(c.gpus, can->environment)) return reason;
  if (c.share != FileShare::broadcast || c.gpus.empty()) return std::nullopt;
  const std::span gpus = c.gpus;
  return missing_access(gpus.first(1), gpus.subspan(1), can->environment);
}

std::optional<SkipReason> reason_against_search(const StorageCase& c) {
  if (!c.share) return std::nullopt;
  return SkipReason::impossible(
      "tune searches on one GPU; leave out --gpus and --sharing, or sweep on several with xferbench storage --gpus all "
      "--way all --threads 4,8");
}

std::vector<PartTable> shares_of(const StorageCase& c) {
  if (c.share == FileShare::split && !c.gpus.empty()) {
    return c.layout == FileLayout::whole ? split_bytes(c) : split_tensors(c);
  }
  const PartTable all(0, part_sizes(c), c.layout != FileLayout::whole);
  return std::vector(std::max<std::size_t>(c.gpus.size(), 1), all);
}

std::uint64_t largest_share(const StorageCase& c) {
  return c.share == FileShare::split ? most_of(shares_of(c), &PartTable::bytes) : c.size;
}

std::size_t reads_of_file(const StorageCase& c) {
  const bool by_each = c.share == FileShare::each && (c.cache == CacheState::warm || c.past_cache());
  return by_each ? std::max<std::size_t>(c.gpus.size(), 1) : 1;
}

std::optional<Finding> shares_finding(std::span<const Result* const> those) {
  std::vector<const Result*> fastest;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kFileShares.size(); ++i) {
    const Result* const r = fastest_with(static_cast<FileShare>(i), those);
    if (r == nullptr) continue;
    fastest.push_back(r);
    names.emplace_back(kFileShares[i]);
  }
  if (fastest.size() < 2) return std::nullopt;
  const model::Leaders front = leaders_of(fastest, "storage");
  const Result& best = *fastest[front.places.front()];
  std::vector<std::string> factors;
  for (std::size_t i = 0; i < fastest.size(); ++i) {
    if (has_item(front.places, i)) continue;
    factors.push_back(fmt::format(
        "{} as {}", ratio_text(model::estimate_of(best, "storage"), model::estimate_of(*fastest[i], "storage")),
        names[i]));
  }
  const StorageCase c = storage_case(best.config);
  const std::string cache(kCacheStates[static_cast<std::size_t>(c.cache)]);
  const std::string gpus = gpus_text(c.gpus, ',');
  return Finding{.kind = "winner",
                 .labels = {{"cache", cache},
                            {"gpus", gpus},
                            {"sharing", leaders_text(front, names)},
                            {"outcome", outcome_label(front)}},
                 .text = fmt::format("{}, GPUs {}: {}{}{}{}", cache, gpus, ranking_text(front, names, "is the fastest"),
                                     factors.empty() ? "" : ": ", listed(factors),
                                     c.share == FileShare::split ? "; split leaves a part on each GPU" : "")};
}

}  // namespace xferbench
