// memcpy: one copy at a time, or one in each direction at once. What the link gives, before any pipeline.
#include <array>
#include <optional>
#include <string>

#include "core/error.hpp"
#include "core/units.hpp"
#include "measure/pattern.hpp"
#include "measure/statistics.hpp"
#include "measure/worker.hpp"
#include "model/bounds.hpp"
#include "run/findings.hpp"
#include "run/scenario.hpp"

namespace xferbench {

namespace {

enum class Route { h2d, d2h, d2d, bidirectional };

Route route_of(const Case& c) {
  const std::string& dir = c.word("dir");
  if (dir == "h2d") return Route::h2d;
  if (dir == "d2h") return Route::d2h;
  return dir == "d2d" ? Route::d2d : Route::bidirectional;
}

/// Copies inside the GPU have no host axis; their host buffers only prepare and check.
HostMemory host_memory_of(const Case& c) {
  return c.has("host") && c.word("host") == "pinned" ? HostMemory::pinned : HostMemory::pageable;
}

/// The buffers of one case, and its copies as regions. host_in goes to device_in, device_out comes to host_out.
class Copies {
 public:
  Copies(const Case& c, const Bench& bench)
      : device_(bench.device),
        route_(route_of(c)),
        pageable_(host_memory_of(c) == HostMemory::pageable && route_ != Route::d2d),
        bytes_(c.count("size")),
        seed_(bench.seed),
        host_in_(device_.allocate_host(bytes_, host_memory_of(c))),
        host_out_(device_.allocate_host(bytes_, host_memory_of(c))),
        streams_{device_.make_stream(StreamKind::nonblocking), device_.make_stream(StreamKind::nonblocking)} {
    if (route_ != Route::d2h) device_in_ = device_.allocate_device(bytes_);
    if (route_ != Route::h2d) device_out_ = device_.allocate_device(bytes_);
  }

  /// Real data everywhere a timed copy reads from: copies of zeros can be faster than copies of data.
  void prepare() {
    if (route_ == Route::d2h || route_ == Route::bidirectional) {
      pattern::fill_bytes({host_in_->data, bytes_}, outbound_seed());
      device_.copy_blocking({device_out_->data, host_in_->data, bytes_, Direction::h2d});
    }
    pattern::fill_bytes({host_in_->data, bytes_}, inbound_seed());
    if (route_ == Route::d2d) device_.copy_blocking({device_in_->data, host_in_->data, bytes_, Direction::h2d});
  }

  void poison() {
    pattern::poison({host_out_->data, bytes_});
    const StreamHandle stream = streams_[0];
    if (route_ == Route::h2d || route_ == Route::bidirectional) device_.fill(device_in_, pattern::kPoison, stream);
    if (route_ == Route::d2d) device_.fill(device_out_, pattern::kPoison, stream);
    device_.synchronize();
  }

  /// Throws VerificationError unless every byte arrived where the route leads.
  void check() {
    if (route_ == Route::d2h || route_ == Route::bidirectional) check_host_out(outbound_seed(), "D2H");
    if (route_ == Route::h2d || route_ == Route::bidirectional) fetch_and_check(device_in_, "H2D");
    if (route_ == Route::d2d) fetch_and_check(device_out_, "D2D");
  }

  Region region() {
    Region r;
    r.name = "copy";
    // Never a gate around pageable copies: the call would wait for a gate that is opened after it.
    r.clock = pageable_ ? Clock::event : Clock::event_gated;
    r.streams = {streams_[0]};
    switch (route_) {
      case Route::h2d: r.submit = [this] { copy_in(streams_[0]); }; break;
      case Route::d2h: r.submit = [this] { copy_out(streams_[0]); }; break;
      case Route::d2d: r.submit = [this] { copy_inside(); }; break;
      case Route::bidirectional: make_bidirectional(r); break;
    }
    return r;
  }

