#include "device/mapping_guard.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <system_error>

#include "device/pages.hpp"

namespace xferbench {

namespace {

struct GuardedRange {
  std::atomic<bool> taken{false};
  std::atomic<std::uintptr_t> begin{0};  // 0 while the other members change
  std::atomic<std::uintptr_t> end{0};
  std::atomic<bool> broken{false};
};

/// Data that the signal handler reads. The handler must not lock or allocate.
struct GuardedRanges {
  std::array<GuardedRange, 256> all{};
  std::atomic<std::uintptr_t> page{4096};
  struct sigaction previous {};
};

static_assert(std::atomic<std::uintptr_t>::is_always_lock_free, "a signal handler may not wait for a lock");

GuardedRanges& guarded_ranges() {
  static constinit GuardedRanges ranges;  // constinit: an initialization guard could block in the signal handler
  return ranges;
}

/// Replaces the pages from the address to the end of its guarded mapping by zeros. Returns false if that is impossible.
bool put_zeros_at(std::uintptr_t address) {
  GuardedRanges& ranges = guarded_ranges();
  for (GuardedRange& range : ranges.all) {
    const std::uintptr_t begin = range.begin.load(std::memory_order_acquire);
    const std::uintptr_t end = range.end.load(std::memory_order_acquire);
    if (begin == 0 || address < begin || address >= end) continue;
    if (range.begin.load(std::memory_order_acquire) != begin) continue;  // the entry was changed meanwhile
    range.broken.store(true, std::memory_order_release);
    const std::uintptr_t page = address - address % ranges.page.load(std::memory_order_relaxed);
    constexpr int kZeros = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the address comes from the signal
    return ::mmap(reinterpret_cast<void*>(page), end - page, PROT_READ, kZeros, -1, 0) != MAP_FAILED;
  }
  return false;
}

/// Passes the signal to the handler that was installed before, or does its default action.
void pass_on(int signal, siginfo_t* facts, void* context) {
  const struct sigaction& previous = guarded_ranges().previous;
  if ((previous.sa_flags & SA_SIGINFO) != 0) return previous.sa_sigaction(signal, facts, context);
  const bool sent = facts->si_code <= 0;  // by kill() or the like, not by a memory access
  if (previous.sa_handler == SIG_IGN && sent) return;
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) return previous.sa_handler(signal);
  std::signal(signal, SIG_DFL);
  static_cast<void>(std::raise(signal));  // ends the program when this handler returns
}

void on_bus_error(int signal, siginfo_t* facts, void* context) {
  const int kept = errno;
  const bool by_read = facts->si_code > 0;
  if (!by_read || !put_zeros_at(reinterpret_cast<std::uintptr_t>(facts->si_addr))) pass_on(signal, facts, context);
  errno = kept;
}

/// Installs the handler of SIGBUS. Returns the error number; 0 on success.
int install_handler() {
  GuardedRanges& ranges = guarded_ranges();
  ranges.page = page_bytes();
  struct sigaction ours {};
  ours.sa_sigaction = &on_bus_error;
  ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  // Stores the previous handler first, because the new handler may need it at once.
  if (sigaction(SIGBUS, nullptr, &ranges.previous) != 0 || sigaction(SIGBUS, &ours, nullptr) != 0) return errno;
  return 0;
}

}  // namespace

MappingGuard::MappingGuard(std::span<const std::byte> mapping) {
  static const int error = install_handler();
  if (error != 0) throw std::system_error(error, std::generic_category());
  auto& all = guarded_ranges().all;
  const auto free = std::ranges::find_if(all, [](GuardedRange& range) { return !range.taken.exchange(true); });
  if (free == all.end()) throw std::system_error(EMFILE, std::generic_category());
  slot_ = static_cast<std::size_t>(free - all.begin());
  const auto begin = reinterpret_cast<std::uintptr_t>(mapping.data());
  free->broken = false;
  free->end = begin + (mapping.size() + page_bytes() - 1) / page_bytes() * page_bytes();
  free->begin = begin;
}

MappingGuard::~MappingGuard() {
  GuardedRange& range = guarded_ranges().all[slot_];
  range.begin = 0;
  range.taken = false;
}

bool MappingGuard::broken() const { return guarded_ranges().all[slot_].broken.load(std::memory_order_acquire); }

}  // namespace xferbench
