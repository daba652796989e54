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
#include "measure/statistics.hpp"
#include "model/balance.hpp"
#include "model/bounds.hpp"
#include "run/scenario.hpp"
#include "scenarios/chunked_work.hpp"

namespace xferbench {

namespace {

StreamKind stream_kind(const Case& c) {
  const std::string& kind = c.word("stream-kind");
  if (kind == "nonblocking") return StreamKind::nonblocking;
  return kind == "blocking" ? StreamKind::blocking : StreamKind::legacy_default;
}

/// The streams of one case, and everything it times as regions.
class Pipeline {
 public:
  Pipeline(const Case& c, const Bench& bench)
      : device_(bench.device),
        breadth_first_(c.word("issue") == "breadth"),
        payload_(device_, {c.count("size"), c.count("chunks"), kernels::elementwise_op(c.word("kernel")),
                           c.has("work") ? static_cast<std::uint32_t>(c.count("work")) : 1, bench.seed}),
        default_stream_(device_.make_stream(StreamKind::legacy_default)),
        stage_streams_{device_.make_stream(StreamKind::nonblocking), device_.make_stream(StreamKind::nonblocking)} {
    for (std::uint64_t i = 0; i < c.count("streams"); ++i) streams_.push_back(device_.make_stream(stream_kind(c)));
    // The default stream is one stream, however many handles to it there are.
    const std::size_t distinct = stream_kind(c) == StreamKind::legacy_default ? 1 : streams_.size();
    pipeline_streams_.assign(streams_.begin(), streams_.begin() + static_cast<std::ptrdiff_t>(distinct));
  }

  [[nodiscard]] ChunkedWork& payload() { return payload_; }

  Region h2d() {
    return gated("h2d", {stage_streams_[0]}, 1, [this] { payload_.copy_in(payload_.whole(), stage_streams_[0]); });
  }
  Region kernel_alone() {
    return gated("kernel", {stage_streams_[0]}, 1, [this] { payload_.launch(payload_.whole(), stage_streams_[0]); });
  }
  Region d2h() {
    return gated("d2h", {stage_streams_[0]}, 1, [this] { payload_.copy_out(payload_.whole(), stage_streams_[0]); });
  }
  Region both() {
    return gated("both", {stage_streams_[0], stage_streams_[1]}, 2, [this] {
      payload_.copy_in(payload_.whole(), stage_streams_[0]);
      payload_.copy_out(payload_.whole(), stage_streams_[1]);
    });
  }

  /// What one writes first: blocking copies around a kernel, all in the default stream.
  Region serial() {
    Region r;
    r.name = "serial";
    r.clock = Clock::event;  // a gate would hold the blocking copy, and with it the host that is to open it
    r.streams = {default_stream_};
    r.operations = 3;
    r.submit = [this] {
      payload_.copy_in_blocking();
      payload_.launch(payload_.whole(), default_stream_);
      payload_.copy_out_blocking();
    };
    return r;
  }

  Region pipeline() {
    return gated("pipeline", pipeline_streams_, 3 * payload_.chunks().size(),
                 [this] { breadth_first_ ? submit_breadth_first() : submit_depth_first(); });
  }

  /// The pipeline's fan-out and fan-in around next to nothing: a kernel of one element in each stream. Without any work
  /// the driver leaves out the waits, and the result would be too good to be true.
  Region fork_join() {
    return gated("fork-join", pipeline_streams_, pipeline_streams_.size(), [this] {
      for (const StreamHandle stream : pipeline_streams_) payload_.launch_trifle(stream);
    });
  }

  /// Runs each region once on poisoned memory and checks the result. Throws VerificationError.
  void verify() {
    payload_.poison_all();
    run_once(device_, h2d());
    run_once(device_, kernel_alone());
    run_once(device_, d2h());
    payload_.check("h2d, kernel and d2h");

    // Both directions: what came back was right on the device before; what went in shows in what follows from it.
    payload_.poison_host_out();
    payload_.poison_device_in();
    run_once(device_, both());
    payload_.check("both directions, D2H");
    payload_.poison_host_out();
    payload_.poison_device_out();
    run_once(device_, kernel_alone());
    run_once(device_, d2h());
    payload_.check("both directions, H2D");

    for (const Region& region : {serial(), pipeline()}) {
      payload_.poison_all();
      run_once(device_, region);
      payload_.check(region.name);
    }
  }