 private:
  [[nodiscard]] std::uint64_t inbound_seed() const { return seed_; }
  [[nodiscard]] std::uint64_t outbound_seed() const { return seed_ + 1; }

  void copy_in(StreamHandle stream) {
    device_.copy({device_in_->data, host_in_->data, bytes_, Direction::h2d}, stream);
  }
  void copy_out(StreamHandle stream) {
    device_.copy({host_out_->data, device_out_->data, bytes_, Direction::d2h}, stream);
  }
  void copy_inside() { device_.copy({device_out_->data, device_in_->data, bytes_, Direction::d2d}, streams_[0]); }

  void make_bidirectional(Region& r) {
    r.streams = {streams_[0], streams_[1]};
    r.operations = 2;
    r.per_stream = true;
    r.submit = [this] {
      copy_in(streams_[0]);
      copy_out(streams_[1]);
    };
    if (!pageable_) return;
    worker_.emplace([this] { device_.attach_thread(); });
    r.submit = [this] {
      worker_->start([this] { copy_out(streams_[1]); });
      copy_in(streams_[0]);
      worker_->finish();
    };
  }

  void fetch_and_check(const DeviceRange& source, const char* what) {
    pattern::poison({host_out_->data, bytes_});
    device_.copy_blocking({host_out_->data, source.data, bytes_, Direction::d2h});
    check_host_out(inbound_seed(), what);
  }

  void check_host_out(std::uint64_t seed, const char* what) {
    const auto wrong = pattern::check_bytes({host_out_->data, bytes_}, seed);
    if (wrong) throw VerificationError(std::string(what) + " copy: " + wrong->describe());
  }

  Device& device_;
  Route route_;
  bool pageable_;
  std::size_t bytes_;
  std::uint64_t seed_;
  HostBuffer host_in_;
  HostBuffer host_out_;
  DeviceBuffer device_in_;
  DeviceBuffer device_out_;
  std::array<Stream, 2> streams_;
  std::optional<Worker> worker_;
};

/// Times of one stream of the region as a measurement of its own.
Measurement stream_measurement(const Series& series, std::size_t stream, std::string name) {
  Measurement m = series.elapsed;
  m.name = std::move(name);
  m.flags.clear();
  m.samples.clear();
  for (const auto& times : series.stream_times) m.samples.push_back(times[stream]);
  statistics::summarise(m);
  return m;
}

/// Data this many times as large as the L2 cache is mostly not in it.
constexpr std::uint64_t kTimesCache = 4;

double gigabytes_per_second(std::size_t bytes, double seconds) { return static_cast<double>(bytes) / seconds / 1e9; }

class Memcpy final : public Scenario {
 public:
  [[nodiscard]] std::string_view name() const override { return "memcpy"; }
  [[nodiscard]] std::string_view summary() const override {
    return "copies between host and GPU, one way or both at once, and inside the GPU";
  }

  [[nodiscard]] std::span<const Axis> axes() const override {
    static const std::array<Axis, 3> axes{{
        {.name = "dir",
         .kind = AxisKind::choice,
         .defaults = "h2d,d2h,d2d,bidirectional",
         .help = "where from and where to; bidirectional is H2D and D2H at once",
         .choices = {"h2d", "d2h", "d2d", "bidirectional"}},
        {.name = "host",
         .kind = AxisKind::choice,
         .defaults = "pinned,pageable",
         .help = "kind of host memory",
         .choices = {"pinned", "pageable"},
         .not_for_axis = "dir",
         .not_for_value = "d2d"},
        {.name = "size", .kind = AxisKind::size, .defaults = "256M", .help = "bytes per direction"},
    }};
    return axes;
  }

  [[nodiscard]] std::span<const Column> columns() const override {
    using S = Column::Source;
    static const std::array<Column, 8> columns{{
        {"time", S::time, "copy"},
        {"+-", S::interval, "copy"},
        {"GB/s", S::metric, "bandwidth"},
        {"H2D GB/s", S::metric, "h2d_bandwidth"},
        {"D2H GB/s", S::metric, "d2h_bandwidth"},
        {"limit GB/s", S::metric, "limit"},
        {"of limit", S::percent, "of_limit"},
        {"host blocked", S::seconds, "host_blocked"},
    }};
    return columns;
  }

