// The processes of a fleet and how they talk. Nobody waits inside: operations begin at the call, and whoever waits asks
// for their end (ranks/waiting.hpp), because a rank that has died never answers, and a wait inside MPI never returns.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace xferbench {

/// MPI says that something failed.
struct CommunicationError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An operation that has begun. The memory that it reads or writes must live until it is done. Destroying one that is
/// not done gives it up; then its memory must stay for good, so this is for a process that is about to end.
class Pending {
 public:
  Pending() = default;
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  virtual ~Pending() = default;
  /// Whether it has ended; may be asked again after that. Throws CommunicationError if it failed.
  [[nodiscard]] virtual bool done() = 0;
};
using PendingPtr = std::unique_ptr<Pending>;

enum class Reduction { max, sum };

/// Which rank a process is.
struct RankNumbers {
  int rank = 0;
  int size = 1;
  int local_rank = 0;  ///< among the ranks that can share memory with it: those of its node
  int local_size = 1;
  int node_root = 0;  ///< the lowest rank of its node, which tells nodes apart
};

/// Every rank calls the collective ones (barrier, broadcast, gather, all_reduce) in the same order. All throw
/// CommunicationError. From one thread at a time.
class Communicator {
 public:
  explicit Communicator(const RankNumbers& numbers) : numbers_(numbers) {}
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  virtual ~Communicator() = default;

  [[nodiscard]] const RankNumbers& numbers() const { return numbers_; }
  [[nodiscard]] int rank() const { return numbers_.rank; }
  [[nodiscard]] int size() const { return numbers_.size; }
  [[nodiscard]] int local_rank() const { return numbers_.local_rank; }
  [[nodiscard]] int local_size() const { return numbers_.local_size; }
  [[nodiscard]] int node_root() const { return numbers_.node_root; }
  /// Which MPI it is: "Open MPI 4.1.4".
  [[nodiscard]] virtual std::string library() const = 0;

  [[nodiscard]] virtual PendingPtr barrier() = 0;
  [[nodiscard]] virtual PendingPtr broadcast(std::span<std::byte> data, int root) = 0;
  /// To rank 0, where `all` gets `sizes[i]` bytes of each rank i, one behind the other; elsewhere both are empty.
  [[nodiscard]] virtual PendingPtr gather(std::span<const std::byte> mine, std::span<std::byte> all,
                                          std::span<const std::size_t> sizes) = 0;
  /// In place, of all ranks, to all of them.
  [[nodiscard]] virtual PendingPtr all_reduce(std::span<double> values, Reduction reduction) = 0;
  /// At most INT_MAX bytes; tags of 0 to 32767, those from kOwnTags on are for what is in ranks/.
  [[nodiscard]] virtual PendingPtr send(int to, int tag, std::span<const std::byte> data) = 0;
  [[nodiscard]] virtual PendingPtr receive(int from, int tag, std::span<std::byte> data) = 0;

  /// Memory of an operation that nobody waits for any more, and that MPI may still read and write: it stays as long as
  /// this does, and where MPI cannot be ended, for good.
  virtual void keep(std::shared_ptr<void> memory) { kept_.push_back(std::move(memory)); }

  /// Ends all ranks; for when nothing else is possible.
  [[noreturn]] virtual void abort(int code) noexcept = 0;

  static constexpr int kOwnTags = 32000;

 protected:
  /// From now on it stays for good.
  void leave_kept() { static_cast<void>(new std::vector(std::move(kept_))); }

 private:
  RankNumbers numbers_;
  std::vector<std::shared_ptr<void>> kept_;
};

}  // namespace xferbench
