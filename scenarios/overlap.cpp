// overlap: chunks go to the GPU, are worked on and come back, over several streams, beside what limits them: each stage
// alone, both directions together, and the same work without any overlap. All of it is sampled interleaved in one run.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/units.hpp"
#include "kernels/elementwise.hpp"
#include "measure/pattern.hpp"
#include "measure/statistics.hpp"
#include "model/balance.hpp"
#include "model/bounds.hpp"
#include "model/partition.hpp"
#include "run/scenario.hpp"

namespace xferbench {

namespace {

using kernels::Elementwise;
using kernels::ElementwiseOp;
using model::Chunk;

constexpr std::size_t kElement = sizeof(float);
constexpr std::size_t kChunkAlignment = 64;  // elements: 256 bytes, as cudaMalloc aligns

StreamKind stream_kind(const Case& c) {
  const std::string& kind = c.word("stream-kind");
  if (kind == "nonblocking") return StreamKind::nonblocking;
  return kind == "blocking" ? StreamKind::blocking : StreamKind::legacy_default;
}

/// The buffers and streams of one case, and everything it times as regions.
class Pipeline {
 public:
  Pipeline(const Case& c, const Bench& bench)
      : device_(bench.device),
        seed_(bench.seed),
        bytes_(c.count("size")),
        op_(kernels::elementwise_op(c.word("kernel"))),
        work_(c.has("work") ? static_cast<std::uint32_t>(c.count("work")) : 1),
        breadth_first_(c.word("issue") == "breadth"),
        chunks_(model::partition(bytes_ / kElement, c.count("chunks"), kChunkAlignment)),
        host_in_(device_.allocate_host(bytes_, HostMemory::pinned)),
        host_out_(device_.allocate_host(bytes_, HostMemory::pinned)),
        device_in_(device_.allocate_device(bytes_)),
        device_out_(device_.allocate_device(bytes_)),
        default_stream_(device_.make_stream(StreamKind::legacy_default)),
        stage_streams_{device_.make_stream(StreamKind::nonblocking), device_.make_stream(StreamKind::nonblocking)} {
    if (op_ == ElementwiseOp::vector_add) addends_ = device_.allocate_device(bytes_);
    for (std::uint64_t i = 0; i < c.count("streams"); ++i) streams_.push_back(device_.make_stream(stream_kind(c)));
    // The default stream is one stream, however many handles to it there are.
    const std::size_t distinct = stream_kind(c) == StreamKind::legacy_default ? 1 : streams_.size();
    pipeline_streams_.assign(streams_.begin(), streams_.begin() + static_cast<std::ptrdiff_t>(distinct));
    device_.preload(kernel(whole()));
  }

  [[nodiscard]] std::uint32_t work() const { return work_; }
  void set_work(std::uint64_t work) { work_ = static_cast<std::uint32_t>(work); }

  void prepare() {
    if (op_ == ElementwiseOp::vector_add) {
      const std::span<float> table(reinterpret_cast<float*>(host_in_->data), bytes_ / kElement);
      parallel_for(table.size(), MiB, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) table[i] = kernels::addend(i);
      });
      device_.copy_blocking({addends_->data, host_in_->data, bytes_, Direction::h2d});
    }
    pattern::fill_elements({reinterpret_cast<float*>(host_in_->data), bytes_ / kElement}, seed_);
  }

  Region h2d() {
    return single("h2d", [this] { copy_in(whole(), stage_streams_[0]); });
  }
  Region kernel_alone() {
    return single("kernel", [this] { device_.launch(kernel(whole()), stage_streams_[0]); });
  }
  Region d2h() {
    return single("d2h", [this] { copy_out(whole(), stage_streams_[0]); });
  }

  Region both() {
    Region r;
    r.name = "both";
    r.clock = Clock::event_gated;
    r.streams = {stage_streams_[0], stage_streams_[1]};
    r.operations = 2;
    r.submit = [this] {
      copy_in(whole(), stage_streams_[0]);
      copy_out(whole(), stage_streams_[1]);
    };
    return r;
  }

  /// What one writes first: blocking copies around a kernel, all in the default stream.
  Region serial() {
    Region r;
    r.name = "serial";
    r.clock = Clock::event;  // a gate would hold the blocking copy, and with it the host that is to open it
    r.streams = {default_stream_};
    r.operations = 3;
    r.submit = [this] {
      device_.copy_blocking({device_in_->data, host_in_->data, bytes_, Direction::h2d});
      device_.launch(kernel(whole()), default_stream_);
      device_.copy_blocking({host_out_->data, device_out_->data, bytes_, Direction::d2h});
    };
    return r;
  }

