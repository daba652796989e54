// callback: a pipeline whose output chunks are consumed by CPU threads. Compares ways to notify the CPU that a chunk is
// ready: their latency, and their effect on the makespan.
#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <stdexcept>

#include "core/error.hpp"
#include "core/units.hpp"
#include "measure/timer_on_host.hpp"
#include "model/bounds.hpp"
#include "model/relation.hpp"
#include "run/finding_text.hpp"
#include "run/findings.hpp"
#include "run/scenario.hpp"
#include "scenarios/common/chunked_work.hpp"

namespace xferbench {

namespace {

enum class Method {
  none,             ///< no CPU stage
  naive,            ///< wait for all chunks, then consume them
  host_func,        ///< cudaLaunchHostFunc after each chunk
  stream_callback,  ///< cudaStreamAddCallback after each chunk
  event_sync,       ///< a helper thread waits for an event after each chunk
  poll,             ///< a helper thread polls an event after each chunk
};

constexpr std::array<std::string_view, 6> kMethods{"none",       "naive", "host-func", "stream-callback",
                                                   "event-sync", "poll"};

struct CallbackCase {
  Method method = Method::none;
  ChunkedWork::Shape work;  ///< the parser does not set `seed`; the run sets it to RunContext::seed
  std::size_t streams = 1;
  std::size_t consumers = 1;
};

CallbackCase callback_case(const Case& c) {
  return {.method = c.one_of<Method>("method", kMethods),
          .work = {.bytes = c.count("size"),
                   .chunks = c.count("chunks"),
                   .own = own_kernel_of(c, c.count("size")),
                   .work = static_cast<std::uint32_t>(c.count_or("work", 1)),
                   .costs = false,
                   .in_one_piece = "--chunks 1"},
          .streams = c.count("streams"),
          .consumers = c.count("consumers")};
}

bool uses_helper_thread(Method method) { return method == Method::event_sync || method == Method::poll; }
bool uses_driver_thread(Method method) { return method == Method::host_func || method == Method::stream_callback; }

/// Returns the sum of a chunk's 4-byte words, including a partial last word. Reads only the bytes that are really moved
/// (Payload::part()). word(offset, bytes) returns the word at a byte offset in the payload, of which the first `bytes`
/// bytes belong to the chunk.
template <class Word>
std::uint64_t checksum(const ChunkedWork& payload, const model::Chunk& chunk, const Word& word) {
  constexpr std::size_t kWord = sizeof(std::uint32_t);
  const std::size_t first = chunk.first * payload.shape().element_bytes();
  std::uint64_t sum = 0;
  payload.payload()->part().for_each(first, first + chunk.count * payload.shape().element_bytes(),
                                     [&](std::size_t begin, std::size_t end) {
                                       std::size_t at = begin;
                                       for (; at + kWord <= end; at += kWord) sum += word(at, kWord);
                                       if (at < end) sum += word(at, end - at);
                                     });
  return sum;
}

/// Returns the `word` argument of checksum() for a buffer that holds the whole payload.
auto words_of(const std::byte* all) {
  return [all](std::size_t at, std::size_t bytes) {
    std::uint32_t word = 0;
    std::memcpy(&word, all + at, bytes);
    return word;
  };
}

std::uint64_t right_checksum(const ChunkedWork& payload, const model::Chunk& chunk) {
  if (payload.shape().own) return checksum(payload, chunk, words_of(payload.payload()->expected_bytes()));
  return checksum(payload, chunk, [&payload](std::size_t at, std::size_t) {
    return std::bit_cast<std::uint32_t>(payload.expected(at / ChunkedWork::kElement));
  });
}

/// CPU threads that compute the checksum of each chunk posted to them.
class Consumers : NonCopyable {
 public:
  Consumers(Device& device, const ChunkedWork& payload, std::size_t threads)
      : device_(device), payload_(payload), ready_(device.host().make_channel()), done_(device.host().make_channel()) {
    sums_.resize(payload.chunks().size());
    try {
      for (std::size_t i = 0; i < threads; ++i) threads_.push_back(device.host().start_thread([this] { consume(); }));
    } catch (...) {  // the threads that have started wait for chunks; closing the channel ends them
      ready_->close();
      throw;
    }
  }
  ~Consumers() { ready_->close(); }

