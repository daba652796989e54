// Where a soak happens: the memory and streams of each GPU, and the loads that keep them busy. All GPUs carry the same
// load at the same time. Nothing that a copy or a kernel brings is overwritten before it was compared with what it
// should be: by a kernel in the GPU's memory, by all processors in the host's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "device/machine.hpp"
#include "kernels/soak.hpp"
#include "measure/worker.hpp"
#include "results/soak.hpp"
#include "soak/tally.hpp"

namespace xferbench::soak {

/// Buffers that copies go to, one after the other.
inline constexpr std::size_t kSlots = 4;

/// Bytes that a soak takes of each GPU, and for each GPU of the host: sources of both kinds of words, and the slots.
constexpr std::uint64_t memory_of(const SoakSettings& settings) { return (2 + kSlots) * settings.size; }

class Stage {
 public:
  /// Allocates all of it. Throws UsageError where a GPU has too little memory, DeviceError.
  Stage(Machine& machine, const SoakSettings& settings);

  // What they find is in `turns`, one for each GPU, even where DeviceError ends them.

  /// Other words from now on, in the sources of all GPUs, where they are checked.
  void begin_round(std::uint64_t round, std::vector<TurnOfGpu>& turns);

  /// Keeps all GPUs busy with a load for so many seconds, at least once, or until an interrupt. `look` is called once,
  /// while they work. A machine that does not move data while it is timed does so once more at the end, and only that
  /// is verified.
  void run(SoakLoad load, double seconds, std::vector<TurnOfGpu>& turns, const std::function<void()>& look = {});

  /// Waits for what is checked on the host, and adds what was found there: after an error.
  void finish_host_check(std::vector<TurnOfGpu>& turns);

 private:
  using Slots = std::span<const std::size_t>;

  /// One of two: words as they are, and inverted.
  template <class Buffer>
  using Pair = std::array<Buffer, 2>;

  /// Slots of one kind of memory. Each gets what it has not had last.
  template <class Buffer>
  struct Ring {
    std::array<Buffer, kSlots> slots;
    std::array<bool, kSlots> inverted{};  // what it has, or is about to get
  };

  struct Gpu {
    Gpu(Device& device, std::size_t bytes);

    Device& device;
    int number;  // as the machine's environment counts it
    Pair<HostBuffer> host_source;
    Ring<HostBuffer> host_ring;
    Pair<DeviceBuffer> source;
    Ring<DeviceBuffer> ring;
    DeviceBuffer found;     // SoakFound of each slot, and of each source
    HostBuffer found_here;  // the same on the host
    PayloadPart part;
    Stream in;   // to its memory, and checks there
    Stream out;  // from its memory
    Event begin;
    Event end;
    Event side;  // of what goes on beside
  };

  [[nodiscard]] kernels::SoakWords words(const Gpu& of, bool inverted) const;
  [[nodiscard]] const Gpu& origin_of(SoakLoad load, std::size_t gpu) const;
  [[nodiscard]] Gpu& next_of(std::size_t gpu) { return *gpus_[(gpu + 1) % gpus_.size()]; }

  struct How {
    bool timed = false;
    bool verified = false;  // data move
  };
  void batch(SoakLoad load, std::vector<TurnOfGpu>& turns, const How& how, const std::function<void()>& look = {});
  void turn_over(Slots device, Slots host);
  void submit(SoakLoad load, std::size_t gpu, Slots device, Slots host);
  void to_device(SoakLoad load, Gpu& gpu, Slots slots);
  void to_host(Gpu& gpu, Slots slots);
  void to_next(Gpu& gpu, Gpu& next, Slots slots);
  void check_slots(Gpu& gpu, const Gpu& origin, Slots slots);
  void take_found(Gpu& gpu, const Gpu& origin, TurnOfGpu& turn, Slots slots);
  void check_on_host(std::vector<TurnOfGpu>& turns, Slots slots, bool verified);

  Machine& machine_;
  std::size_t bytes_;
  std::uint32_t seed_;
  bool always_moves_;
  kernels::SoakPattern pattern_{};
  std::uint32_t round_seed_ = 0;
  std::size_t half_ = 0;  // of the host's slots that is next
  std::vector<std::unique_ptr<Gpu>> gpus_;
  std::vector<std::vector<SoakWrong>> found_on_host_;  // by GPU, by the worker
  bool checking_ = false;                              // the worker is at it
  std::uint64_t being_checked_ = 0;                    // bytes of each GPU
  std::optional<Worker> worker_;                       // last: it uses all the others
};

}  // namespace xferbench::soak