  Region pipeline() {
    Region r;
    r.name = "pipeline";
    r.clock = Clock::event_gated;
    r.streams = pipeline_streams_;
    r.operations = 3 * chunks_.size();
    r.submit = [this] { breadth_first_ ? submit_breadth_first() : submit_depth_first(); };
    return r;
  }

  /// The pipeline's fan-out and fan-in around next to nothing: a kernel of one element in each stream. Without any work
  /// the driver leaves out the waits, and the result would be too good to be true.
  Region fork_join() {
    Region r;
    r.name = "fork-join";
    r.clock = Clock::event_gated;
    r.streams = pipeline_streams_;
    r.operations = pipeline_streams_.size();
    r.submit = [this] {
      for (const StreamHandle stream : pipeline_streams_) device_.launch(kernel({0, 1}, 1), stream);
    };
    return r;
  }

  /// Runs each region once on poisoned memory and checks the result. Throws VerificationError.
  void verify() {
    poison_all();
    run_once(device_, h2d());
    run_once(device_, kernel_alone());
    run_once(device_, d2h());
    check("h2d, kernel and d2h");

    // Both directions: what came back was right on the device before; what went in shows in what follows from it.
    poison_host_out();
    poison(device_in_);
    run_once(device_, both());
    check("both directions, D2H");
    poison_host_out();
    poison(device_out_);
    run_once(device_, kernel_alone());
    run_once(device_, d2h());
    check("both directions, H2D");

    for (const Region& region : {serial(), pipeline()}) {
      poison_all();
      run_once(device_, region);
      check(region.name);
    }
  }

  /// Once more after the timed passes, and as they run: a dependency that only holds while the host submits slowly
  /// shows here. Everything is poisoned, because the buffers hold right results from the passes before.
  void verify_at_full_speed() {
    poison_all();
    run_at_full_speed(device_, pipeline());
    check("pipeline at full speed");
  }

 private:
  void poison_host_out() { pattern::poison({host_out_->data, bytes_}); }

  void check(const std::string& what) {
    const std::span<const float> out(reinterpret_cast<const float*>(host_out_->data), bytes_ / kElement);
    const auto wrong = pattern::check_elements(
        out, [this](std::size_t i) { return kernels::expected(op_, pattern::element(seed_, i), i, work_); });
    if (wrong) throw VerificationError(what + ": " + wrong->describe());
  }

  [[nodiscard]] Chunk whole() const { return {0, bytes_ / kElement}; }

  [[nodiscard]] Elementwise kernel(const Chunk& c) const { return kernel(c, work_); }
  [[nodiscard]] Elementwise kernel(const Chunk& c, std::uint32_t work) const {
    const auto at = [&c](const DeviceRange& range) { return reinterpret_cast<float*>(range.data) + c.first; };
    return {op_, {at(device_in_), addends_ ? at(addends_) : nullptr, at(device_out_), c.count, work}};
  }

  void copy_in(const Chunk& c, StreamHandle stream) {
    const std::size_t offset = c.first * kElement;
    device_.copy({device_in_->data + offset, host_in_->data + offset, c.count * kElement, Direction::h2d}, stream);
  }
  void copy_out(const Chunk& c, StreamHandle stream) {
    const std::size_t offset = c.first * kElement;
    device_.copy({host_out_->data + offset, device_out_->data + offset, c.count * kElement, Direction::d2h}, stream);
  }

  [[nodiscard]] StreamHandle stream_of(std::size_t chunk) const { return streams_[chunk % streams_.size()]; }

  /// Chunk after chunk: copy in, work, copy out.
  void submit_depth_first() {
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
      const StreamHandle stream = stream_of(i);
      copy_in(chunks_[i], stream);
      device_.launch(kernel(chunks_[i]), stream);
      copy_out(chunks_[i], stream);
    }
  }

  /// Stage after stage, for as many chunks at a time as there are streams.
  void submit_breadth_first() {
    for (std::size_t wave = 0; wave < chunks_.size(); wave += streams_.size()) {
      const std::size_t end = std::min(wave + streams_.size(), chunks_.size());
      for (std::size_t i = wave; i < end; ++i) copy_in(chunks_[i], stream_of(i));
      for (std::size_t i = wave; i < end; ++i) device_.launch(kernel(chunks_[i]), stream_of(i));
      for (std::size_t i = wave; i < end; ++i) copy_out(chunks_[i], stream_of(i));
    }
  }

  Region single(std::string name, std::function<void()> submit) {
    Region r;
    r.name = std::move(name);
    r.clock = Clock::event_gated;
    r.streams = {stage_streams_[0]};
    r.submit = std::move(submit);
    return r;
  }

  void poison(const DeviceRange& range) {
    device_.fill(range, pattern::kPoison, stage_streams_[0]);
    device_.synchronize();
  }
  void poison_all() {
    poison_host_out();
    poison(device_in_);
    poison(device_out_);
  }

  Device& device_;
  std::uint64_t seed_;
  std::size_t bytes_;
  ElementwiseOp op_;
  std::uint32_t work_;
  bool breadth_first_;
  std::vector<Chunk> chunks_;
  HostBuffer host_in_;
  HostBuffer host_out_;
  DeviceBuffer device_in_;
  DeviceBuffer device_out_;
  DeviceBuffer addends_;
  Stream default_stream_;
  std::array<Stream, 2> stage_streams_;
  std::vector<Stream> streams_;
  std::vector<StreamHandle> pipeline_streams_;
};

