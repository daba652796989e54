#include "scenarios/multipath/case.hpp"

#include "scenarios/common/relay_slots.hpp"
#include "scenarios/common/transfer.hpp"

namespace xferbench {

std::vector<int> MultipathCase::gpus() const {
  std::vector<int> all = target;
  all.insert(all.end(), via.begin(), via.end());
  return all;
}

MultipathCase multipath_case(const Case& c) {
  constexpr double kPercent = 100;
  MultipathCase m{.direction = c.one_of<Direction>("dir", kDirections),
                  .target = gpu_numbers(c.word("target")),
                  .via = gpu_numbers(c.word("via")),
                  .growing = c.is("via", kGrowing),
                  .share = {},
                  .shape = {.chunk = c.count_or("chunk", 0), .slots = c.count("slots")},
                  .bytes = c.count("size")};
  m.shape.last_leg_is_fast = m.direction == Direction::h2d;
  if (c.has("share")) m.share = c.real("share") / kPercent;
  return m;
}

std::uint64_t helper_memory(const MultipathCase& c) {
  const std::uint64_t chunk = c.shape.chunk == 0 ? model::kLongestRelayChunk : c.shape.chunk;
  return std::min(c.shape.slots * chunk, c.bytes) + c.shape.slots * RelaySlots::kAlignment;
}

std::uint64_t helper_memory(const Cut& cut) {
  return most_of(cut.split.through, [&](std::uint64_t part) { return total_of(model::relay_slots(cut.shape, part)); });
}

namespace {

std::uint64_t longest_chunk(const Cut& cut) {
  return most_of(cut.split.through,
                 [&](std::uint64_t part) { return most_of(model::relay_chunks(cut.shape, part), std::identity()); });
}

Case with_numbers(const Case& whole, std::string_view axis, std::span<const int> numbers) {
  const std::array param{Case::Param{std::string(axis), AxisKind::gpus, gpus_text(numbers)}};
  return whole.with(axis, param);
}

}  // namespace

void add_rates(const MultipathCase& c, const Cut& cut, double seconds, double direct_seconds, Result& result) {
  result.add("bandwidth", gigabytes_per_second(c.bytes, seconds), "GB/s");
  result.add("direct_bandwidth", gigabytes_per_second(c.bytes, direct_seconds), "GB/s");
  result.add("times_direct", direct_seconds / seconds, "1");
  result.add("relayed", static_cast<double>(cut.split.relayed()) / static_cast<double>(c.bytes), "1");
  if (cut.split.relayed() == 0) return;
  result.add("chunk", static_cast<double>(longest_chunk(cut)) / MiB, "MiB");
  result.add("helper_memory", static_cast<double>(helper_memory(cut)) / MiB, "MiB");
}

std::vector<Case> expand_multipath(const Case& c, const GpusOfRun& gpus) {
  if (gpus.count() < 2) return {c};
  std::vector<int> others = gpus.numbers();
  const MultipathCase m = multipath_case(c);
  const int target = m.target.empty() ? others.front() : m.target.front();
  const Case to_target = with_numbers(c, "target", std::array{target});
  if (!m.via.empty()) return {to_target};
  std::erase(others, target);
  if (!m.growing) return {with_numbers(to_target, "via", others)};
  std::vector<Case> cases;
  for (std::size_t helpers = 1; helpers <= others.size(); ++helpers) {
    cases.push_back(with_numbers(to_target, "via", std::span(others).first(helpers)));
  }
  return cases;
}

}  // namespace xferbench
