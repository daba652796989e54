// Owns the buffers and streams of a soak test, and runs its loads. All GPUs run the same load at the same time. Data
// that a copy or a kernel has written is always compared with the expected words before it is overwritten: in GPU
// memory by a kernel, in host memory by threads on all CPUs.
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

/// Number of slots (destination buffers of copies) for each GPU, in GPU memory and again in host memory.
inline constexpr std::size_t kSlots = 4;

/// Returns the bytes that a soak test allocates on each GPU: two sources (plain and inverted words) and the slots. It
/// allocates the same amount of host memory for each GPU.
constexpr std::uint64_t memory_of(const SoakSettings& settings) { return (2 + kSlots) * settings.size; }

class Stage {
 public:
  /// Allocates all memory. Throws UsageError if a GPU has too little, and DeviceError if a device operation fails.
  Stage(Machine& machine, const SoakSettings& settings);

  // The following functions store their results in `turns`, one for each GPU, even if they throw DeviceError.

  /// Writes new words to the source buffers of all GPUs, and checks the words there.
  void begin_round(std::uint64_t round, std::vector<GpuTurn>& turns);

  /// Runs a load on all GPUs for `seconds`, but at least once, or until an interrupt. `look` is called once while the
  /// GPUs work. A simulated machine may move no data in timed runs; it then repeats the load once with data, and only
  /// that data is verified.
  void run(SoakLoad load, double seconds, std::vector<GpuTurn>& turns, const std::function<void()>& look = {});

  /// Waits for the check in host memory and adds its results. Must also be called after an error.
  void finish_host_check(std::vector<GpuTurn>& turns);

 private:
  using Slots = std::span<const std::size_t>;

  /// A pair of source buffers: the first has plain words, the second one inverted words.
  template <class Buffer>
  using Pair = std::array<Buffer, 2>;

  /// The slots (destination buffers) in one kind of memory. Writes to a slot alternate between plain and inverted
  /// words.
  template <class Buffer>
  struct Ring {
    std::array<Buffer, kSlots> slots;
    // whether each slot contains inverted words; during a copy to the slot, whether the copy writes inverted words
    std::array<bool, kSlots> inverted{};
  };

  struct Gpu {
    Gpu(Device& device, std::size_t bytes);

    Device& device;
    int number;  // number of the GPU as users write it, from Environment::number_of()
    Pair<HostBuffer> host_source;
    Ring<HostBuffer> host_ring;
    Pair<DeviceBuffer> source;
    Ring<DeviceBuffer> ring;
    DeviceBuffer found;     // results of the check kernels: one SoakErrors for each slot and each source
    HostBuffer found_here;  // a copy of `found` on the host
    PayloadPart part;
    Stream in;   // stream for copies to this GPU's memory and for checks there
    Stream out;  // stream for copies from this GPU's memory
    Event begin;
    Event end;
    Event side;  // recorded after the copies to the host if copies run in both directions at once
  };

  [[nodiscard]] kernels::SoakWords words(const Gpu& of, bool inverted) const;
  [[nodiscard]] const Gpu& origin_of(SoakLoad load, std::size_t gpu) const;
  [[nodiscard]] Gpu& next_of(std::size_t gpu) { return *gpus_[(gpu + 1) % gpus_.size()]; }

  struct TurnOptions {
    bool timed = false;
    bool verified = false;  // whether data is moved and checked
  };
  void batch(SoakLoad load, std::vector<GpuTurn>& turns, const TurnOptions& how,
             const std::function<void()>& look = {});
  void flip_patterns(Slots device, Slots host);
  void submit(SoakLoad load, std::size_t gpu, Slots device, Slots host);
  void to_device(SoakLoad load, Gpu& gpu, Slots slots);
  void to_host(Gpu& gpu, Slots slots);
  void to_next(Gpu& gpu, Gpu& next, Slots slots);
  void check_slots(Gpu& gpu, const Gpu& origin, Slots slots);
  void collect_errors(Gpu& gpu, const Gpu& origin, GpuTurn& turn, Slots slots);
  void check_on_host(std::vector<GpuTurn>& turns, Slots slots, bool verified);

  Machine& machine_;
  std::size_t bytes_;
  std::uint32_t seed_;
  bool always_moves_;
  kernels::SoakPattern pattern_{};
  std::uint32_t round_seed_ = 0;
  std::size_t half_ = 0;  // half of the slots that the next copies to the host use: 0 (first) or 1 (second)
  std::vector<std::unique_ptr<Gpu>> gpus_;
  std::vector<std::vector<SoakWrong>> found_on_host_;  // buffers with wrong data, by GPU; written by the worker thread
  bool checking_ = false;                              // true while the worker thread is running
  std::uint64_t being_checked_ = 0;                    // bytes per GPU that the worker thread checks
  std::optional<Worker> worker_;  // last member, so that its thread ends before the other members are destroyed
};

}  // namespace xferbench::soak
