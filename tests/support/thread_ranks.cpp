#include "support/thread_ranks.hpp"

#include <chrono>
#include <exception>
#include <memory>
#include <thread>

namespace xferbench::test {

ThreadRanks::ThreadRanks(int ranks, int ranks_per_node)
    : places_(static_cast<std::size_t>(ranks)), board_(ranks, ranks_per_node > 0 ? ranks_per_node : ranks, *this) {}

void ThreadRanks::run(const std::function<void(Communicator&)>& body) {
  std::vector<std::exception_ptr> errors(places_.size());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < places_.size(); ++rank) {
    threads.emplace_back([&, rank] {
      try {
        const std::unique_ptr<Communicator> ranks = board_.communicator(static_cast<int>(rank));
        body(*ranks);
      } catch (...) {
        errors[rank] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

/// Returns after a millisecond at the latest, so that a waiting rank can time out.
void ThreadRanks::pause(int rank) {
  Place& place = places_.at(static_cast<std::size_t>(rank));
  std::unique_lock lock(place.mutex);
  place.changed.wait_until(lock, std::chrono::system_clock::now() + std::chrono::milliseconds(1),
                           [&] { return place.changes != place.seen; });
  place.seen = place.changes;
}

void ThreadRanks::wake(int rank) {
  Place& place = places_.at(static_cast<std::size_t>(rank));
  const std::lock_guard lock(place.mutex);
  ++place.changes;
  place.changed.notify_one();
}

}  // namespace xferbench::test