  /// Queues chunk `index`, whose output must be complete in host memory. Does not block, so any thread may call it,
  /// also from a CUDA callback.
  void post(std::size_t index) { ready_->post(index); }
  /// Waits until all chunks are consumed. If no chunk is consumed within a timeout, calls look(), which must throw if
  /// no further chunk can arrive. Rethrows the error given to fail().
  void wait_for_all(const std::function<void()>& look) {
    constexpr double kSlowest = 100e6;  // bytes per second, a lower bound for one consumer
    const double timeout = 1 + static_cast<double>(payload_.output(payload_.chunks().back()).size_bytes()) / kSlowest;
    for (std::size_t consumed = 0; consumed < sums_.size(); ++consumed) {
      if (done_->take(timeout)) continue;
      rethrow();
      look();  // waits for the GPU, which may be slower than expected
      if (done_->take(timeout)) continue;
      rethrow();
      throw MeasurementError("the GPU has finished, but the CPU stage was not notified of all chunks");
    }
  }
  /// Makes wait_for_all() throw `error`. Called if chunks can no longer be posted.
  void fail(std::exception_ptr error) {
    {
      const std::lock_guard lock(mutex_);
      error_ = std::move(error);
    }
    done_->close();
  }
  /// Clears the checksums of the previous pass.
  void clear() { std::ranges::fill(sums_, 0); }
  [[nodiscard]] const std::vector<std::uint64_t>& sums() const { return sums_; }

 private:
  void consume() {
    while (const auto index = ready_->take()) {
      const model::Chunk& chunk = payload_.chunks()[*index];
      device_.host().work({.bytes_read = payload_.output(chunk).size()},
                          [&] { sums_[*index] = checksum(payload_, chunk, words_of(payload_.payload()->host_out())); });
      done_->post(*index);
    }
  }

  void rethrow() {
    const std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);
  }

  Device& device_;
  const ChunkedWork& payload_;
  std::unique_ptr<Channel> ready_;
  std::unique_ptr<Channel> done_;
  std::vector<std::uint64_t> sums_;
  std::mutex mutex_;
  std::exception_ptr error_;                          // may be written by any thread at any time
  std::vector<std::unique_ptr<HostThread>> threads_;  // last member: its threads use all other members
};

/// Builds the timed regions of one case; all are timed by the host's clock.
class ConsumedPipeline : NonCopyable {
 public:
  ConsumedPipeline(const CallbackCase& c, const RunContext& bench)
      : device_(bench.device),
        payload_(device_, c.work.seeded(bench.seed)),
        stamps_(device_.allocate_host(payload_.chunks().size() * sizeof(std::uint64_t), HostMemory::mapped)),
        noticed_(payload_.chunks().size()),
        recorded_(device_.host().make_channel()),
        consumers_(device_, payload_, c.consumers) {
    for (std::size_t i = 0; i < c.streams; ++i) streams_.push_back(device_.make_stream(StreamKind::nonblocking));
    for (std::size_t i = 0; i < payload_.chunks().size(); ++i) {
      finished_.push_back(device_.make_event(EventKind::ordering));
      callbacks_.emplace_back([this, i] { notice(i); });
    }
    if (uses_helper_thread(c.method)) {
      const bool polls = c.method == Method::poll;
      watcher_ = device_.host().start_thread([this, polls] { watch(polls); });
    }
  }
  /// Synchronizes first: after a failed pass, a driver thread may still be about to run a callback of this object.
  ~ConsumedPipeline() {
    try {
      device_.synchronize();
    } catch (const std::exception&) {  // the case has already reported the error
    }
    callbacks_.clear();  // if the device could not be synchronized, later callbacks do nothing
    recorded_->close();
  }

  [[nodiscard]] ChunkedWork& payload() { return payload_; }
  /// Maximum error of the notification times, in seconds.
  [[nodiscard]] double clock_uncertainty() const { return timer_.uncertainty(); }

