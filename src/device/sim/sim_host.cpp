#include "device/sim/sim_host.hpp"

#include <algorithm>
#include <deque>
#include <stdexcept>
#include <thread>
#include <utility>

namespace xferbench::sim {

namespace {

/// Exception that ends a simulated thread whose wait can never end.
struct Abandoned {};

}  // namespace

class SimHost::SimThread final : public HostThread {
 public:
  SimThread(SimHost& host, std::shared_ptr<Thread> state, std::function<void()> body)
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
    } catch (...) {  // the thread's wait can never end, or memory is short
      host_.abandon(*state_);
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

  SimHost& host_;
  std::shared_ptr<Thread> state_;
  std::exception_ptr error_;
  std::thread thread_;
};

class SimHost::SimChannel final : public Channel {
 public:
  SimChannel(SimHost& host, double handoff) : host_(host), handoff_(handoff) {}

  void post(std::uint64_t message) override { messages_.push_back({message, host_.now()}); }

  using Channel::take;
  std::optional<std::uint64_t> take(double) override {
    while (messages_.empty()) {
      if (closed_ && host_.now() >= *closed_) return std::nullopt;
      host_.wait([this]() -> std::optional<double> {
        if (!messages_.empty()) return messages_.front().posted;
        return closed_;
      });  // loop, because another reader may take the message first
    }
    const Message next = messages_.front();
    messages_.pop_front();
    // A message posted at least the handoff time ago is available at once.
    const double since = host_.now() - next.posted;
    if (since < handoff_) host_.advance(handoff_ - since);
    return next.message;
  }

  void close() override { closed_ = host_.now(); }

