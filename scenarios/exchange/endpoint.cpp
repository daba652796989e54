#include "scenarios/exchange/endpoint.hpp"

#include <fmt/format.h>

#include <utility>

#include "measure/pattern.hpp"

namespace xferbench {

/// The flows of chunks of one pass, and their buffers. This object must live as long as the region that uses it.
struct ExchangeEndpoint::Transfers {
  std::vector<HostBuffer> slots{};
  std::vector<std::unique_ptr<CopyStage>> copies{};
  std::vector<std::unique_ptr<MessageStage>> messages{};
  std::vector<std::unique_ptr<Flow>> flows{};
  std::vector<Flow*> in_order{};  // non-owning

  void add(Stage& first, Stage* second, std::size_t chunks, std::size_t depth) {
    flows.push_back(std::make_unique<Flow>(first, second, chunks, depth));
    in_order.push_back(flows.back().get());
  }
  void run(const FlowWaiting& waiting) const {
    drive(in_order, waiting);
    for (const auto& stage : copies) stage->rethrow_failure();
  }
};

struct ExchangeEndpoint::RoundTrip {
  std::shared_ptr<Transfers> there;
  std::shared_ptr<Transfers> back;
};

/// The D2H and H2D copies of one pass, each in a stream of its own.
struct ExchangeEndpoint::Copies {
  struct CopyStream {
    Direction direction;
    Stream stream;
    Event end;
    std::byte* on_gpu;
    std::byte* on_host;
    std::size_t part;
  };
  std::uint64_t bytes;
  std::size_t pieces;
  std::vector<CopyStream> copy_streams{};