  /// The pipeline with notification by `method`. For methods that notify per chunk, the region part "notification" has
  /// one sample per chunk: the time from the arrival of the chunk's output in host memory until host code is notified.
  Region pipeline(Method method, std::string name) {
    Region r{.name = std::move(name), .clock = Clock::host};
    r.check = [this, method] { check(method, "its output"); };
    if (!uses_helper_thread(method) && !uses_driver_thread(method)) {
      r.submit = [this, method] { run(method); };
      r.batchable = false;  // not batched, because the pipelines with notification are not batched either
      return r;
    }
    // Relating the GPU's clock to the host's clock disturbs the pass that follows, so an untimed pass runs after it.
    r.reset = [this, method] {
      if (timer_.refresh(kFresh)) run(method);
    };
    r.parts = {{.name = "notification", .clock = Clock::device}};
    r.steps = [this, method](LapTimer& laps) {
      run(method);
      for (std::size_t i = 0; i < noticed_.size(); ++i) laps.add(0, timer_.since(stamps()[i], noticed_[i]));
    };
    return r;
  }

  /// The CPU stage alone: all chunks are consumed from output that is already in host memory.
  Region cpu_stage() {
    return {.name = "cpu-stage",
            .clock = Clock::host,
            .submit = [this] { consume_all(); },
            .batchable = false,
            .check = [this] { check_sums("its output"); }};
  }

  /// Runs one pass on poisoned memory and checks output and checksums. Throws VerificationError if they are wrong.
  void verify(Method method, const std::string& name) {
    payload_.poison_all();
    consumers_.clear();
    run_once(device_.machine(), pipeline(method, name));
    try {
      check(method, name);
    } catch (const VerificationError&) {
      payload_.require_chunkable();
      throw;
    }
  }

 private:
  /// Seconds after which the offset between GPU and host clock is measured again. It drifts by about 10 us per second.
  static constexpr double kFresh = 50e-3;

  [[nodiscard]] std::uint64_t* stamps() const { return reinterpret_cast<std::uint64_t*>(stamps_.data); }

  void run(Method method) {
    for (std::size_t i = 0; i < payload_.chunks().size(); ++i) submit(method, i);
    if (method == Method::none || method == Method::naive) {
      for (const Stream& stream : streams_) stream.synchronize();
    }
    if (method == Method::naive) return consume_all();
    if (method != Method::none) wait_for_consumers();
  }

  void wait_for_consumers() {
    const auto look = [this] {
      device_.synchronize();  // throws the error of a failed stream
      for (HostFunction& callback : callbacks_) callback.rethrow();
    };
    try {
      consumers_.wait_for_all(look);
    } catch (const std::logic_error&) {  // from a simulated host if no chunk can come; look() throws the cause
      look();
      throw;
    }
  }

  /// Enqueues chunk `i`. All methods write the GPU time stamp, so that they differ only in the notification.
  void submit(Method method, std::size_t i) {
    const StreamView stream = streams_[i % streams_.size()];
    payload_.copy_in(i, stream);
    payload_.launch(i, stream);
    payload_.copy_out(i, stream);
    stream.stamp(stamps() + i);
    if (uses_driver_thread(method)) {
      const bool plain = method == Method::host_func;
      stream.call_host(plain ? CallbackApi::launch_host_func : CallbackApi::stream_add_callback, callbacks_[i]);
    } else if (uses_helper_thread(method)) {
      stream.record(finished_[i]);
      recorded_->post(i);
    }
  }

  /// Body of the helper thread: waits for the chunks' events in submission order. A chunk is posted to `recorded_` only
  /// after its event was recorded in this pass; an earlier query would see the event of the previous pass.
  void watch(bool polls) {
    try {
      while (const auto index = recorded_->take()) {
        if (!polls) finished_[*index].synchronize();
        while (polls && !finished_[*index].finished()) {
        }
        notice(*index);
      }
    } catch (...) {
      consumers_.fail(std::current_exception());
    }
  }

  /// Called when chunk `i` has arrived, by a driver thread or by the helper thread. Only takes the time and posts the
  /// chunk, because CUDA forbids CUDA calls in host functions.
  void notice(std::size_t i) {
    noticed_[i] = device_.host().now();
    consumers_.post(i);
  }

  void consume_all() {
    for (std::size_t i = 0; i < payload_.chunks().size(); ++i) consumers_.post(i);
    wait_for_consumers();
  }