  [[nodiscard]] MemoryNeeds needs(const Case& c) const override {
    const std::uint64_t size = c.count("size");
    const Route route = route_of(c);
    return {2 * size, route == Route::h2d || route == Route::d2h ? size : 2 * size};
  }

  [[nodiscard]] std::optional<std::string> unsupported(const Case& c, const Capabilities& can) const override {
    if (!can.one_host_thread || route_of(c) != Route::bidirectional || host_memory_of(c) == HostMemory::pinned) {
      return std::nullopt;
    }
    return "both directions of pageable memory need two host threads, and the simulated host models one";
  }

  void run(const Case& c, const Bench& bench, Result& result) const override {
    Copies copies(c, bench);
    if (bench.verify || bench.device.capabilities().moves_data_when_timed) copies.prepare();
    const Region region = copies.region();
    if (bench.verify) {
      copies.poison();
      run_once(bench.device, region);
      copies.check();
    }
    const Series series = bench.sample({region}).front();
    report(c, bench.device.capabilities().environment, series, result);
    if (bench.verify) {
      copies.poison();
      run_at_full_speed(bench.device, region);
      copies.check();
    }
  }

  [[nodiscard]] std::vector<Finding> conclude(std::span<const Result* const> results) const override {
    return fits_and_crossovers(paths(results, "copy"), "host");
  }

 private:
  static void report(const Case& c, const Environment& environment, const Series& series, Result& result) {
    result.measurements = {series.elapsed, series.submit};
    if (series.elapsed.samples.empty()) return;
    const Route route = route_of(c);
    const std::size_t size = c.count("size");
    const double directions = route == Route::bidirectional ? 2 : 1;
    const double bandwidth = directions * gigabytes_per_second(size, series.elapsed.median);
    result.add("bandwidth", bandwidth, "GB/s");
    if (!series.stream_times.empty()) {
      for (const auto& [name, stream] : {std::pair{"h2d", 0}, std::pair{"d2h", 1}}) {
        result.measurements.push_back(stream_measurement(series, static_cast<std::size_t>(stream), name));
        result.add(std::string(name) + "_bandwidth", gigabytes_per_second(size, result.measurements.back().median),
                   "GB/s");
      }
    }
    if (route == Route::d2d) result.add("memory_traffic", 2 * bandwidth, "GB/s");
    const bool cached = route == Route::d2d && 2 * size < kTimesCache * environment.gpu.l2_bytes;
    if (cached) {
      result.warnings.emplace_back("source and destination are not much larger than the L2 cache of " +
                                   format_size(environment.gpu.l2_bytes) +
                                   ": this is not the memory's rate; choose a larger --size");
    }
    const double limit = cached ? 0 : directions * payload_limit(route, environment.gpu) / 1e9;
    if (bandwidth > 1.05 * limit && limit > 0) {
      result.warnings.emplace_back(
          "faster than PCIe could be: this GPU is attached in another way, and its link's limit "
          "is not known");
    } else if (limit > 0) {
      result.add("limit", limit, "GB/s");
      result.add("of_limit", bandwidth / limit, "1");
    }
    result.add("host_blocked", series.submit.median, "s");
  }

  /// Bytes of payload per second and direction: of the link, or of the memory, which a copy reads and writes. 0 is
  /// unknown.
  static double payload_limit(Route route, const Environment::Gpu& gpu) {
    if (route == Route::d2d) return gpu.memory_bandwidth / 2;
    return gpu.pcie ? model::pcie_limit(gpu.pcie->generation, gpu.pcie->width) : 0;
  }
};

}  // namespace

const Scenario& memcpy_scenario() {
  static const Memcpy scenario;
  return scenario;
}

}  // namespace xferbench