  void submit() const {
    const Chunks chunks{bytes, (bytes + pieces - 1) / pieces};
    for (std::size_t i = 0; i < chunks.count(); ++i) {
      for (const CopyStream& copy_stream : copy_streams) {
        std::byte* const there = copy_stream.on_gpu + chunks.offset(i);
        std::byte* const here = copy_stream.on_host + chunks.offset(i);
        const bool in = copy_stream.direction == Direction::h2d;
        copy_stream.stream.copy({in ? there : here, in ? here : there, chunks.length(i), copy_stream.direction});
      }
    }
    for (const CopyStream& copy_stream : copy_streams) copy_stream.stream.record(copy_stream.end);
  }
  void run(LapTimer& laps, const HostRuntime& host) const {
    const double begun = host.now();
    submit();
    std::vector<const CopyStream*> left;
    for (const CopyStream& copy_stream : copy_streams) left.push_back(&copy_stream);
    while (!left.empty()) {
      std::erase_if(left, [&](const CopyStream* copy_stream) {
        if (!copy_stream->end.finished()) return false;
        laps.add(copy_stream->part, host.now() - begun);
        return true;
      });
    }
  }
};

ExchangeEndpoint::ExchangeEndpoint(const ExchangeCase& c, const RunContext& bench, Partner& partner)
    : case_(c),
      bench_(bench),
      fleet_(*bench.fleet),
      partner_(partner),
      waiting_{.in_order = bench.device.capabilities().environment.simulated(),
               .timeout = fleet_.timeout,
               .what = fmt::format("exchanging with rank {}", partner.rank())},
      out_(bench.device.allocate_host(c.bytes, HostMemory::pinned)),
      in_(bench.device.allocate_host(c.bytes, HostMemory::pinned)) {
  if (!c.uses_gpus()) return;
  source_ = bench.device.allocate_device(c.bytes);
  destination_ = bench.device.allocate_device(c.bytes);
}

ExchangeEndpoint::~ExchangeEndpoint() = default;

void ExchangeEndpoint::prepare() {
  pattern::fill_bytes(out(), seed_of(fleet_.ranks.rank()));
  if (source_) bench_.device.copy_and_wait({source_.data, out_.data, out_.bytes, Direction::h2d});
}

// --- Regions --------------------------------------------------------------------------------------------------------

Region ExchangeEndpoint::region_of(const std::string& name, std::shared_ptr<Transfers> transfers) {
  Region region{.name = name, .clock = Clock::host, .batchable = false};
  if (transfers->flows.empty()) return region;
  transfers_.push_back(transfers);
  region.reset = [this] { partner_.agree(true); };
  region.submit = [this, transfers = std::move(transfers)] { partner_.within_pass([&] { transfers->run(waiting_); }); };
  return region;
}

void ExchangeEndpoint::add_staged(Transfers& transfers, const ExchangePart& part, const model::ExchangeShape& shape,
                                  std::uint64_t bytes) {
  const Chunks chunks{bytes, std::min(shape.chunk, bytes)};
  const std::size_t depth = std::min(shape.depth, chunks.count());
  const auto slots = [&](const HostBuffer& all) {
    if (chunks.count() == 1) return Slots{all.data, chunks.chunk, 1};
    const HostBuffer& own =
        transfers.slots.emplace_back(bench_.device.allocate_host(chunks.chunk * depth, HostMemory::pinned));
    return Slots{own.data, chunks.chunk, depth};
  };
  const auto add = [&](Direction direction, std::byte* on_gpu, const Slots& on_host, MessageStage::Way way, int other) {
    auto copy = std::make_unique<CopyStage>(bench_.device, direction, on_gpu, on_host, chunks, depth);
    auto message = std::make_unique<MessageStage>(fleet_.ranks, way, other, on_host, chunks, depth);
    Stage* first = copy.get();
    Stage* second = message.get();
    if (way == MessageStage::Way::receive) std::swap(first, second);
    transfers.add(*first, second, chunks.count(), depth);
    transfers.copies.push_back(std::move(copy));
    transfers.messages.push_back(std::move(message));
  };
  if (part.to) add(Direction::d2h, source_.data, slots(out_), MessageStage::Way::send, *part.to);
  if (part.from) add(Direction::h2d, destination_.data, slots(in_), MessageStage::Way::receive, *part.from);
}

void ExchangeEndpoint::add_plain(Transfers& transfers, const ExchangePart& part, std::byte* from, std::byte* to,
                                 const Chunks& chunks, std::size_t depth, MessageMemory through) {
  const std::size_t at_once = std::min(depth, chunks.count());
  const auto add = [&](std::byte* memory, MessageStage::Way way, int other) {
    const Slots all{memory, chunks.chunk, through == MessageMemory::slots ? at_once : chunks.count()};
    transfers.messages.push_back(std::make_unique<MessageStage>(fleet_.ranks, way, other, all, chunks, at_once));
    transfers.add(*transfers.messages.back(), nullptr, chunks.count(), at_once);
  };
  if (part.to) add(from, MessageStage::Way::send, *part.to);
  if (part.from) add(to, MessageStage::Way::receive, *part.from);
}

void ExchangeEndpoint::add_transfer(Transfers& transfers, const ExchangePart& part, const model::ExchangeShape& shape,
                                    std::uint64_t bytes) {
  if (case_.method == ExchangeMethod::host) {
    add_plain(transfers, part, out_.data, in_.data, {bytes, std::min(shape.chunk, bytes)}, shape.depth);
  } else if (case_.method == ExchangeMethod::direct) {
    add_plain(transfers, part, source_.data, destination_.data, {bytes, bytes}, 1);
  } else {
    add_staged(transfers, part, shape, bytes);
  }
}

Region ExchangeEndpoint::exchange(const std::string& name, const ExchangePart& part, const model::ExchangeShape& shape,
                                  std::uint64_t bytes) {
  auto transfers = std::make_shared<Transfers>();
  add_transfer(*transfers, part, shape, bytes);
  Region region = region_of(name, std::move(transfers));
  // Idle ranks have this check, too, because all ranks must synchronize at the same points.
  region.check = [this, part] {
    if (!part.is_idle()) partner_.together([&] { check(part); });
  };
  return region;
}

Region ExchangeEndpoint::round_trips(const std::string& name, const ExchangePart& part,
                                     const model::ExchangeShape& shape, std::uint64_t bytes) {
  Region region{.name = name, .clock = Clock::host, .batchable = false};
  region.parts = {{.name = kExchangeLatency}};
  const ExchangePart answer{.to = part.from, .from = part.to};
  region.check = [this, part, answer] {
    if (part.is_idle()) return;
    partner_.together([&] { check(part.from ? part : answer); });
  };
  if (part.is_idle()) return region;
  const RoundTrip trip{std::make_shared<Transfers>(), std::make_shared<Transfers>()};
  add_transfer(*trip.there, part, shape, bytes);
  add_transfer(*trip.back, answer, shape, bytes);
  transfers_.insert(transfers_.end(), {trip.there, trip.back});
  region.reset = [this] { partner_.agree(true); };
  region.steps = [this, trip](LapTimer& laps) { laps.add(0, time_round_trips(trip)); };
  return region;
}

/// Returns half of the mean round trip, in seconds. The first round trip does not count, because it waits until both
/// ends have started.
double ExchangeEndpoint::time_round_trips(const RoundTrip& trip) {
  constexpr int kTrips = 50;
  const HostRuntime& host = bench_.machine.host();
  double begun = 0;
  for (int i = 0; i <= kTrips; ++i) {
    partner_.within_pass([&] { trip.there->run(waiting_); });
    partner_.within_pass([&] { trip.back->run(waiting_); });
    if (i == 0) begun = host.now();
  }
  return (host.now() - begun) / (2 * kTrips);
}

Region ExchangeEndpoint::messages(const std::string& name, const ExchangePart& part, const model::ExchangeShape& shape,
                                  std::uint64_t bytes, MessageMemory through) {
  auto transfers = std::make_shared<Transfers>();
  add_plain(*transfers, part, out_.data, in_.data, {bytes, std::min(shape.chunk, bytes)}, shape.depth, through);
  return region_of(name, std::move(transfers));
}

Region ExchangeEndpoint::copies(const std::string& name, const ExchangePart& part, bool d2h, bool h2d,
                                std::uint64_t bytes, std::size_t pieces) {
  Region region{.name = name, .clock = Clock::host, .batchable = false};
  region.parts = {{.name = kExchangeD2h}, {.name = kExchangeH2d}};
  auto copies = std::make_shared<Copies>(Copies{.bytes = bytes, .pieces = pieces});
  const auto add = [&](Direction direction, std::byte* on_gpu, std::byte* on_host, std::size_t which) {
    copies->copy_streams.push_back({direction, bench_.device.make_stream(StreamKind::nonblocking),
                                    bench_.device.make_event(EventKind::ordering), on_gpu, on_host, which});
  };
  if (d2h && part.to) add(Direction::d2h, source_.data, out_.data, 0);
  if (h2d && part.from) add(Direction::h2d, destination_.data, in_.data, 1);
  if (!part.is_idle()) region.reset = [this] { partner_.agree(true); };
  if (!copies->copy_streams.empty()) {
    region.steps = [this, copies](LapTimer& laps) {
      partner_.within_pass([&] { copies->run(laps, bench_.machine.host()); });
    };
  }
  return region;
}

void ExchangeEndpoint::release_unused_memory() {
  std::erase_if(transfers_, [](const auto& transfers) { return transfers.use_count() == 1; });
}

// --- Verification ---------------------------------------------------------------------------------------------------

void ExchangeEndpoint::poison(const ExchangePart& part) {
  if (part.from) pattern::poison(in());
  if (part.to && staged()) pattern::poison(out());
  for (const auto& transfers : transfers_) {
    for (const HostBuffer& slots : transfers->slots) pattern::poison({slots.data, slots.bytes});
  }
  if (part.from && destination_) bench_.device.fill_and_wait(destination_, pattern::kPoison);
}

void ExchangeEndpoint::check(const ExchangePart& part) {
  if (!part.from) return;
  if (destination_) {
    pattern::poison(in());
    bench_.device.copy_and_wait({in_.data, destination_.data, in_.bytes, Direction::d2h});
  }
  pattern::require(pattern::check_bytes(in(), seed_of(*part.from)),
                   fmt::format("from rank {} to rank {}", *part.from, fleet_.ranks.rank()));
}

void ExchangeEndpoint::verify(const Region& region, const ExchangePart& part, VerifiedRun run) {
  if (part.is_idle()) return;
  run(bench_.machine, region, [&] { poison(part); });
  partner_.together([&] { check(part); });
}

}  // namespace xferbench
