// Messages between the ranks (processes) of a run under MPI. No function blocks: each call begins an operation, and the
// caller polls for its end (ranks/timed_collectives.hpp). A blocking MPI call would wait for ever for a rank that has
// died.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/non_copyable.hpp"

namespace xferbench {

struct CommunicationError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An MPI operation in progress. The memory that the operation reads or writes must live until done() returns true.
/// Destroying this object earlier abandons the operation. MPI may still access the memory then, so the memory must
/// never be freed. Abandon an operation only in a process that is about to end.
class Pending : NonCopyable {
 public:
  virtual ~Pending() = default;
  /// Returns whether the operation has ended; may be called again afterwards. Throws CommunicationError on failure.
  [[nodiscard]] virtual bool done() = 0;
};
using PendingPtr = std::unique_ptr<Pending>;

enum class Reduction { max, sum };

struct RankNumbers {
  int rank = 0;
  int size = 1;
  int local_rank = 0;  ///< index among the ranks of the same node, which can share memory
  int local_size = 1;
  int node_root = 0;  ///< lowest rank of the same node; identifies the node
};

/// Interface for messages between ranks. All ranks must call the collective functions (barrier, broadcast, gather,
/// all_reduce) in the same order. All functions may throw CommunicationError. Only one thread at a time may call them.
class Communicator : NonCopyable {
 public:
  explicit Communicator(const RankNumbers& numbers) : numbers_(numbers) {}
  virtual ~Communicator() = default;

  [[nodiscard]] const RankNumbers& numbers() const { return numbers_; }
  [[nodiscard]] int rank() const { return numbers_.rank; }
  [[nodiscard]] int size() const { return numbers_.size; }
  [[nodiscard]] int local_rank() const { return numbers_.local_rank; }
  [[nodiscard]] int local_size() const { return numbers_.local_size; }
  [[nodiscard]] int node_root() const { return numbers_.node_root; }
  /// Returns name and version of the MPI library, for example "Open MPI 4.1.4".
  [[nodiscard]] virtual std::string library() const = 0;

  [[nodiscard]] virtual PendingPtr barrier() = 0;
  [[nodiscard]] virtual PendingPtr broadcast(std::span<std::byte> data, int root) = 0;
  /// Sends `mine` to rank 0, where `all` receives `sizes[i]` bytes from each rank i, in rank order. On other
  /// ranks, `all` and `sizes` are empty.
  [[nodiscard]] virtual PendingPtr gather(std::span<const std::byte> mine, std::span<std::byte> all,
                                          std::span<const std::size_t> sizes) = 0;
  /// Combines the values of all ranks in place; all ranks get the result.
  [[nodiscard]] virtual PendingPtr all_reduce(std::span<double> values, Reduction reduction) = 0;
  /// `data` has at most INT_MAX bytes. Tags are 0 to 32767; tags from kOwnTags on are reserved for the code in
  /// src/ranks.
  [[nodiscard]] virtual PendingPtr send(int to, int tag, std::span<const std::byte> data) = 0;
  [[nodiscard]] virtual PendingPtr receive(int from, int tag, std::span<std::byte> data) = 0;

  /// Keeps the memory of an abandoned operation allocated until this object is destroyed, because MPI may still access
  /// the memory. If MPI cannot be finalized, the memory is never freed.
  virtual void keep(std::shared_ptr<void> memory) { kept_.push_back(std::move(memory)); }

  /// Ends all ranks at once with this exit code (MPI_Abort); a last resort.
  [[noreturn]] virtual void abort(int code) noexcept = 0;

  static constexpr int kOwnTags = 32000;

 protected:
  /// Leaks the memory that was passed to keep(), because MPI may still access it.
  void leave_kept() { static_cast<void>(new std::vector(std::move(kept_))); }

 private:
  RankNumbers numbers_;
  std::vector<std::shared_ptr<void>> kept_;
};

}  // namespace xferbench