/// Median time of a few samples: enough to choose the work, too few to report.
double quick_time(const Bench& bench, Region region) {
  SamplingPolicy few;
  few.budget = 0.2;
  few.min_samples = few.max_samples = 6;
  return sample(bench.device, {std::move(region)}, few, bench.observe).front().elapsed.median;
}

/// Sets the work that makes the kernel take `balance` times the H2D copy.
void choose_work(Pipeline& pipeline, const Bench& bench, double balance, Result& result) {
  const double target = balance * quick_time(bench, pipeline.h2d());
  const model::TimedWork found = model::find_work(target, kernels::kMaxWork, [&](std::uint64_t work) {
    if (interrupted() != 0) return target;  // ends the search
    pipeline.set_work(work);
    return quick_time(bench, pipeline.kernel_alone());
  });
  pipeline.set_work(found.work);
  if (std::abs(found.seconds - target) > 0.05 * target) {
    result.warnings.push_back("balance: with work " + std::to_string(found.work) + " the kernel takes " +
                              format_seconds(found.seconds) + ", not the " + format_seconds(target) +
                              " asked for; no other amount of work comes closer");
  }
}

class Overlap final : public Scenario {
 public:
  [[nodiscard]] std::string_view name() const override { return "overlap"; }
  [[nodiscard]] std::string_view summary() const override {
    return "chunked copy-work-copy pipeline over streams, against its limit and the serial version";
  }

  [[nodiscard]] std::span<const Axis> axes() const override {
    static const std::array<Axis, 8> axes{{
        {.name = "size",
         .kind = AxisKind::size,
         .defaults = "256M",
         .help = "bytes in each direction",
         .min = kElement},
        {.name = "streams", .defaults = "4", .help = "streams that the chunks take turns on", .max = 1024},
        {.name = "chunks", .defaults = "32", .help = "parts the payload is cut into", .max = 65536},
        {.name = "kernel",
         .kind = AxisKind::choice,
         .defaults = "fma",
         .help = "work between the copies",
         .choices = {kernels::kElementwiseNames.begin(), kernels::kElementwiseNames.end()}},
        {.name = "work",
         .defaults = "64",
         .help = "operations per element",
         .max = static_cast<double>(kernels::kMaxWork)},
        {.name = "balance",
         .kind = AxisKind::real,
         .defaults = "",
         .help = "choose the work so that the kernel takes this many times the H2D copy",
         .min = 0.001,
         .max = 1000,
         .replaces = "work"},
        {.name = "issue",
         .kind = AxisKind::choice,
         .defaults = "depth",
         .help = "order of submission: chunk after chunk, or stage after stage",
         .choices = {"depth", "breadth"}},
        {.name = "stream-kind",
         .kind = AxisKind::choice,
         .defaults = "nonblocking",
         .help = "how the streams relate to the default stream; default: all chunks in the default stream",
         .choices = {"nonblocking", "blocking", "default"}},
    }};
    return axes;
  }

  [[nodiscard]] std::span<const Column> columns() const override {
    using S = Column::Source;
    static const std::array<Column, 11> columns{{
        {"makespan", S::time, "pipeline"},
        {"+-", S::interval, "pipeline"},
        {"clock", S::clock, "pipeline"},
        {"GB/s", S::metric, "bandwidth"},
        {"serial", S::time, "serial"},
        {"speedup", S::ratio, "speedup"},
        {"limit", S::seconds, "bound"},
        {"set by", S::label, "limited_by"},
        {"of limit", S::percent, "efficiency"},
        {"hidden", S::percent, "hidden_fraction"},
        {"host blocked", S::seconds, "host_blocked"},
    }};
    return columns;
  }

  [[nodiscard]] std::optional<std::string> objection(const Case& c) const override {
    const std::uint64_t size = c.count("size");
    if (size % kElement != 0) {
      return "--size " + to_text(size, AxisKind::size) +
             " is not a whole number of 4-byte elements; choose a multiple of 4";
    }
    if (c.count("chunks") > size / kElement) {
      return "--chunks " + std::to_string(c.count("chunks")) + " is more than the " + std::to_string(size / kElement) +
             " elements of --size " + to_text(size, AxisKind::size) + "; choose fewer chunks or a larger size";
    }
    return std::nullopt;
  }

