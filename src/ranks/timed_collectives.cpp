#include "ranks/timed_collectives.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>

#include "core/interrupt.hpp"

namespace xferbench {

namespace {

using WaitingClock = std::chrono::steady_clock;
using WaitingSeconds = std::chrono::duration<double>;
using std::chrono::microseconds;

constexpr WaitingSeconds kWithoutPause = microseconds(20);
constexpr microseconds kShortestPause(10);
constexpr microseconds kLongestPause(200);

/// One wait for other ranks: measures its duration, pauses between polls, and detects timeouts.
class Waiting {
 public:
  explicit Waiting(const Timeout& timeout) : timeout_(timeout) {}

  /// Whether waiting must end: Timeout::seconds have passed, or Timeout::after_interrupt seconds since an interrupt.
  bool too_long() {
    const WaitingClock::time_point now = WaitingClock::now();
    waited_ = now - begin_;
    if (!interrupt_seen_ && interrupted() != 0) {
      interrupt_seen_ = true;
      interrupted_at_ = now;
    }
    after_interrupt_ = interrupt_seen_ && WaitingSeconds(now - interrupted_at_).count() >= timeout_.after_interrupt;
    return after_interrupt_ || waited_.count() >= timeout_.seconds;
  }

  void pause() {
    if (timeout_.idle) timeout_.idle();
    if (waited_ < kWithoutPause) {
      sched_yield();
      return;
    }
    std::this_thread::sleep_for(pause_);
    pause_ = std::min(2 * pause_, kLongestPause);
  }

  [[nodiscard]] std::string in_words(const std::string& what) const {
    return fmt::format("{}: other ranks did not answer within {:.3g} s{}", what, waited_.count(),
                       after_interrupt_ ? " after this rank was interrupted" : "");
  }

 private:
  const Timeout& timeout_;
  WaitingClock::time_point begin_ = WaitingClock::now();
  WaitingSeconds waited_{0};
  bool interrupt_seen_ = false;
  bool after_interrupt_ = false;
  WaitingClock::time_point interrupted_at_{};
  microseconds pause_ = kShortestPause;
};

/// Owner of the memory that an MPI operation accesses. If the wait for the operation fails, the communicator keeps the
/// memory allocated.
template <typename Memory>
class OperationMemory {
 public:
  OperationMemory(Communicator& ranks, Memory memory)
      : ranks_(ranks), memory_(std::make_shared<Memory>(std::move(memory))) {}

  Memory& operator*() { return *memory_; }

  void wait(const PendingPtr& operation, const Timeout& timeout, const std::string& what) {
    try {
      wait_for(*operation, timeout, what);
    } catch (...) {
      ranks_.keep(memory_);
      throw;
    }
  }

