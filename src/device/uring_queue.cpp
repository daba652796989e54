// Only this file includes liburing's header.
#include "device/uring_queue.hpp"

#include <fmt/format.h>
#include <liburing.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/units.hpp"
#include "device/file_failure.hpp"

namespace xferbench {

namespace {

/// Says which limit keeps the system from locking memory for io_uring.
std::string memory_limit_text(std::size_t bytes) {
  rlimit limit{};
  static_cast<void>(::getrlimit(RLIMIT_MEMLOCK, &limit));
  return fmt::format(
      "{} are needed, and this user may lock {} (ulimit -l): raise the limit, or choose a smaller --depth or --request",
      format_memory(bytes), limit.rlim_cur == RLIM_INFINITY ? "all memory" : format_memory(limit.rlim_cur));
}

/// `error`: error number of a call that creates the queue.
[[noreturn]] void fail_to_make_queue(std::string_view name, int error, std::size_t bytes) {
  const auto advice = [&]() -> std::string {
    switch (error) {
      case ENOSYS: return "this kernel has no io_uring, or a container's filter of system calls hides it";
      case EPERM:
        return "sysctl kernel.io_uring_disabled or a container's filter of system calls (seccomp) forbids io_uring";
      case ENOMEM: return memory_limit_text(bytes);
      case EFAULT:
      case EOPNOTSUPP: return "this kernel cannot register such memory; choose another --slot-memory";
      default: return "";
    }
  };
  fail_at("queue reads by io_uring of", name, error, advice());
}

class Ring : NonCopyable {
 public:
  /// Throws FileError. `memory`: bytes that are to be registered.
  Ring(SystemCalls& calls, unsigned entries, std::string_view name, std::size_t memory) {
    const int error = -calls.ring("io_uring_setup", [&] { return io_uring_queue_init(entries, &ring_, 0); });
    if (error != 0) fail_to_make_queue(name, error, memory);
  }
  ~Ring() {
    // The kernel releases the memory of a closed ring only some time later. Until then it counts as locked by this
    // user, and the next ring might get none. So the buffers are unregistered first.
    io_uring_unregister_buffers(&ring_);
    io_uring_queue_exit(&ring_);
  }
  [[nodiscard]] io_uring* get() { return &ring_; }

 private:
  io_uring ring_{};
};

class UringQueue final : public ReadQueue {
 public:
  UringQueue(SystemCalls& calls, const QueuedFile& file, std::span<std::byte> memory, std::size_t slots,
             QueueCopies copies)
      : calls_(calls),
        file_(file),
        memory_(memory),
        reads_(slots),
        // The system copies cached data while the caller submits, unless IOSQE_ASYNC leaves the copies to workers.
        flags_(IOSQE_FIXED_FILE | (!file.direct && copies == QueueCopies::by_workers ? IOSQE_ASYNC : 0)),
        ring_(calls, static_cast<unsigned>(slots), file.file.name(), memory.size()) {
    register_all();
  }
  ~UringQueue() override { end_reads(); }

