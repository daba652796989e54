#include "scenarios/multipath/costs.hpp"

#include <utility>

#include "scenarios/multipath/payload.hpp"

namespace xferbench {

namespace {

constexpr std::size_t kSamples = 8;
constexpr std::size_t kPieces = 16;  // number of copies for measuring the cost of one more copy
constexpr std::uint64_t kTiny = 4 * KiB;
constexpr std::size_t kLinks = 32;  // number of steps of Leg::chain(), with two copies each

double rate(std::uint64_t bytes, double time) { return static_cast<double>(bytes) / std::max(time, 1e-9); }

double median_of(const RunContext& bench, Region region) {
  return sample_few(bench, {std::move(region)}, kSamples).front().elapsed.median;
}

/// A part of the payload in a helper's memory, with regions that copy it in pieces over either link of the helper.
class Leg {
 public:
  enum class Link { own, peer };

  Leg(MultipathPayload& payload, Device& helper, std::uint64_t offset, std::uint64_t bytes)
      : payload_(payload),
        offset_(offset),
        bytes_(bytes),
        memory_(helper.allocate_device(bytes)),
        one_(helper.make_stream(StreamKind::nonblocking)),
        other_(helper.make_stream(StreamKind::nonblocking)),
        event_(helper.make_event(EventKind::ordering)) {}

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

  [[nodiscard]] Region in_pieces(Link link, std::size_t pieces) {
    return {.name = "leg",
            .clock = Clock::event_gated,
            .streams = {one_},
            .submit =
                [this, link, pieces] {
                  const std::uint64_t step = std::max<std::uint64_t>(1, bytes_ / pieces);
                  for (std::size_t i = 0; i < pieces; ++i) {
                    copy(link, i * step, step, one_);
                    one_.record(event_);  // as a relay does for each chunk, so the fixed cost includes it
                  }
                },
            .operations = 2 * pieces};
  }

  /// A region with tiny copies over the two links alternately; each copy waits for the previous one.
  [[nodiscard]] Region chain() {
    return {.name = "chain",
            .clock = Clock::event_gated,
            .streams = {one_, other_},
            .submit =
                [this] {
                  const std::uint64_t bytes = std::min(kTiny, bytes_);
                  for (std::size_t i = 0; i < kLinks; ++i) {
                    copy(Link::own, 0, bytes, one_);
                    order(one_, other_);
                    copy(Link::peer, 0, bytes, other_);
                    order(other_, one_);
                  }
                },
            .operations = 3 * kLinks};
  }

 private:
  void copy(Link link, std::uint64_t offset, std::uint64_t bytes, StreamView stream) {
    std::byte* const at = memory_.data + offset;
    const std::uint64_t of_payload = offset_ + offset;
    stream.copy(link == Link::own ? payload_.over_link(at, of_payload, bytes)
                                  : payload_.between_gpus(at, of_payload, bytes));
  }
  void order(StreamView first, StreamView second) {
    first.record(event_);
    second.wait(event_);
  }