  /// Checks the checksums and the output of the last pass.
  void check(Method method, const std::string& name) const {
    if (method != Method::none) check_sums(name);
    payload_.check(name);
  }

  void check_sums(const std::string& name) const {
    for (std::size_t i = 0; i < payload_.chunks().size(); ++i) {
      const std::uint64_t right = right_checksum(payload_, payload_.chunks()[i]);
      if (consumers_.sums()[i] == right) continue;
      throw VerificationError(
          fmt::format("{}: the CPU stage read chunk {} before its data was complete: its checksum is {}, expected {}",
                      name, i, consumers_.sums()[i], right));
    }
  }

  Device& device_;
  ChunkedWork payload_;
  HostBuffer stamps_;
  std::vector<double> noticed_;  // written by the notified thread, read after the consumers are done
  std::vector<Stream> streams_;
  std::vector<Event> finished_;
  std::deque<HostFunction> callbacks_;  // a deque, because a HostFunction cannot be moved
  TimerOnHost timer_{device_};
  std::unique_ptr<Channel> recorded_;  // chunks whose events have been recorded in this pass
  Consumers consumers_;
  std::unique_ptr<HostThread> watcher_;  // last member: its thread uses all other members
};

class Callback final : public ScenarioOf<callback_case> {
 public:
  Callback()
      : ScenarioOf(
            {.name = "callback",
             .summary =
                 "a pipeline whose output the CPU consumes chunk by chunk: ways to notify the CPU, and their cost",
             .axes = make_axes(),
             .metrics = make_metrics(),
             .charts = {{.x = "chunks", .y = "bandwidth", .lines = {"method"}}},
             .answer = {.best = "efficiency",
                        .text = "{bandwidth} with a CPU stage, {efficiency} of the limit; {speedup_over_naive} as fast "
                                "as consuming everything at the end"}}) {}

  [[nodiscard]] std::optional<SkipReason> reason_to_skip(const CallbackCase& c,
                                                         const Capabilities* can) const override {
    return ChunkedWork::skip_reason(c.work, can);
  }

  [[nodiscard]] MemoryNeeds memory_needs(const CallbackCase& c) const override { return ChunkedWork::needs(c.work); }

  void measure(const CallbackCase& c, const RunContext& bench, Result& result) const override {
    ConsumedPipeline pipeline(c, bench);
    if (bench.needs_data()) pipeline.payload().prepare();
    if (bench.verify) {
      pipeline.verify(Method::naive, "naive");
      pipeline.verify(c.method, "pipeline");
    }
    if (const auto& own = c.work.own) {
      add_own_kernel(*own, *pipeline.payload().payload()->own_kernel(), bench.verify, result);
    }
    const std::vector<Series> series = bench.sample(regions(pipeline, c.method));
    add_measurements(series, result);
    if (all_sampled(series)) derive(c, result);
    if (result.metric("notification_p50") != nullptr) {
      result.add("clock_uncertainty", pipeline.clock_uncertainty(), "s");
    }
    if (bench.verifies_again()) pipeline.verify(c.method, "pipeline, second check");
  }

  [[nodiscard]] std::vector<Finding> conclude(std::span<const Result* const> results) const override;

 private:
  static std::vector<Axis> make_axes() {
    std::vector<Axis> axes{
        choice_axis("method", words(kMethods),
                    {.defaults = "all",
                     .help = "how the CPU is notified of a finished chunk; none: no CPU stage; naive: CPU stage after "
                             "the last chunk"}),
        size_axis("size", {.defaults = "256M", .help = "bytes per direction", .min = ChunkedWork::kElement}),
        {.name = "streams", .defaults = "3", .help = "number of streams; chunks are assigned round-robin", .max = 1024},
        {.name = "chunks", .defaults = "32", .help = "number of chunks of the payload", .max = 65536},
        {.name = "work", .defaults = "64", .help = "operations per element on the GPU", .max = kernels::kMaxWork},
        {.name = "consumers", .defaults = "4", .help = "CPU threads that compute the chunks' checksums", .max = 256},
    };
    return with_shared(std::move(axes), own_kernel_axes("work"));
  }

