#include "soak/stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/units.hpp"
#include "soak/host_pattern.hpp"

namespace xferbench::soak {

namespace {

using kernels::SoakCheck;
using kernels::SoakErrors;
using kernels::SoakWords;
using kernels::SoakWork;

constexpr std::array<std::size_t, kSlots> kAll{0, 1, 2, 3};
constexpr std::size_t kHalf = kSlots / 2;
// number of checked buffers on each GPU: the slots (destination buffers) and the two source buffers
constexpr std::size_t kChecked = kSlots + 2;

/// Returns the indexes of the first or the second half of all slots (destination buffers).
std::span<const std::size_t> half_of_slots(std::size_t half) { return std::span(kAll).subspan(half * kHalf, kHalf); }

void require_memory(Device& device, std::uint64_t bytes) {
  const std::uint64_t free = device.memory().free_bytes;
  if (bytes <= free) return;
  throw UsageError(fmt::format(
      "soak needs {} of each GPU's memory (six times --size), but one GPU has {} free; choose a smaller --size",
      format_memory(bytes), format_memory(free)));
}

std::string name_of(const SoakWords& words) {
  return fmt::format("{}{}", to_text(words.pattern), words.inverted ? " inverted" : "");
}

/// Describes a buffer with wrong data. The caller sets load and time.
SoakWrong wrong_in(const SoakErrors& found, const SoakWords& words, const std::byte* buffer, std::string memory) {
  constexpr std::uint64_t kWord = sizeof(std::uint32_t);
  SoakWrong wrong{
      .load = {}, .memory = std::move(memory), .expected = {}, .found = "?", .pattern = name_of(words), .at = {}};
  wrong.bytes = found.bytes;
  wrong.bits = found.bits;
  wrong.offset = found.first() * kWord;
  wrong.last = found.last * kWord;
  const std::uint32_t expected = words.at(found.first());
  wrong.expected = fmt::format("{:#010x}", expected);
  // Only a few examples are kept, in no particular order. If many words are wrong, the first wrong word may not be
  // among them.
  for (unsigned i = 0; i < SoakErrors::kExamples && i < found.words; ++i) {
    if (found.examples[i].index != found.first() || found.examples[i].found == expected) continue;
    wrong.found = fmt::format("{:#010x}", found.examples[i].found);
    // Add the index of the wrong byte within the word, in little-endian byte order.
    wrong.offset += static_cast<std::uint64_t>(std::countr_zero(expected ^ found.examples[i].found)) / 8;
  }
  wrong.address = reinterpret_cast<std::uintptr_t>(buffer) + wrong.offset;
  return wrong;
}

}  // namespace

// --- Setting up -----------------------------------------------------------------------------------------------------

Stage::Gpu::Gpu(Device& its, std::size_t bytes)
    : device(its),
      number(its.capabilities().environment.number_of(its.number())),
      found(its.allocate_device(kChecked * sizeof(SoakErrors))),
      found_here(its.allocate_host(kChecked * sizeof(SoakErrors), HostMemory::pinned)),
      in(its.make_stream(StreamKind::nonblocking)),
      out(its.make_stream(StreamKind::nonblocking)),
      begin(its.make_event(EventKind::timing)),
      end(its.make_event(EventKind::timing)),
      side(its.make_event(EventKind::ordering)) {
  const auto on_host = [&](HostBuffer& buffer) {
    buffer = device.allocate_host(bytes, HostMemory::pinned);
    part = device.payload_part(buffer);
  };
  const auto on_device = [&](DeviceBuffer& buffer) { buffer = device.allocate_device(bytes); };
  std::ranges::for_each(host_source, on_host);
  std::ranges::for_each(host_ring.slots, on_host);
  std::ranges::for_each(source, on_device);
  std::ranges::for_each(ring.slots, on_device);
  device.preload(SoakCheck({}));
  device.preload(SoakWork(nullptr, nullptr, 0));
  in.fill({found.data, kChecked * sizeof(SoakErrors)}, std::byte{0});
  in.synchronize();
}

Stage::Stage(Machine& machine, const SoakSettings& settings)
    : machine_(machine),
      bytes_(settings.size),
      seed_(static_cast<std::uint32_t>(settings.seed)),
      always_moves_(machine.device().capabilities().moves_data_when_timed) {
  for (Device* device : machine.devices()) require_memory(*device, memory_of(settings));
  for (Device* device : machine.devices()) gpus_.push_back(std::make_unique<Gpu>(*device, bytes_));
  found_on_host_.resize(gpus_.size());
  if (std::ranges::find(settings.loads, SoakLoad::p2p) != settings.loads.end()) {
    for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
      try {
        gpus_[gpu]->device.set_peer_access(next_of(gpu).device, true);
      } catch (const DeviceError&) {  // without peer access, P2P copies go through host memory
      }
    }
  }
  worker_.emplace(machine.host());
}

