#include "device/sim/host.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <thread>
#include <utility>

namespace xferbench::sim {

namespace {

/// Unwinds a simulated thread that nobody will ever wake.
struct Abandoned {};

}  // namespace

class Host::SimThread final : public HostThread {
 public:
  SimThread(Host& host, std::shared_ptr<Thread> state, std::function<void()> body)
      : host_(host), state_(std::move(state)), thread_([this, body = std::move(body)] {
          host_.run_body(*state_, [this, &body] {
            try {
              body();
            } catch (const Abandoned&) {
            } catch (...) {
              error_ = std::current_exception();
            }
          });
        }) {}

  ~SimThread() override {
    if (!thread_.joinable()) return;
    try {
      wait_for_end();
    } catch (const std::logic_error&) {
      state_->abandoned = true;
      host_.wait([this] { return ended(); });
    }
    thread_.join();
  }

  void join() override {
    if (thread_.joinable()) {
      wait_for_end();
      thread_.join();
    }
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  [[nodiscard]] std::optional<double> ended() const { return state_->done ? std::optional(state_->now) : std::nullopt; }
  void wait_for_end() {
    host_.wait([this] { return ended(); });
  }

  Host& host_;
  std::shared_ptr<Thread> state_;
  std::exception_ptr error_;
  std::thread thread_;
};

class Host::SimChannel final : public Channel {
 public:
  SimChannel(Host& host, double handoff) : host_(host), hand_over_(handoff) {}

  void post(std::uint64_t message) override { messages_.push_back({message, host_.now()}); }

  using Channel::take;
  std::optional<std::uint64_t> take(double) override {
    while (messages_.empty()) {
      if (closed_ && host_.now() >= *closed_) return std::nullopt;
      host_.wait([this]() -> std::optional<double> {
        if (!messages_.empty()) return messages_.front().posted;
        return closed_;
      });  // and another reader may be quicker
    }
    const Message next = messages_.front();
    messages_.pop_front();
    // A reader that comes later than the message finds it there.
    const double since = host_.now() - next.posted;
    if (since < hand_over_) host_.advance(hand_over_ - since);
    return next.message;
  }

  void close() override { closed_ = host_.now(); }

 private:
  struct Message {
    std::uint64_t message;
    double posted;
  };
  Host& host_;
  double hand_over_;
  std::deque<Message> messages_;
  std::optional<double> closed_;
};

Host::Host(EventSimulator& timeline) : events_(timeline) {
  threads_.push_back(std::make_shared<Thread>());
  running_ = threads_.front().get();
}

Host::~Host() = default;

double Host::now() const { return in_call_ ? events_.now() : running_->now; }

void Host::advance(double seconds) {
  running_->now += seconds;
  if (threads_.size() > 1) take_turns();
}

void Host::wait(Condition condition) {
  Thread& self = *running_;
  self.condition = std::move(condition);
  take_turns();
  if (std::exchange(self.stuck, false)) {
    self.condition = nullptr;
    throw std::logic_error("simulated device: waiting for something that can never come");
  }
  if (self.abandoned) throw Abandoned{};
}

void Host::catch_up() {
  while (events_.next_change() <= running_->now) events_.step();
}

void Host::call(const std::function<void()>& function) {
  in_call_ = true;
  function();
  in_call_ = false;
}

std::size_t Host::working() const {
  const double now = running_->now;
  const auto others = std::ranges::count_if(
      threads_, [&](const auto& t) { return t.get() != running_ && !t->done && t->busy_until > now; });
  return 1 + static_cast<std::size_t>(others);
}

void Host::wake_ready_threads() {
  for (const auto& t : threads_) {
    if (!t->condition) continue;
    const auto since = t->abandoned ? std::optional(t->now) : t->condition();
    if (!since) continue;
    t->now = std::max(t->now, *since);
    t->condition = nullptr;
  }
}

Host::Thread* Host::furthest_behind() const {
  Thread* best = nullptr;
  for (const auto& t : threads_) {
    if (t->done || t->condition) continue;
    // Equal clocks: the running one goes on, to spare a hand-over.
    if (best == nullptr || t->now < best->now || (t->now == best->now && t.get() == running_)) best = t.get();
  }
  return best;
}

bool Host::any_waiting() const {
  return std::ranges::any_of(threads_, [](const auto& t) { return t->condition != nullptr; });
}

Host::Thread& Host::due() {
  for (;;) {
    wake_ready_threads();
    Thread* best = furthest_behind();
    // A thread that waits for the GPU may be due before the one that is furthest behind now.
    if (best != nullptr && (!any_waiting() || events_.next_change() > best->now)) return *best;
    if (events_.step()) continue;
    if (best != nullptr) return *best;
    // Nothing can happen any more: whoever waits in vain is told, the first thread first.
    const auto waiting = std::ranges::find_if(threads_, [](const auto& t) { return t->condition != nullptr; });
    (*waiting)->stuck = true;
    (*waiting)->condition = nullptr;
    return **waiting;
  }
}

void Host::hand_over_to(Thread& next) {
  const std::lock_guard lock(mutex_);
  running_ = &next;
  next.turn.notify_one();
}

void Host::take_turns() {
  Thread& self = *running_;
  Thread& next = due();
  if (&next == &self) return;
  hand_over_to(next);
  std::unique_lock lock(mutex_);
  self.turn.wait(lock, [&] { return running_ == &self; });
  lock.unlock();
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Host::run_body(Thread& self, const std::function<void()>& body) {
  {
    std::unique_lock lock(mutex_);
    self.turn.wait(lock, [&] { return running_ == &self; });
  }
  body();
  self.done = true;
  Thread* next = threads_.front().get();  // the main thread, which is always there to hear of an error
  try {
    next = &due();
  } catch (...) {
    error_ = std::current_exception();
    next->condition = nullptr;
  }
  hand_over_to(*next);
}

std::unique_ptr<HostThread> Host::start(std::function<void()> body) {
  std::erase_if(threads_, [](const auto& t) { return t->done; });
  const auto& state = threads_.emplace_back(std::make_shared<Thread>());
  state->now = running_->now;
  try {
    return std::make_unique<SimThread>(*this, state, std::move(body));
  } catch (...) {
    state->done = true;  // the system has no thread for it: it will never have a turn
    throw;
  }
}

std::unique_ptr<Channel> Host::make_channel(double handoff) { return std::make_unique<SimChannel>(*this, handoff); }

}  // namespace xferbench::sim