  void start(std::size_t slot, std::size_t bytes, std::uint64_t offset) override;
  [[nodiscard]] std::size_t finish() override;
  /// io_uring's workers are threads of this process, so the process's clock includes their time.
  [[nodiscard]] double cpu_now() const override { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

 private:
  struct Read {
    std::size_t bytes = 0;
    std::uint64_t offset = 0;
  };

  [[nodiscard]] std::span<std::byte> slot_of(std::size_t number) const {
    const std::size_t bytes = memory_.size() / reads_.size();
    return memory_.subspan(number * bytes, bytes);
  }
  void register_all();
  [[nodiscard]] std::size_t bytes_to_ask_for(std::span<std::byte> slot, const Read& read) const;
  [[nodiscard]] io_uring_cqe* await_one();
  void end_reads();

  SystemCalls& calls_;
  QueuedFile file_;
  std::span<std::byte> memory_;
  std::vector<Read> reads_;         // per slot: the read in flight
  std::vector<std::size_t> ended_;  // slots whose read start() has completed
  std::size_t in_flight_ = 0;       // reads in the ring
  unsigned flags_;
  Ring ring_;
};

void UringQueue::register_all() {
  std::vector<iovec> parts;
  for (std::size_t i = 0; i < reads_.size(); ++i) parts.push_back({slot_of(i).data(), slot_of(i).size()});
  int result = calls_.ring("io_uring_register buffers", [&] {
    return io_uring_register_buffers(ring_.get(), parts.data(), static_cast<unsigned>(parts.size()));
  });
  if (result == 0) {
    result = calls_.ring("io_uring_register files",
                         [this] { return io_uring_register_files(ring_.get(), &file_.number, 1); });
  }
  if (result < 0) fail_to_make_queue(file_.file.name(), -result, memory_.size());
}

/// Returns the bytes to request; 0 if the ring cannot read them by one request without a copy. Requests the last block
/// of a file as a whole if the slot has room for it.
std::size_t UringQueue::bytes_to_ask_for(std::span<std::byte> slot, const Read& read) const {
  if (!file_.direct) return read.bytes;
  const DirectAlignment needed = *file_.direct;
  const std::size_t whole = (read.bytes + needed.offset - 1) / needed.offset * needed.offset;
  const bool aligned =
      read.offset % needed.offset == 0 && reinterpret_cast<std::uintptr_t>(slot.data()) % needed.memory == 0;
  return aligned && whole <= slot.size() ? whole : 0;
}

void UringQueue::start(std::size_t slot, std::size_t bytes, std::uint64_t offset) {
  require_inside("read", bytes, offset, file_.file.name(), file_.file.size());
  const std::span<std::byte> to = slot_of(slot);
  reads_[slot] = {bytes, offset};
  const std::size_t asked = bytes_to_ask_for(to, reads_[slot]);
  if (asked == 0) {
    file_.file.read_at(to.first(bytes), offset);
    ended_.push_back(slot);
    return;
  }
  io_uring_sqe* const entry = io_uring_get_sqe(ring_.get());  // not null: the ring has an entry for each slot
  io_uring_prep_read_fixed(entry, 0, to.data(), static_cast<unsigned>(asked), offset, static_cast<int>(slot));
  io_uring_sqe_set_flags(entry, flags_);
  io_uring_sqe_set_data64(entry, slot);
  ++in_flight_;
}

/// Submits what start() has prepared, and waits for a completion.
io_uring_cqe* UringQueue::await_one() {
  io_uring_cqe* entry = nullptr;
  while (io_uring_sq_ready(ring_.get()) > 0 || io_uring_peek_cqe(ring_.get(), &entry) != 0) {
    const int result = calls_.ring("io_uring_enter", [this] { return io_uring_submit_and_wait(ring_.get(), 1); });
    // EAGAIN: the system was short of memory for a request and must be asked again.
    if (result < 0 && result != -EAGAIN) fail_at("wait for reads by io_uring of", file_.file.name(), -result);
  }
  return entry;
}

std::size_t UringQueue::finish() {
  if (!ended_.empty()) {
    const std::size_t slot = ended_.back();
    ended_.pop_back();
    return slot;
  }
  io_uring_cqe* const entry = await_one();
  const std::size_t slot = io_uring_cqe_get_data64(entry);
  const int result = calls_.completed(entry->res);
  io_uring_cqe_seen(ring_.get(), entry);
  --in_flight_;
  const auto& [bytes, offset] = reads_[slot];
  const bool goes_on = result >= 0 || result == -EINTR || result == -EAGAIN;
  if (!goes_on) fail_reading(file_.file.name(), bytes, offset, -result, file_.direct);
  // Short and interrupted reads are rare, so the rest is read synchronously. If the file has ended, read_at() throws.
  const std::size_t got = std::min(bytes, static_cast<std::size_t>(std::max(result, 0)));
  if (got < bytes) file_.file.read_at(slot_of(slot).subspan(got, bytes - got), offset + got);
  return slot;
}

/// Closing a ring does not wait for its reads, which could then write to memory that has a new owner.
void UringQueue::end_reads() {
  for (std::size_t left = in_flight_ - io_uring_sq_ready(ring_.get()); left > 0;) {
    io_uring_cqe* entry = nullptr;
    const int result = io_uring_wait_cqe(ring_.get(), &entry);
    if (result == 0) {
      io_uring_cqe_seen(ring_.get(), entry);
      --left;
    } else if (result != -EINTR && result != -EAGAIN) {
      return;  // the ring is broken: its reads cannot be awaited
    }
  }
}

}  // namespace

std::unique_ptr<ReadQueue> make_uring_queue(SystemCalls& calls, const QueuedFile& file, std::span<std::byte> memory,
                                            std::size_t slots, QueueCopies copies) {
  return std::make_unique<UringQueue>(calls, file, memory, slots, copies);
}

}  // namespace xferbench