/// Returns the words that GPU `of` sends, or that the host sends for it. Each GPU has its own words, so that a check
/// notices data of another GPU.
SoakWords Stage::words(const Gpu& of, bool inverted) const {
  return {pattern_, round_seed_ + 0x7FEB352DU * static_cast<std::uint32_t>(of.number), inverted};
}

/// Returns the GPU whose words GPU number `gpu` (an index into gpus_) receives in this load.
const Stage::Gpu& Stage::origin_of(SoakLoad load, std::size_t gpu) const {
  return *gpus_[load == SoakLoad::p2p ? (gpu + gpus_.size() - 1) % gpus_.size() : gpu];
}

void Stage::begin_round(std::uint64_t round, std::vector<GpuTurn>& turns) {
  machine_.set_data_movement(true);
  pattern_ = static_cast<kernels::SoakPattern>(round % kernels::kSoakPatternNames.size());
  round_seed_ = seed_ + static_cast<std::uint32_t>(round) * 0x9E3779B9U;
  for (const auto& gpu : gpus_) {
    for (const bool inverted : {false, true}) {
      const HostBuffer& from = gpu->host_source[inverted];
      machine_.host().work({.bytes_copied = bytes_}, [&] {
        fill({from.data, bytes_}, words(*gpu, inverted), gpu->part);
      });
      gpu->in.copy({gpu->source[inverted].data, from.data, bytes_, Direction::h2d});
    }
  }
  turns.clear();
  for (const auto& gpu : gpus_) {
    auto* const found = reinterpret_cast<SoakErrors*>(gpu->found.data) + kSlots;
    for (const bool inverted : {false, true}) {
      gpu->in.launch(SoakCheck(
          {gpu->source[inverted].data, bytes_, words(*gpu, inverted), found + (inverted ? 1 : 0), gpu->part}));
    }
    gpu->in.copy({gpu->found_here.data, gpu->found.data, kChecked * sizeof(SoakErrors), Direction::d2h});
    gpu->in.synchronize();
    turns.push_back({.gpu = gpu->number, .load = SoakLoad::h2d});
    collect_errors(*gpu, *gpu, turns.back(), std::array{kSlots, kSlots + 1});
  }
}

// --- Loads ----------------------------------------------------------------------------------------------------------

void Stage::run(SoakLoad load, double seconds, std::vector<GpuTurn>& turns, const std::function<void()>& look) {
  turns.clear();
  for (const auto& gpu : gpus_) turns.push_back({.gpu = gpu->number, .load = load});
  machine_.set_data_movement(always_moves_);
  const double begun = machine_.host().now();
  batch(load, turns, {.timed = true, .verified = always_moves_}, look);
  while (machine_.host().now() - begun < seconds && interrupted() == 0) {
    batch(load, turns, {.timed = true, .verified = always_moves_});
  }
  finish_host_check(turns);
  if (!always_moves_) {
    machine_.set_data_movement(true);
    batch(load, turns, {.timed = false, .verified = true});
    finish_host_check(turns);
  }
}

