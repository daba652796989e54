#include "scenarios/common/relay_slots.hpp"

#include "measure/pattern.hpp"

namespace xferbench {

RelaySlots::RelaySlots(Device& helper, std::span<const std::uint64_t> slots)
    : fill_(helper.make_stream(StreamKind::nonblocking)), drain_(helper.make_stream(StreamKind::nonblocking)) {
  std::uint64_t end = 0;
  for (const std::uint64_t bytes : slots) {
    offsets_.push_back(end);
    end += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    filled_.push_back(helper.make_event(EventKind::ordering));
    drained_.push_back(helper.make_event(EventKind::ordering));
  }
  memory_ = helper.allocate_device(end);
}

void RelaySlots::pass_on(const Copy& c, std::size_t turn) {
  const std::size_t slot = turn % filled_.size();
  std::byte* const at = memory_.data + offsets_[slot];
  const bool from_host = c.direction == Direction::h2d;
  if (turn >= filled_.size()) fill_.wait(drained_[slot]);
  fill_.copy({at, c.source, c.bytes, from_host ? Direction::h2d : Direction::p2p});
  fill_.record(filled_[slot]);
  drain_.wait(filled_[slot]);
  drain_.copy({c.destination, at, c.bytes, from_host ? Direction::p2p : Direction::d2h});
  drain_.record(drained_[slot]);
}

void RelaySlots::poison() {
  fill_.fill(memory_, pattern::kPoison);
  fill_.synchronize();
}

}  // namespace xferbench