  static std::vector<MetricDeclaration> make_metrics() {
    using namespace declaring;
    std::vector<MetricDeclaration> metrics{
        measured("pipeline", "host time from the first call until the last chunk is consumed")
            .as_headline()
            .column("makespan", {interval}),
        derived("bandwidth", "GB/s", higher, "payload of both directions over the makespan").column("GB/s"),
        measured("notification",
                 "time from a chunk's arrival in host memory to the first host code that knows of it, over all chunks")
            .column("notification", {p99}),
        measured("no-cpu-stage", "the same pipeline without the CPU stage, until its streams are idle")
            .column("GPU only"),
        measured("cpu-stage", "the CPU stage alone, with all chunks already in host memory").column("CPU only"),
        derived("efficiency", "1", higher, "the longer of GPU only and CPU only, over the makespan")
            .column("% of limit", percent),
        derived("speedup_over_naive", "1", higher, "speedup over consuming everything at the end")
            .column("vs naive", ratio),
        measured("naive", "waiting for all chunks, then consuming them"),
        derived_time("makespan", "median time of the pipeline"),
        derived_time("bound", "limit: the longer of the pipeline without the CPU stage and the CPU stage alone"),
        derived_time("notification_p50", "median notification time"),
        derived_time("notification_p99", "99th percentile of the notification time"),
        derived_time(
            "clock_uncertainty",
            "maximum error of the notification times, because the clocks of GPU and host are related by measurement"),
    };
    return with_shared(std::move(metrics), own_kernel_metrics());
  }

  /// Returns a case's regions: the pipeline with its method, and the pipelines and stages that it is compared with.
  static std::vector<Region> regions(ConsumedPipeline& pipeline, Method method) {
    std::vector<Region> all{pipeline.pipeline(method, "pipeline")};
    if (method == Method::none) return all;
    all.push_back(pipeline.pipeline(Method::none, "no-cpu-stage"));
    all.push_back(pipeline.cpu_stage());
    if (method != Method::naive) all.push_back(pipeline.pipeline(Method::naive, "naive"));
    return all;
  }

  static void derive(const CallbackCase& c, Result& result) {
    const double makespan = result.needed_measurement("pipeline").median;
    result.add("makespan", makespan, "s");
    result.add("bandwidth", 2 * static_cast<double>(c.work.bytes) / makespan / 1e9, "GB/s");
    if (c.method == Method::none) return;
    const double bound =
        std::max(result.needed_measurement("no-cpu-stage").median, result.needed_measurement("cpu-stage").median);
    result.add("bound", bound, "s");
    result.add("efficiency", model::share_of_limit(bound, makespan), "1");
    if (const Measurement* naive = result.measurement("naive")) {
      result.add("speedup_over_naive", naive->median / makespan, "1");
    }
    if (const Measurement* notification = result.measurement("notification")) {
      result.add("notification_p50", notification->median, "s");
      if (notification->p99) result.add("notification_p99", *notification->p99, "s");
    }
  }
};

/// Names the method with the shortest notification time and the one with the shortest makespan. Methods whose
/// confidence intervals overlap are reported as ties.
std::vector<Finding> Callback::conclude(std::span<const Result* const> results) const {
  std::vector<Finding> findings;
  const auto tell = [&](const char* metric, const char* measurement, const char* what) {
    std::vector<const Result*> rivals;
    std::vector<std::string> methods;
    for (const Result* r : results) {
      const Method method = callback_case(r->config).method;
      if (r->metric(metric) == nullptr || method == Method::none) continue;
      rivals.push_back(r);
      methods.emplace_back(kMethods[static_cast<std::size_t>(method)]);
    }
    if (rivals.size() < 2) return;
    const model::Leaders front = leaders_of(rivals, measurement);
    const Metric& best = rivals[front.places.front()]->needed_metric(metric);
    findings.push_back(
        {.kind = "winner",
         .labels = {{"method", leaders_text(front, methods)}, {"outcome", outcome_label(front)}},
         .metrics = {best},
         .text = fmt::format("{}: {} ({})", what, ranking_text(front, methods, "is the quickest", "are equally quick"),
                             format_seconds(best.value))});
  };
  tell("notification_p50", "notification", "notification");
  tell("makespan", "pipeline", "makespan with a CPU stage");
  return findings;
}

}  // namespace

const Scenario& callback_scenario() { return the_only<Callback>(); }

}  // namespace xferbench