/// Submits a copy for each slot on every GPU, waits for the copies, and then checks the data.
void Stage::batch(SoakLoad load, std::vector<GpuTurn>& turns, const TurnOptions& how,
                  const std::function<void()>& look) {
  const bool fills_host = load == SoakLoad::d2h || load == SoakLoad::both;
  const bool fills_device = load != SoakLoad::d2h;
  const Slots host = fills_host ? half_of_slots(half_) : Slots();
  const Slots device = !fills_device ? Slots() : (load == SoakLoad::both ? half_of_slots(half_) : Slots(kAll));
  if (fills_host) half_ = 1 - half_;
  // If the copies move no data (`verified` is false), the words in the slots do not change.
  if (how.verified) flip_patterns(device, host);
  for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) submit(load, gpu, device, host);
  if (look) look();  // reads the state of the GPUs (clocks, temperature) while they work
  const std::uint64_t moved = (device.size() + host.size()) * bytes_;
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    Gpu& gpu = *gpus_[i];
    gpu.in.synchronize();
    gpu.out.synchronize();
    if (how.timed) turns[i].seconds += elapsed(gpu.begin, gpu.end);
    if (how.timed) turns[i].moved += moved;
    collect_errors(gpu, origin_of(load, i), turns[i], device);
    if (how.verified) turns[i].verified += device.size() * bytes_;
  }
  if (fills_host) check_on_host(turns, host, how.verified);
  // The check in host memory does not slow copies to the host, but it slows copies in both directions at once: on an
  // H200 they lost 3 % and varied by 5 % (docs/lab/soak.md). So the next copies must wait for the end of the check.
  if (load == SoakLoad::both) finish_host_check(turns);
}

/// Switches these slots between plain and inverted words, so that the next copy writes other data than the last one.
void Stage::flip_patterns(Slots device, Slots host) {
  for (const auto& gpu : gpus_) {
    for (const std::size_t slot : device) gpu->ring.inverted[slot] = !gpu->ring.inverted[slot];
    for (const std::size_t slot : host) gpu->host_ring.inverted[slot] = !gpu->host_ring.inverted[slot];
  }
}

void Stage::submit(SoakLoad load, std::size_t number, Slots device, Slots host) {
  Gpu& gpu = *gpus_[number];
  switch (load) {
    case SoakLoad::h2d:
    case SoakLoad::d2d:
    case SoakLoad::kernel:
      gpu.in.record(gpu.begin);
      to_device(load, gpu, device);
      gpu.in.record(gpu.end);
      return check_slots(gpu, gpu, device);
    case SoakLoad::d2h:
      gpu.out.record(gpu.begin);
      to_host(gpu, host);
      return gpu.out.record(gpu.end);
    case SoakLoad::both:
      gpu.in.record(gpu.begin);
      gpu.out.wait(gpu.begin);
      to_host(gpu, host);
      gpu.out.record(gpu.side);
      to_device(SoakLoad::h2d, gpu, device);
      gpu.in.wait(gpu.side);
      gpu.in.record(gpu.end);
      return check_slots(gpu, gpu, device);
    case SoakLoad::p2p: return to_next(gpu, next_of(number), device);
  }
}

void Stage::to_device(SoakLoad load, Gpu& gpu, Slots slots) {
  for (const std::size_t slot : slots) {
    std::byte* const to = gpu.ring.slots[slot].data;
    const bool inverted = gpu.ring.inverted[slot];
    const std::byte* const from = gpu.source[inverted].data;
    switch (load) {
      case SoakLoad::h2d: gpu.in.copy({to, gpu.host_source[inverted].data, bytes_, Direction::h2d}); break;
      case SoakLoad::kernel: gpu.in.launch(SoakWork(to, from, bytes_)); break;
      default: gpu.in.copy({to, from, bytes_, Direction::d2d});
    }
  }
}

void Stage::to_host(Gpu& gpu, Slots slots) {
  for (const std::size_t slot : slots) {
    const std::byte* const from = gpu.source[gpu.host_ring.inverted[slot]].data;
    gpu.out.copy({gpu.host_ring.slots[slot].data, from, bytes_, Direction::d2h});
  }
}

