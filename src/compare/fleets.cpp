#include "compare/fleets.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"

namespace xferbench::compare {

namespace {

/// Returns why the GPUs of a file cannot be identified by UUID; empty if they can.
std::string without_uuids(const NamedReport& named) {
  std::map<std::string_view, int> ranks;
  for (const RankPlace& place : named.report.fleet->ranks) {
    const std::string& uuid = place.environment.gpu.uuid;
    if (uuid.empty()) return fmt::format("the GPU of rank {} of {} has no UUID", place.rank, named.name);
    const auto [other, is_new] = ranks.emplace(uuid, place.rank);
    if (!is_new) {
      return fmt::format("ranks {} and {} of {} have the same GPU {}", other->second, place.rank, named.name, uuid);
    }
  }
  return {};
}

/// Returns the UUID of a rank's GPU; empty if the rank never reported its machine.
std::string uuid_of(const Fleet& fleet, int rank) {
  const RankPlace* place = fleet.place(rank);
  return place == nullptr ? "" : place->environment.gpu.uuid;
}

/// Returns the identity of a transfer, a text that names both of its ranks. The text leaves out the round in which
/// these ranks are partners, because the round depends on the number of ranks.
std::string identity_of_transfer(const Fleet& fleet, const Result& result, std::pair<int, int> ranks, Match match) {
  const auto end = [&](int rank) {
    const std::string uuid = match == Match::uuid ? uuid_of(fleet, rank) : "";
    return uuid.empty() ? fmt::format("{}", rank) : uuid;
  };
  return fmt::format("{} pace={} from={} to={}", without_round_of_partners(result.config.key()),
                     to_text(result.in_fleet->pace), end(ranks.first), end(ranks.second));
}

/// Returns where a result was measured, for example "GPU 1 of a". If ranks are matched by UUID, the text also contains
/// the rank number, which may differ between files. For a transfer, names both ends.
std::string place_text(const Fleet& fleet, const Result& result, Match match) {
  const auto text = [&](int rank) {
    const RankPlace* place = fleet.place(rank);
    if (place == nullptr) return fmt::format("rank {}", rank);
    return match == Match::uuid ? fmt::format("rank {}, {}", rank, where_text(*place)) : where_text(*place);
  };
  const auto ranks = result.ranks_of_transfer();
  return ranks ? fmt::format("{} to {}", text(ranks->first), text(ranks->second)) : text(result.in_fleet->rank);
}

/// Returns the place of the case in the first of files [from, to) that has the case; empty if none has it.
std::string first_place(const Files& files, const SameCase& c, std::size_t from, std::size_t to, Match match) {
  for (std::size_t i = from; i < to; ++i) {
    const Result* result = c.results[i];
    if (result != nullptr) return place_text(*files[i]->report.fleet, *result, match);
  }
  return {};
}

/// Returns the places of one side's ranks, with the UUID or the rank number as the key.
std::map<std::string, const RankPlace*> places_of(const Files& files, Match match) {
  std::map<std::string, const RankPlace*> places;
  for (const NamedReport* named : files) {
    for (const RankPlace& place : named->report.fleet->ranks) {
      places.emplace(match == Match::uuid ? place.environment.gpu.uuid : fmt::format("{}", place.rank), &place);
    }
  }
  return places;
}

}  // namespace

std::optional<Match> matching(const Files& files, const Options& options) {
  const auto is_fleet = [](const NamedReport* named) { return named->report.fleet.has_value(); };
  const auto one = std::ranges::find_if(files, is_fleet);
  const auto other = std::ranges::find_if_not(files, is_fleet);
  if (one == files.end()) {
    if (options.match) throw UsageError("--match needs results of mpirun or srun, but none of these files has ranks");
    return std::nullopt;
  }
  if (other != files.end()) {
    throw UsageError(fmt::format("{} has {} ranks and {} is from a single process: these cannot be compared",
                                 (*one)->name, (*one)->report.fleet->ranks.size(), (*other)->name));
  }
  if (options.match == Match::rank) return Match::rank;
  for (const NamedReport* named : files) {
    const std::string why = without_uuids(*named);
    if (why.empty()) continue;
    if (options.match) throw UsageError(fmt::format("--match uuid: {}; use --match rank", why));
    return Match::rank;
  }
  return Match::uuid;
}

std::string identity_of(const Report& report, const Result& result, std::optional<Match> match) {
  if (!match) return result.identity();
  if (const auto ranks = result.ranks_of_transfer()) return identity_of_transfer(*report.fleet, result, *ranks, *match);
  const std::string uuid = match == Match::uuid ? uuid_of(*report.fleet, result.in_fleet->rank) : "";
  if (uuid.empty()) return result.identity();
  return fmt::format("{} pace={} gpu={}", result.config.key(), to_text(result.in_fleet->pace), uuid);
}

std::string place_of(const Files& files, const SameCase& c, std::size_t base_files, std::optional<Match> match) {
  if (!match) return {};
  const std::string before = first_place(files, c, 0, base_files, *match);
  const std::string now = first_place(files, c, base_files, files.size(), *match);
  if (before.empty() || now.empty()) return before + now;
  return before == now ? before : fmt::format("{}; in new {}", before, now);
}

std::string matched_text(const Files& files, std::size_t base_files, std::optional<Match> match) {
  if (!match) return {};
  const auto middle = files.begin() + static_cast<std::ptrdiff_t>(base_files);
  const auto base = places_of({files.begin(), middle}, *match);
  const auto new_side = places_of({middle, files.end()}, *match);
  std::size_t both = 0;
  std::size_t other_place = 0;
  std::size_t other_gpu = 0;
  for (const auto& [name, place] : base) {
    const auto found = new_side.find(name);
    if (found == new_side.end()) continue;
    ++both;
    const RankPlace& now = *found->second;
    if (place->rank != now.rank || place->host != now.host) ++other_place;
    if (place->environment.gpu.uuid != now.environment.gpu.uuid) ++other_gpu;
  }
  std::string text =
      fmt::format("ranks matched by {}: {} on both sides", match == Match::uuid ? "GPU UUID" : "rank number", both);
  if (base.size() > both) text += fmt::format(", {} only in base", base.size() - both);
  if (new_side.size() > both) text += fmt::format(", {} only in new", new_side.size() - both);
  if (other_place > 0) text += fmt::format(", {} with another rank number or host", other_place);
  if (other_gpu > 0) text += fmt::format(", {} with another GPU", other_gpu);
  return text;
}

}  // namespace xferbench::compare