 private:
  struct Message {
    std::uint64_t message;
    double posted;
  };
  SimHost& host_;
  double handoff_;
  std::deque<Message> messages_;
  std::optional<double> closed_;
};

SimHost::SimHost(EventSimulator& events, const Profile& profile, DataMovement& data)
    : events_(events),
      profile_(profile),
      data_(data),
      work_(profile.varies, Randomness::Purpose::work),
      waking_(profile.varies, Randomness::Purpose::waking),
      files_(*this, profile, data) {
  threads_.push_back(std::make_shared<Thread>());
  running_ = threads_.front().get();
}

SimHost::~SimHost() = default;

double SimHost::now() const { return in_call_ ? events_.now() : running_->now; }

void SimHost::advance(double seconds) {
  running_->now += seconds;
  if (threads_.size() > 1) take_turns();
}

void SimHost::wait_until(double moment) {
  const double wait = moment - now();
  advance(wait > 0 ? wait + waking_.lateness() : 0);
}

void SimHost::wait(Condition condition) {
  Thread& self = *running_;
  if (self.abandoned) throw Abandoned{};
  self.condition = std::move(condition);
  try {
    take_turns();
  } catch (...) {
    self.condition = nullptr;  // the condition refers to the caller's variables
    throw;
  }
  if (std::exchange(self.stuck, false)) {
    throw std::logic_error("simulated device: deadlock, the host waits for work that can never finish");
  }
  if (self.abandoned) throw Abandoned{};
}

void SimHost::wait_for(const std::vector<OperationPtr>& operations) {
  wait([&]() -> std::optional<double> {
    double last = 0;
    for (const OperationPtr& o : operations) {
      if (!o->done()) return std::nullopt;
      last = std::max(last, o->finished);
    }
    return last;
  });
  advance(profile_.wake_up);
}

void SimHost::wait_for_all() {
  wait([this] { return events_.idle() ? std::optional(events_.now()) : std::nullopt; });
  advance(profile_.wake_up);
}

void SimHost::catch_up() {
  while (events_.next_change() <= running_->now) events_.step();
}

void SimHost::call(HostCall& function) {
  in_call_ = true;
  function.run();
  in_call_ = false;
}

void SimHost::work(const HostCost& cost, const std::function<void()>& work) {
  if (data_.on) work();
  // Threads that copy at the same time share the host's memory bandwidth. Their number changes meanwhile.
  const int parts = cost.bytes_copied > 0 ? 4 : 1;
  const double factor = work_.duration_factor() / parts;
  for (int left = parts; left > 0; --left) {
    const auto threads = static_cast<double>(working());
    const double copy_rate = std::min(profile_.host_copy_rate, profile_.host_copy_rate_all / threads);
    const double seconds = static_cast<double>(cost.bytes_copied) / copy_rate +
                           static_cast<double>(cost.bytes_read) / profile_.host_read_rate + cost.seconds;
    running_->busy_until = running_->now + left * factor * seconds;
    advance(factor * seconds);
  }
}

std::size_t SimHost::working() const {
  const double now = running_->now;
  const auto others = std::ranges::count_if(
      threads_, [&](const auto& t) { return t.get() != running_ && !t->done && t->busy_until > now; });
  return 1 + static_cast<std::size_t>(others);
}

void SimHost::wake_ready_threads() {
  for (const auto& t : threads_) {
    if (!t->condition) continue;
    const auto since = t->condition();
    if (!since) continue;
    t->now = std::max(t->now, *since);
    t->condition = nullptr;
  }
}

SimHost::Thread* SimHost::furthest_behind() const {
  Thread* best = nullptr;
  for (const auto& t : threads_) {
    if (t->done || t->condition) continue;
    // If clocks are equal, the running thread continues, which saves a thread switch.
    if (best == nullptr || t->now < best->now || (t->now == best->now && t.get() == running_)) best = t.get();
  }
  return best;
}

bool SimHost::any_waiting() const {
  return std::ranges::any_of(threads_, [](const auto& t) { return t->condition != nullptr; });
}

SimHost::Thread& SimHost::due() {
  for (;;) {
    wake_ready_threads();
    Thread* best = furthest_behind();
    // A thread that waits for the GPU may become ready at a time before the clock of `best`.
    if (best != nullptr && (!any_waiting() || events_.next_change() > best->now)) return *best;
    if (events_.step()) continue;
    if (best != nullptr) return *best;
    // Nothing can happen any more, which is a deadlock: the first waiting thread gets the error.
    const auto waiting = std::ranges::find_if(threads_, [](const auto& t) { return t->condition != nullptr; });
    (*waiting)->stuck = true;
    (*waiting)->condition = nullptr;
    return **waiting;
  }
}

void SimHost::hand_over_to(Thread& next) {
  const std::lock_guard lock(mutex_);
  running_ = &next;
  next.turn.notify_one();
}

void SimHost::switch_to(Thread& next) {
  Thread& self = *running_;
  hand_over_to(next);
  std::unique_lock lock(mutex_);
  self.turn.wait(lock, [&] { return running_ == &self; });
}

void SimHost::take_turns() {
  Thread& self = *running_;
  Thread& next = due();
  if (&next == &self) return;
  switch_to(next);
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void SimHost::abandon(Thread& thread) {
  thread.abandoned = true;
  while (!thread.done) {
    thread.condition = nullptr;
    switch_to(thread);
  }
  error_ = nullptr;
}

void SimHost::run_body(Thread& self, const std::function<void()>& body) {
  {
    std::unique_lock lock(mutex_);
    self.turn.wait(lock, [&] { return running_ == &self; });
  }
  body();
  self.done = true;
  Thread* next = threads_.front().get();  // the main thread exists as long as the host and can report an error
  try {
    next = &due();
  } catch (...) {
    error_ = std::current_exception();
    next->condition = nullptr;
  }
  hand_over_to(*next);
}

std::unique_ptr<HostThread> SimHost::start_thread(std::function<void()> body) {
  std::erase_if(threads_, [](const auto& t) { return t->done; });
  const auto& state = threads_.emplace_back(std::make_shared<Thread>());
  state->number = ++threads_made_;
  state->now = running_->now;
  try {
    return std::make_unique<SimThread>(*this, state, std::move(body));
  } catch (...) {
    state->done = true;  // the system could not create the thread, so it must never be picked to run
    throw;
  }
}

std::unique_ptr<Channel> SimHost::make_channel() { return std::make_unique<SimChannel>(*this, profile_.handoff); }

}  // namespace xferbench::sim