/// Copies from this GPU to the next GPU, which then checks the data.
void Stage::to_next(Gpu& gpu, Gpu& next, Slots slots) {
  gpu.out.record(gpu.begin);
  for (const std::size_t slot : slots) {
    gpu.out.copy({next.ring.slots[slot].data, gpu.source[next.ring.inverted[slot]].data, bytes_, Direction::p2p});
  }
  gpu.out.record(gpu.end);
  next.in.wait(gpu.end);
  check_slots(next, gpu, slots);
}

// --- Checks ---------------------------------------------------------------------------------------------------------

void Stage::check_slots(Gpu& gpu, const Gpu& origin, Slots slots) {
  auto* const found = reinterpret_cast<SoakErrors*>(gpu.found.data);
  for (const std::size_t slot : slots) {
    gpu.in.launch(
        SoakCheck({gpu.ring.slots[slot].data, bytes_, words(origin, gpu.ring.inverted[slot]), found + slot, gpu.part}));
  }
  gpu.in.copy({gpu.found_here.data, gpu.found.data, kChecked * sizeof(SoakErrors), Direction::d2h});
}

/// Adds the results of the check kernels to `turn`. The streams of the GPU must be synchronized before.
void Stage::collect_errors(Gpu& gpu, const Gpu& origin, GpuTurn& turn, Slots slots) {
  bool any = false;
  for (const std::size_t slot : slots) {
    SoakErrors found;
    std::memcpy(&found, gpu.found_here.data + slot * sizeof(found), sizeof(found));
    if (found.words == 0) continue;
    any = true;
    const bool is_source = slot >= kSlots;
    const bool inverted = is_source ? slot > kSlots : gpu.ring.inverted[slot];
    const std::byte* const buffer = is_source ? gpu.source[inverted].data : gpu.ring.slots[slot].data;
    SoakWrong wrong = wrong_in(found, words(origin, inverted), buffer, fmt::format("GPU {}", gpu.number));
    wrong.gpu = turn.gpu;
    wrong.load = turn.load;
    turn.wrong.push_back(std::move(wrong));
  }
  if (!any) return;
  std::memset(gpu.found_here.data, 0, kChecked * sizeof(SoakErrors));
  gpu.in.fill({gpu.found.data, kChecked * sizeof(SoakErrors)}, std::byte{0});
  gpu.in.synchronize();
}

/// Starts the check of the host buffers on a worker thread, concurrently with the next batch. First waits for the
/// previous check to finish.
void Stage::check_on_host(std::vector<GpuTurn>& turns, Slots slots, bool verified) {
  finish_host_check(turns);
  being_checked_ = verified ? slots.size() * bytes_ : 0;
  checking_ = true;
  worker_->start([this, slots, load = turns.front().load] {
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      const Gpu& gpu = *gpus_[i];
      for (const std::size_t slot : slots) {
        const HostBuffer& memory = gpu.host_ring.slots[slot];
        const SoakWords expected = words(gpu, gpu.host_ring.inverted[slot]);
        SoakErrors found;
        machine_.host().work({.bytes_read = bytes_}, [&] { found = check({memory.data, bytes_}, expected, gpu.part); });
        if (found.words == 0) continue;
        SoakWrong wrong = wrong_in(found, expected, memory.data, "host");
        wrong.gpu = gpu.number;
        wrong.load = load;
        found_on_host_[i].push_back(std::move(wrong));
      }
    }
  });
}

void Stage::finish_host_check(std::vector<GpuTurn>& turns) {
  if (!checking_) return;
  worker_->finish();
  checking_ = false;
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    turns[i].verified += being_checked_;
    for (SoakWrong& wrong : found_on_host_[i]) turns[i].wrong.push_back(std::move(wrong));
    found_on_host_[i].clear();
  }
}

}  // namespace xferbench::soak
