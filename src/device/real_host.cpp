#include "core/clock.hpp"
#include "device/host_runtime.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <exception>
#include <future>
#include <mutex>
#include <thread>

#include "device/real_files.hpp"

namespace xferbench {

namespace {

class RealThread final : public HostThread {
 public:
  RealThread(const std::function<void()>& prepare, std::function<void()> body)
      : done_(std::async(std::launch::async, [this, &prepare, body = std::move(body)] {
          try {
            prepare();
          } catch (...) {
            return prepared_.set_exception(std::current_exception());
          }
          prepared_.set_value();
          body();
        })) {
    prepared_.get_future().get();
  }

  void join() override {
    if (done_.valid()) done_.get();
  }

 private:
  std::promise<void> prepared_;
  std::future<void> done_;  // last member: its destructor waits for the thread, which uses prepared_
};

class RealChannel final : public Channel {
  using Clock = std::chrono::steady_clock;

 public:
  void post(std::uint64_t message) override {
    {
      const std::lock_guard lock(mutex_);
      messages_.push_back(message);
    }
    signal();
  }

  using Channel::take;
  std::optional<std::uint64_t> take(double timeout) override {
    const auto begun = Clock::now();
    for (;;) {
      const std::uint32_t seen = changes_.load(std::memory_order_acquire);
      {
        const std::lock_guard lock(mutex_);
        if (!messages_.empty()) {
          const std::uint64_t message = messages_.front();
          messages_.pop_front();
          return message;
        }
        if (closed_) return std::nullopt;
      }
      if (!changed(seen, begun, timeout)) return std::nullopt;
    }
  }

  void close() override {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    signal();
  }

 private:
  void signal() {
    changes_.fetch_add(1, std::memory_order_release);
    changes_.notify_all();
  }

  /// Waits until changes_ differs from `seen`; returns false after the timeout. It spins for the first 2 ms, because
  /// waking a sleeping thread takes tens of microseconds, in a virtual machine hundreds.
  bool changed(std::uint32_t seen, Clock::time_point begun, double timeout) {
    constexpr double kAwake = 2e-3;
    const auto waited = [begun] { return std::chrono::duration<double>(Clock::now() - begun).count(); };
    const auto unchanged = [&] { return changes_.load(std::memory_order_acquire) == seen; };
    while (unchanged() && waited() < std::min(kAwake, timeout)) {
    }
    if (timeout == std::numeric_limits<double>::infinity()) {
      changes_.wait(seen, std::memory_order_acquire);
      return true;
    }
    while (unchanged() && waited() < timeout) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return !unchanged();
  }

  std::mutex mutex_;
  std::deque<std::uint64_t> messages_;
  bool closed_ = false;
  std::atomic<std::uint32_t> changes_{0};
};

}  // namespace

double RealHost::now() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double RealHost::cpu_now() const { return seconds_of(CLOCK_THREAD_CPUTIME_ID); }

void RealHost::wait_until(double moment) {
  while (now() < moment) {
  }
}

std::unique_ptr<HostThread> RealHost::start_thread(std::function<void()> body) {
  return std::make_unique<RealThread>(prepare_, std::move(body));
}

Files& RealHost::files() {
  if (!files_) files_ = make_real_files();
  return *files_;
}

std::unique_ptr<Channel> RealHost::make_channel() { return std::make_unique<RealChannel>(); }

}  // namespace xferbench