 private:
  Communicator& ranks_;
  std::shared_ptr<Memory> memory_;
};

template <typename Range>
std::span<std::byte> bytes_of(Range& values) {
  return std::as_writable_bytes(std::span(values));
}

/// How gather() divides texts among several MPI operations (parts): the number of parts, and the largest number of
/// bytes that each rank sends in one part.
struct TextParts {
  std::uint64_t count = 0;
  std::uint64_t of_each = 0;
};

TextParts parts_of(std::span<const std::uint64_t> sizes, std::size_t at_once) {
  std::uint64_t sum = 0;
  std::uint64_t longest = 0;
  for (const std::uint64_t size : sizes) {
    sum += size;
    longest = std::max(longest, size);
  }
  if (longest == 0) return {};
  const std::uint64_t of_each = sum <= at_once ? longest : std::min<std::uint64_t>(longest, at_once / sizes.size());
  return {.count = (longest + of_each - 1) / of_each, .of_each = of_each};
}

/// Returns this rank's bytes in part number `part`. `of_each` is the largest number of bytes of a rank in one part.
std::span<const std::byte> part_of(std::span<const std::byte> all, std::uint64_t part, std::uint64_t of_each) {
  const std::size_t begin = std::min<std::size_t>(all.size(), part * of_each);
  return all.subspan(begin, std::min<std::size_t>(all.size() - begin, of_each));
}

/// Gathers sizes[r] bytes of each rank r by one MPI operation, and returns them in rank order at rank 0. `sizes` is
/// empty on other ranks. `mine` is copied, because MPI may read it even after a timeout.
std::string gather_part(Communicator& ranks, std::span<const std::byte> mine, const std::vector<std::size_t>& sizes,
                        const Timeout& timeout, const std::string& what) {
  struct Both {
    std::string mine;
    std::string all;
    std::vector<std::size_t> sizes;
  };
  std::size_t sum = 0;
  for (const std::size_t size : sizes) sum += size;
  OperationMemory<Both> memory(ranks,
                               {.mine = std::string(mine.size(), '\0'), .all = std::string(sum, '\0'), .sizes = sizes});
  std::ranges::copy(mine, bytes_of((*memory).mine).begin());
  memory.wait(ranks.gather(bytes_of((*memory).mine), bytes_of((*memory).all), (*memory).sizes), timeout, what);
  return std::move((*memory).all);
}

/// Returns, at rank 0, the size of each rank's text in bytes; an empty list on other ranks.
std::vector<std::uint64_t> gather_sizes(Communicator& ranks, std::uint64_t mine, const Timeout& timeout,
                                        const std::string& what) {
  const std::size_t here = ranks.rank() == 0 ? static_cast<std::size_t>(ranks.size()) : 0;
  const std::string bytes = gather_part(ranks, std::as_bytes(std::span(&mine, 1)),
                                        std::vector<std::size_t>(here, sizeof mine), timeout, what);
  std::vector<std::uint64_t> sizes(here);
  std::ranges::copy(std::as_bytes(std::span(bytes)), bytes_of(sizes).begin());
  return sizes;
}

/// Splits `part`, which holds sizes[r] bytes of each rank r in rank order, and appends each rank's bytes to texts[r].
void take_apart(std::string_view part, const std::vector<std::size_t>& sizes, std::vector<std::string>& texts) {
  for (std::size_t rank = 0; rank < sizes.size(); ++rank) {
    texts[rank] += part.substr(0, sizes[rank]);
    part.remove_prefix(sizes[rank]);
  }
}

}  // namespace

void wait_for(Pending& operation, const Timeout& timeout, const std::string& what) {
  Waiting waiting(timeout);
  while (!operation.done()) {
    // Check again: the operation may have ended while this process was not scheduled.
    if (waiting.too_long() && !operation.done()) throw RankTimeoutError(waiting.in_words(what));
    waiting.pause();
  }
}

void barrier(Communicator& ranks, const Timeout& timeout, const std::string& what) {
  wait_for(*ranks.barrier(), timeout, what);
}

std::string broadcast(Communicator& ranks, std::string text, int root, const Timeout& timeout,
                      const std::string& what) {
  OperationMemory<std::array<std::uint64_t, 1>> size(ranks, {text.size()});
  size.wait(ranks.broadcast(bytes_of(*size), root), timeout, what);
  text.resize((*size)[0]);
  OperationMemory<std::string> all(ranks, std::move(text));
  for (std::span<std::byte> left = bytes_of(*all); !left.empty();) {
    const std::size_t part = std::min(left.size(), kMostAtOnce);
    all.wait(ranks.broadcast(left.first(part), root), timeout, what);
    left = left.subspan(part);
  }
  return std::move(*all);
}

std::vector<std::string> gather(Communicator& ranks, const std::string& mine, const Timeout& timeout,
                                const std::string& what, std::size_t at_once) {
  const std::vector<std::uint64_t> sizes = gather_sizes(ranks, mine.size(), timeout, what);
  const TextParts found = parts_of(sizes, at_once);
  OperationMemory<std::array<std::uint64_t, 2>> parts(ranks, {found.count, found.of_each});
  parts.wait(ranks.broadcast(bytes_of(*parts), 0), timeout, what);
  const auto [count, of_each] = *parts;

  std::vector<std::string> texts(sizes.size());
  for (std::uint64_t part = 0; part < count; ++part) {
    std::vector<std::size_t> here;
    for (const std::uint64_t size : sizes) {
      const std::uint64_t before = std::min(size, part * of_each);
      here.push_back(std::min(size - before, of_each));
    }
    const std::span<const std::byte> own = part_of(std::as_bytes(std::span(mine)), part, of_each);
    take_apart(gather_part(ranks, own, here, timeout, what), here, texts);
  }
  return texts;
}

void all_reduce(Communicator& ranks, std::span<double> values, Reduction reduction, const Timeout& timeout,
                const std::string& what) {
  OperationMemory<std::vector<double>> memory(ranks, std::vector<double>(values.begin(), values.end()));
  memory.wait(ranks.all_reduce(*memory, reduction), timeout, what);
  std::ranges::copy(*memory, values.begin());
}

}  // namespace xferbench