  /// Once more after the timed passes, and as they run: a dependency that only holds while the host submits slowly
  /// shows here. Everything is poisoned, because the buffers hold right results from the passes before.
  void verify_at_full_speed() {
    payload_.poison_all();
    run_at_full_speed(device_, pipeline());
    payload_.check("pipeline at full speed");
  }

 private:
  static Region gated(std::string name, std::vector<StreamHandle> streams, std::size_t operations,
                      std::function<void()> submit) {
    Region r;
    r.name = std::move(name);
    r.clock = Clock::event_gated;
    r.streams = std::move(streams);
    r.operations = operations;
    r.submit = std::move(submit);
    return r;
  }

  /// Made once: a mark for profilers is to cost the submission nothing.
  static std::vector<std::string> names_of_chunks(std::size_t count) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) names.push_back("chunk " + std::to_string(i));
    return names;
  }

  [[nodiscard]] StreamHandle stream_of(std::size_t chunk) const { return streams_[chunk % streams_.size()]; }

  /// Chunk after chunk: copy in, work, copy out.
  void submit_depth_first() {
    const auto chunks = payload_.chunks();
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      const Range mark(device_, chunk_names_[i].c_str());
      payload_.copy_in(chunks[i], stream_of(i));
      payload_.launch(chunks[i], stream_of(i));
      payload_.copy_out(chunks[i], stream_of(i));
    }
  }

  /// Stage after stage, for as many chunks at a time as there are streams.
  void submit_breadth_first() {
    const auto chunks = payload_.chunks();
    for (std::size_t wave = 0; wave < chunks.size(); wave += streams_.size()) {
      const std::size_t end = std::min(wave + streams_.size(), chunks.size());
      const Range mark(device_, chunk_names_[wave].c_str());
      for (std::size_t i = wave; i < end; ++i) payload_.copy_in(chunks[i], stream_of(i));
      for (std::size_t i = wave; i < end; ++i) payload_.launch(chunks[i], stream_of(i));
      for (std::size_t i = wave; i < end; ++i) payload_.copy_out(chunks[i], stream_of(i));
    }
  }

  Device& device_;
  bool breadth_first_;
  ChunkedWork payload_;
  std::vector<std::string> chunk_names_ = names_of_chunks(payload_.chunks().size());
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
    pipeline.payload().set_work(work);
    return quick_time(bench, pipeline.kernel_alone());
  });
  pipeline.payload().set_work(found.work);
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
         .min = ChunkedWork::kElement},
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

  [[nodiscard]] std::optional<HeatMap> heat_map() const override { return HeatMap{"streams", "chunks", "efficiency"}; }

  [[nodiscard]] std::optional<std::string> objection(const Case& c) const override {
    return ChunkedWork::objection(c.count("size"), c.count("chunks"));
  }

  [[nodiscard]] bool has_timeline() const override { return true; }

  [[nodiscard]] MemoryNeeds needs(const Case& c) const override {
    const std::uint64_t size = c.count("size");
    return {2 * size, c.word("kernel") == "vector-add" ? 3 * size : 2 * size};
  }

  void run(const Case& c, const Bench& bench, Result& result) const override {
    Pipeline pipeline(c, bench);
    const Capabilities& can = bench.device.capabilities();
    if (bench.verify || can.moves_data_when_timed) pipeline.payload().prepare();
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
    result.add("work", pipeline.payload().work(), "operations/element");
    const bool sampled = std::ranges::none_of(series, [](const Series& s) { return s.elapsed.samples.empty(); });
    if (sampled) derive(c.count("size"), can.environment.gpu.copy_engines, result);
    if (bench.verify) pipeline.verify_at_full_speed();
    if (sampled) bench.trace_region(pipeline.pipeline(), result);
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