  MultipathPayload& payload_;
  std::uint64_t offset_;  // byte offset of this part in the payload
  std::uint64_t bytes_;
  DeviceBuffer memory_;
  Stream one_;
  Stream other_;
  Event event_;
};

/// Returns the fixed cost of a copy over the link, in seconds.
double per_copy(const RunContext& bench, Leg& leg, Leg::Link link) {
  const double whole = median_of(bench, leg.in_pieces(link, 1));
  const double pieces = median_of(bench, leg.in_pieces(link, kPieces));
  return std::max(0.0, (pieces - whole) / (kPieces - 1));
}

/// Returns the time, by the device's own clock, that one device needs for its part of a region over several devices.
double gpu_time(const Series& series, const Device& device) {
  return series.part(kGpuTime, device.capabilities().environment.number_of(device.number())).median;
}

/// Returns how much longer the whole region takes than its longest part on a single GPU. That is the cost of starting
/// the GPUs together and of notifying the first GPU of the end.
double far_end_of(const Series& series, const MultipathPayload& payload) {
  const double helpers = most_of(payload.helpers(), [&](const Device* helper) { return gpu_time(series, *helper); });
  return std::max(0.0, series.elapsed.median - std::max(gpu_time(series, payload.target()), helpers));
}

/// Seconds that a helper's part of the payload takes on its own link and on its link to the target GPU, while all other
/// links are busy, too.
struct LinkTimes {
  double own = 0;
  double peer = 0;
};

model::RelayCosts helper_costs(const RunContext& bench, Leg& leg, const LinkTimes& times, bool to_target) {
  const double own_copy = per_copy(bench, leg, Leg::Link::own);
  const double peer_copy = per_copy(bench, leg, Leg::Link::peer);
  // One step of the chain consists of two copies and two hand-overs, so subtracting the copies leaves the hand-overs.
  const double both = median_of(bench, leg.chain()) / kLinks;
  const double own_rate = rate(leg.bytes(), times.own - own_copy);
  const double peer_rate = rate(leg.bytes(), times.peer - peer_copy);
  return {.first_rate = to_target ? own_rate : peer_rate,
          .second_rate = to_target ? peer_rate : own_rate,
          .first_copy = to_target ? own_copy : peer_copy,
          .second_copy = to_target ? peer_copy : own_copy,
          .hand_over = std::max(0.0, (both - own_copy - peer_copy) / 2)};
}

/// Returns the time of tiny copies over all own links at once, which is nearly all overhead.
double small_transfer_time(const RunContext& bench, MultipathPayload& payload) {
  OwnLinks links(payload, {kTiny, std::vector<std::uint64_t>(payload.helpers().size(), kTiny)});
  return median_of(bench, links.region());
}

/// Returns the time of the copy between each helper and the target while all of them share the target's links.
std::vector<double> peer_times(const RunContext& bench, std::span<const std::unique_ptr<Leg>> legs,
                               const MultipathPayload& payload) {
  std::vector<Region> regions = list_of(legs, [](const auto& leg) { return leg->in_pieces(Leg::Link::peer, 1); });
  if (legs.size() == 1) return {median_of(bench, regions.front())};
  const Series all = sample_few(bench, {at_once("legs", std::move(regions))}, kSamples).front();
  return list_of(payload.helpers(), [&](const Device* helper) { return gpu_time(all, *helper); });
}

}  // namespace

model::RelayPaths measure_paths(const RunContext& bench, const MultipathCase& c) {
  MultipathCase own = c;
  own.bytes = kMeasuredBytes;
  MultipathPayload payload(bench.machine, own, bench.seed);
  if (bench.needs_data()) payload.prepare();
  const std::size_t helpers = payload.helpers().size();
  const double evenly = static_cast<double>(helpers) / static_cast<double>(helpers + 1);
  const model::RelaySplit split = model::even_relay_split(helpers, evenly, payload.bytes(), kPartAlignment);
  OwnLinks links(payload, split);
  const Series own_links = sample_few(bench, {links.region()}, kSamples).front();
  const double little = small_transfer_time(bench, payload);
  std::vector<std::unique_ptr<Leg>> legs;
  std::uint64_t offset = split.direct;
  for (std::size_t i = 0; i < helpers; ++i) {
    legs.push_back(std::make_unique<Leg>(payload, *payload.helpers()[i], offset, split.through[i]));
    offset += split.through[i];
  }
  const std::vector<double> to_target = peer_times(bench, legs, payload);
  model::RelayPaths paths{.far_end = far_end_of(own_links, payload)};
  for (std::size_t i = 0; i < helpers; ++i) {
    const LinkTimes times{gpu_time(own_links, *payload.helpers()[i]), to_target[i]};
    paths.helpers.push_back(helper_costs(bench, *legs[i], times, payload.direction() == Direction::h2d));
  }
  // The fixed cost of the target's own copies is taken from a helper's copies from or to the host.
  const model::RelayCosts& like = paths.helpers.front();
  paths.direct_copy = payload.direction() == Direction::h2d ? like.first_copy : like.second_copy;
  paths.direct_rate = rate(split.direct, gpu_time(own_links, payload.target()) - paths.direct_copy);
  paths.joining = std::max(0.0, little - paths.direct_copy - kTiny / paths.direct_rate);
  return paths;
}

}  // namespace xferbench