  [[nodiscard]] MemoryNeeds needs(const Case& c) const override {
    const std::uint64_t size = c.count("size");
    return {2 * size, c.word("kernel") == "vector-add" ? 3 * size : 2 * size};
  }

  void run(const Case& c, const Bench& bench, Result& result) const override {
    Pipeline pipeline(c, bench);
    const Capabilities& can = bench.device.capabilities();
    if (bench.verify || can.moves_data_when_timed) pipeline.prepare();
    if (c.has("balance")) choose_work(pipeline, bench, c.real("balance"), result);
    if (bench.verify) pipeline.verify();

    SamplingPolicy calibration = bench.policy;
    calibration.min_samples = calibration.max_samples = 10;
    const Series fork_join = sample(bench.device, {pipeline.fork_join()}, calibration, bench.observe).front();

    const std::vector<Series> series = bench.sample({pipeline.h2d(), pipeline.kernel_alone(), pipeline.d2h(),
                                                     pipeline.both(), pipeline.serial(), pipeline.pipeline()});

    for (const Series& s : series) result.measurements.push_back(s.elapsed);
    result.measurements.push_back(series.back().submit);
    result.measurements.push_back(fork_join.elapsed);
    result.measurements.back().auxiliary = true;
    result.add("work", pipeline.work(), "operations/element");
    const bool sampled = std::ranges::none_of(series, [](const Series& s) { return s.elapsed.samples.empty(); });
    if (sampled) derive(c.count("size"), can.environment.gpu.copy_engines, result);
    if (bench.verify) pipeline.verify_at_full_speed();
  }

 private:
  using Pick = double (*)(const Measurement&);

  static model::Stages stages(const Result& result, Pick pick) {
    const auto time = [&](const char* name) { return pick(*result.measurement(name)); };
    return {time("h2d"), time("kernel"), time("d2h"), time("both")};
  }

  static void derive(std::size_t size, unsigned copy_engines, Result& result) {
    const model::Stages s = stages(result, [](const Measurement& m) { return m.median; });
    const double serial = result.measurement("serial")->median;
    const Measurement& pipeline = *result.measurement("pipeline");
    const double makespan = pipeline.median;
    const double bound = model::lower_bound(s, copy_engines);
    const auto gigabytes = static_cast<double>(size) / 1e9;

    const bool by_kernel = model::limiting_stage(s, copy_engines) == model::Limit::kernel;
    result.labels.emplace_back("limited_by", by_kernel ? "kernel" : "link");
    result.add("bandwidth", 2 * gigabytes / makespan, "GB/s");
    result.add("makespan", makespan, "s");
    result.add("bound", bound, "s");
    result.add("efficiency", bound / makespan, "1");
    result.add("speedup", serial / makespan, "1");
    result.add("hidden_fraction", model::hidden_fraction(serial, makespan, bound), "1");
    result.add("host_blocked", result.measurement("pipeline-submit")->median, "s");
    result.add("h2d_bandwidth", gigabytes / s.h2d, "GB/s");
    result.add("d2h_bandwidth", gigabytes / s.d2h, "GB/s");
    result.add("both_bandwidth", 2 * gigabytes / s.both, "GB/s");
    result.add("duplex_ratio", model::duplex_ratio(s), "1");
    result.add("kernel_to_h2d", s.kernel / s.h2d, "1");
    warn(copy_engines, result);
  }

  static void warn(unsigned copy_engines, Result& result) {
    const Measurement& pipeline = *result.measurement("pipeline");
    if (pipeline.ci95) {
      const auto low = [](const Measurement& m) { return m.ci95 ? m.ci95->low : m.min; };
      if (model::lower_bound(stages(result, low), copy_engines) > pipeline.ci95->high) {
        result.warnings.emplace_back(
            "efficiency is above 1 beyond its interval: a stage was measured badly; run again on a quiet machine");
      }
    }
    if (pipeline.clock == Clock::event) {
      result.warnings.emplace_back(
          "so many operations do not fit behind a gate: the makespan includes what the host takes "
          "to submit them, as it would in a program");
    }
    const double submit = result.measurement("pipeline-submit")->median;
    if (submit > 0.9 * pipeline.median) {
      result.warnings.emplace_back("the host submits no faster than the GPU works (" + format_seconds(submit) +
                                   " of calls): choose fewer chunks");
    }
  }
};

}  // namespace

const Scenario& overlap_scenario() {
  static const Overlap scenario;
  return scenario;
}

}  // namespace xferbench
