#include "fleet/fiber_ranks.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <system_error>

namespace xferbench::test {

namespace {

constexpr std::size_t kStack = 128 * 1024;

/// Stack memory, reserved for all ranks; only touched pages are allocated.
class Stacks {
 public:
  explicit Stacks(std::size_t count)
      : bytes_(count * kStack),
        memory_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "memory for stacks");
  }
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;
  ~Stacks() { munmap(memory_, bytes_); }
  [[nodiscard]] void* at(std::size_t i) const { return static_cast<std::byte*>(memory_) + i * kStack; }

 private:
  std::size_t bytes_;
  void* memory_;
};

}  // namespace

FiberRanks::FiberRanks(int ranks, int ranks_per_node)
    : fibers_(static_cast<std::size_t>(ranks)), board_(ranks, ranks_per_node, *this) {}

/// makecontext() passes only ints, so the pointer comes in two halves.
void FiberRanks::enter(unsigned high, unsigned low) {
  const auto address = (static_cast<std::uintptr_t>(high) << 32U) | low;
  auto& self = *reinterpret_cast<FiberRanks*>(address);  // NOLINT
  self.be_rank(self.running_);
}

void FiberRanks::be_rank(int rank) noexcept {
  try {
    const std::unique_ptr<Communicator> ranks = board_.communicator(rank);
    (*body_)(*ranks);
  } catch (...) {
    if (!error_) error_ = std::current_exception();
  }
  fibers_[static_cast<std::size_t>(rank)].state = State::ended;
}

void FiberRanks::run(const std::function<void(Communicator&)>& body) {
  const Stacks stacks(fibers_.size());
  body_ = &body;
  const auto address = reinterpret_cast<std::uintptr_t>(this);  // NOLINT
  for (std::size_t i = 0; i < fibers_.size(); ++i) {
    ucontext_t& context = fibers_[i].context;
    getcontext(&context);
    context.uc_stack.ss_sp = stacks.at(i);
    context.uc_stack.ss_size = kStack;
    context.uc_link = &main_;
    makecontext(&context, reinterpret_cast<void (*)()>(&FiberRanks::enter), 2,  // NOLINT
                static_cast<unsigned>(address >> 32U), static_cast<unsigned>(address));
    make_ready(static_cast<int>(i));
  }
  for (std::size_t ended = 0; ended < fibers_.size();) {
    if (ready_.empty()) {
      for (std::size_t i = 0; i < fibers_.size(); ++i) wake(static_cast<int>(i));
    }
    const int next = ready_.front();
    ready_.pop_front();
    resume(next);
    if (fibers_[static_cast<std::size_t>(next)].state == State::ended) ++ended;
  }
  if (error_) std::rethrow_exception(error_);
}

void FiberRanks::resume(int rank) {
  Fiber& fiber = fibers_[static_cast<std::size_t>(rank)];
  fiber.state = State::running;
  running_ = rank;
  swapcontext(&main_, &fiber.context);
}

void FiberRanks::make_ready(int rank) {
  fibers_[static_cast<std::size_t>(rank)].state = State::ready;
  ready_.push_back(rank);
}

void FiberRanks::pause(int rank) {
  Fiber& fiber = fibers_[static_cast<std::size_t>(rank)];
  fiber.state = State::paused;
  swapcontext(&fiber.context, &main_);
}

void FiberRanks::wake(int rank) {
  if (fibers_[static_cast<std::size_t>(rank)].state == State::paused) make_ready(rank);
}

}  // namespace xferbench::test
