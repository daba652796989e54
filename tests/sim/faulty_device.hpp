// Faulty machines for tests of any scenario: observers for intercept(), and helpers.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/health.hpp"
#include "device/device.hpp"
#include "device/injection.hpp"
#include "device/intercepted.hpp"
#include "device/sim/sim_machine.hpp"

namespace xferbench::test {

class NoObserver final : public CallObserver {
 public:
  void enter(const DeviceCall&) override {}
  void leave(const DeviceCall&, bool) noexcept override {}
};

/// Inverts one bit of a byte in stream order. It is a kernel, so that it works behind gates and in graphs.
class FlipBit final : public Kernel {
 public:
  FlipBit(std::byte* byte, std::size_t bit) : byte_(byte), bit_(bit % 8) {}
  [[nodiscard]] std::string_view name() const override { return "flip a bit"; }
  [[nodiscard]] KernelCost cost() const override { return {.blocks = 1}; }
  [[nodiscard]] std::span<std::byte> output() const override { return {byte_, 1}; }
  void compute(std::span<std::byte> result) const override { result[0] = *byte_ ^ (std::byte{1} << bit_); }
  [[nodiscard]] std::unique_ptr<Kernel> clone() const override { return std::make_unique<FlipBit>(byte_, bit_); }
#if XFERBENCH_WITH_CUDA
  void preload() const override {}
  void launch(void*) const override { throw std::logic_error("only simulated devices have such a kernel"); }
#endif

 private:
  std::byte* byte_;
  std::size_t bit_;
};

/// Corrupts one byte of the output of the n-th copy or kernel, in its stream right after it. Timed passes move data
/// too, so that they can be corrupted. Hazard: of payloads above 4 MiB the simulated device moves and checks only a
/// part, so a corruption elsewhere goes unnoticed.
class CorruptingObserver final : public CallObserver {
 public:
  enum class What { copies, kernels, both };
  enum class Passes { all, timed };

  struct Which {
    What what = What::copies;     ///< each copy of a batch counts; those of a graph count at capture
    Passes passes = Passes::all;  ///< timed: only in timed passes
    std::size_t nth = 1;          ///< counted from 1; 0: corrupt nothing
    std::size_t offset = 0;       ///< of the corrupted byte, modulo the length of the output
    bool and_all_after = false;   ///< corrupt all later operations too
  };
  explicit CorruptingObserver(const Which& which) : which_(which) {}

  void enter(const DeviceCall&) override {}
  void leave(const DeviceCall& call, bool) noexcept override {
    if (which_.passes == Passes::timed && !timed_) return;
    if (which_.what != What::kernels) {
      for (const Copy& copy : call.copies) count(call, {copy.destination, copy.bytes});
    }
    const bool launches = call.kernel != nullptr && call.kind == CallKind::launch && !call.kernel->output().empty();
    if (launches && which_.what != What::copies) count(call, call.kernel->output());
  }
  void adjust(Capabilities& can) const override { can.moves_data_when_timed = true; }
  using CallObserver::adjust;
  bool moves_data(bool asked) override {
    timed_ = !asked;
    return true;
  }

  /// Number of operations counted so far. A run with nth = 0 tells how many there are.
  [[nodiscard]] std::size_t seen() const { return seen_; }
  /// Number of corrupted bytes.
  [[nodiscard]] std::size_t spoiled() const { return spoiled_; }

 private:
  void count(const DeviceCall& call, std::span<std::byte> written) {
    const std::size_t number = ++seen_;
    if (which_.nth == 0 || written.empty() || number < which_.nth) return;
    if (number > which_.nth && !which_.and_all_after) return;
    ++spoiled_;
    // Each corruption flips the next bit: corrupting the same byte twice must not restore it.
    const FlipBit flip(&written[which_.offset % written.size()], number);
    if (call.stream != nullptr) return call.stream->launch(flip);
    const Stream legacy = call.device->make_stream(StreamKind::legacy_default);
    legacy.launch(flip);
    legacy.synchronize();
  }

  Which which_;
  std::atomic<std::size_t> seen_{0};
  std::atomic<std::size_t> spoiled_{0};
  std::atomic<bool> timed_{false};
};

/// Reports the given health states, one per query, and then the last one for ever.
class FailingKernel final : public CallObserver {
 public:
  explicit FailingKernel(std::vector<Health> states) : states_(std::move(states)) {}
  void enter(const DeviceCall&) override {}
  void leave(const DeviceCall&, bool) noexcept override {}
  using CallObserver::adjust;
  void adjust(Health& health) override { health = states_.at(std::min(looks_++, states_.size() - 1)); }

 private:
  std::vector<Health> states_;
  std::size_t looks_ = 0;
};

/// Imitates the link's byte counters: each query finds `each` more bytes.
class Counted final : public CallObserver {
 public:
  explicit Counted(LinkBytes each) : each_(each) {}
  void enter(const DeviceCall&) override {}
  void leave(const DeviceCall&, bool) noexcept override {}
  using CallObserver::adjust;
  void adjust(std::optional<LinkBytes>& bytes) override {
    bytes = LinkBytes{.sent = each_.sent * looks_, .received = each_.received * looks_};
    ++looks_;
  }

 private:
  LinkBytes each_;
  double looks_ = 0;
};

/// Imitates the link's byte counters: each copied byte counts `times` times; the counters wrap at 2^32.
class CopyCounter final : public CallObserver {
 public:
  explicit CopyCounter(double times) : times_(times) {}
  void enter(const DeviceCall&) override {}
  void leave(const DeviceCall& call, bool) noexcept override {
    for (const Copy& copy : call.copies) {
      double& way = copy.direction == Direction::h2d ? carried_.received : carried_.sent;
      way = std::fmod(way + times_ * static_cast<double>(copy.bytes), 0x1p32);
    }
  }
  using CallObserver::adjust;
  void adjust(std::optional<LinkBytes>& bytes) override { bytes = carried_; }

 private:
  double times_;
  LinkBytes carried_;
};

/// A device whose context is lost when *lost is set.
class FragileDevice : public sim::SimDevice {
 public:
  FragileDevice(sim::SimMachine& machine, const bool* lost) : SimDevice(machine), lost_(lost) {}
  [[nodiscard]] bool usable() noexcept override { return !*lost_; }

 private:
  const bool* lost_;
};

/// A simulated machine with an observer between it and the test.
template <class Observer>
class InterceptedSim {
 public:
  template <class... Arguments>
  explicit InterceptedSim(std::unique_ptr<Machine> machine, Arguments&&... arguments)
      : observer_(std::forward<Arguments>(arguments)...), machine_(intercept(std::move(machine), observer_)) {}

  [[nodiscard]] Observer& observer() { return observer_; }
  [[nodiscard]] Machine& machine() { return *machine_; }
  [[nodiscard]] Device& device() { return machine_->device(); }

 private:
  Observer observer_;
  std::unique_ptr<Machine> machine_;
};

}  // namespace xferbench::test
