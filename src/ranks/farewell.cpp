#include "ranks/farewell.hpp"

#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>

namespace xferbench {

namespace {

using FarewellClock = std::chrono::steady_clock;

constexpr int kSizeTag = Communicator::kOwnTags + 700;
constexpr int kTextTag = Communicator::kOwnTags + 701;

/// What one rank says, in two messages: how long it is, and what it is.
class LastText {
 public:
  /// Begins to receive it.
  LastText(Communicator& ranks, int from) : ranks_(ranks), from_(from) {
    pending_ = ranks.receive(from, kSizeTag, std::as_writable_bytes(std::span(&size_, 1)));
  }

  [[nodiscard]] bool has_come() {
    while (pending_ && pending_->done()) {
      pending_.reset();
      if (text_.empty() && size_ > 0) {
        text_.resize(size_);
        pending_ = ranks_.receive(from_, kTextTag, std::as_writable_bytes(std::span(text_)));
      }
    }
    return !pending_;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  Communicator& ranks_;
  int from_;
  std::uint64_t size_ = 0;
  std::string text_;
  PendingPtr pending_;
};

/// Until `done` says so, or the time is over.
template <class Done>
void poll_until(FarewellClock::time_point end, const Done& done) {
  while (!done() && FarewellClock::now() < end) std::this_thread::sleep_for(std::chrono::microseconds(200));
}

Farewell listen(Communicator& ranks, FarewellClock::time_point end) {
  // What MPI may still write to must stay, so it is left to the end of the process.
  auto* others = new std::vector<std::unique_ptr<LastText>>();
  for (int rank = 1; rank < ranks.size(); ++rank) others->push_back(std::make_unique<LastText>(ranks, rank));
  std::vector<bool> come(others->size());
  poll_until(end, [&] {
    bool all = true;
    for (std::size_t i = 0; i < others->size(); ++i) {
      if (!come[i]) come[i] = (*others)[i]->has_come();
      all = all && come[i];
    }
    return all;
  });
  Farewell heard;
  heard.texts.resize(others->size() + 1);
  for (std::size_t i = 0; i < others->size(); ++i) {
    if (come[i]) {
      heard.texts[i + 1] = (*others)[i]->text();
    } else {
      heard.silent.push_back(static_cast<int>(i) + 1);
    }
  }
  return heard;
}

void speak(Communicator& ranks, const std::string& mine, FarewellClock::time_point end) {
  auto* text = new std::string(mine);
  auto* size = new std::uint64_t(mine.size());
  std::vector<PendingPtr> sending;
  sending.push_back(ranks.send(0, kSizeTag, std::as_bytes(std::span(size, 1))));
  if (!text->empty()) sending.push_back(ranks.send(0, kTextTag, std::as_bytes(std::span(*text))));
  poll_until(end, [&] {
    bool all = true;
    for (const PendingPtr& one : sending) all = one->done() && all;
    return all;
  });
}

}  // namespace

Farewell say_farewell(Communicator& ranks, const std::string& mine, double seconds) noexcept {
  const auto end = FarewellClock::now() +
                   std::chrono::duration_cast<FarewellClock::duration>(std::chrono::duration<double>(seconds));
  try {
    if (ranks.rank() == 0) {
      Farewell heard = listen(ranks, end);
      heard.texts[0] = mine;
      return heard;
    }
    speak(ranks, mine, end);
  } catch (const std::exception&) {  // MPI itself is broken: then nobody can be heard
  }
  return {};
}

}  // namespace xferbench
