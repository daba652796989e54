#include "scenarios/scatter/movement.hpp"

#include <cmath>

#include "measure/pattern.hpp"
#include "results/metric_names.hpp"

namespace xferbench {

ScatterMovement::ScatterMovement(const ScatterCase& c, const RunContext& bench, const ScatterMovement* same_work)
    : device_(bench.device), machine_(bench.machine), kind_(c.beside) {
  for (std::size_t i = 0; i < c.directions.size(); ++i) {
    payloads_.push_back(same_work != nullptr
                            ? same_work->payloads_[i]
                            : std::make_shared<ScatteredPayload>(device_, c, c.directions[i], bench.seed + i));
    std::vector<Copy> copies = payloads_.back()->copies();
    if (c.merge) copies = merged(std::move(copies));
    copies_ = copies.size();
    movers_.push_back(make_piece_mover(device_, c, std::move(copies)));
    whole_.push_back(device_.make_stream(StreamKind::nonblocking));
  }
}

void ScatterMovement::prepare() {
  for (const auto& payload : payloads_) payload->prepare();
}

void ScatterMovement::verify(const Region& region) {
  for (const auto& payload : payloads_) payload->poison();
  run_once(machine_, region);
  check("pieces");
}

void ScatterMovement::check(std::string_view what) {
  for (const auto& payload : payloads_) payload->check(what);
}

double ScatterMovement::share_of_multiprocessors() const {
  return static_cast<double>(multiprocessors()) / device_.capabilities().environment.gpu.multiprocessors;
}

std::vector<StreamView> ScatterMovement::streams() const {
  return flat_list_of(movers_, [](const auto& mover) { return mover->streams(); });
}

std::size_t ScatterMovement::operations() const {
  return most_of(movers_, [](const auto& mover) { return mover->operations(); });
}

void ScatterMovement::submit() {
  // D2H is submitted first: its list of pieces is copied to the GPU, and would otherwise wait behind the H2D pieces.
  for (auto mover = movers_.rbegin(); mover != movers_.rend(); ++mover) (*mover)->submit();
  for (const auto& mover : movers_) mover->finish();
}

Region ScatterMovement::pieces() {
  const std::vector<StreamView> all = streams();
  Region region = stepped_region("scatter", {{.name = kSubmit}, {.name = "cpu"}}, [this, all](LapTimer& laps) {
    const HostRuntime& host = device_.host();
    const double begun = host.cpu_now();
    submit();
    laps.lap(0);
    double cpu = host.cpu_now() - begun;
    for (const auto& mover : movers_) cpu += mover->helpers_cpu_seconds();
    laps.add(1, cpu);
    for (const StreamView stream : all) stream.synchronize();
  });
  region.check = [this] { check("its output"); };
  return region;
}

Region ScatterMovement::whole() {
  return {.name = "whole-copy", .clock = Clock::host, .submit = [this] {
            for (std::size_t i = 0; i < payloads_.size(); ++i) whole_[i].copy(payloads_[i]->whole());
            for (const Stream& stream : whole_) stream.synchronize();
          }};
}

Region ScatterMovement::on_gpu() {
  Region region{.name = "on-gpu", .clock = Clock::event_gated, .streams = streams(), .submit = [this] { submit(); }};
  region.operations = operations();
  region.warmed_by_another = true;
  region.check = [this] { check("its output"); };
  return region;
}

Region ScatterMovement::kernels() {
  const StreamView stream = whole_.front();
  Region region{.name = "kernels", .clock = Clock::event_gated, .streams = {stream}, .submit = [this, stream] {
                  for (const auto& mover : movers_) mover->submit_kernels(stream);
                }};
  region.operations = movers_.size() * movers_.front()->operations();
  region.warmed_by_another = true;
  return region;
}

void ScatterMovement::make_busy(const RunContext& bench, double seconds) {
  const auto multiprocessors = static_cast<unsigned>(device_.capabilities().environment.gpu.multiprocessors);
  const auto bound =
      kind_ == Beside::memory ? kernels::BusyKernel::Bound::memory : kernels::BusyKernel::Bound::arithmetic;
  busy_memory_ = device_.allocate_device(kBusyBytes);
  device_.fill_and_wait(busy_memory_, std::byte{0});
  busy_stream_ = device_.make_stream(StreamKind::nonblocking);
  busy_begun_ = device_.make_event(EventKind::timing);
  busy_ended_ = device_.make_event(EventKind::timing);
  constexpr unsigned kProbe = 16;
  const std::span<std::byte> memory(busy_memory_.data, busy_memory_.bytes);
  busy_.emplace(bound, memory, kProbe, multiprocessors);
  device_.preload(*busy_);
  const double probe = sample_few(bench, std::vector{busy()}, 3).front().elapsed.median;
  if (probe <= 0) return;
  busy_.emplace(bound, memory, static_cast<unsigned>(std::ceil(kProbe * seconds / probe)), multiprocessors);
}

Region ScatterMovement::busy() {
  return {
      .name = "kernel-alone", .streams = {busy_stream_}, .submit = [this] { busy_stream_.launch(*busy_); }, .batch = 1};
}

Region ScatterMovement::beside() {
  constexpr double kHeadStart = 50e-6;  // seconds in which the kernel fills the GPU before the pieces are submitted
  const std::vector<StreamView> all = streams();
  Region region =
      stepped_region("kernel-and-pieces", {{.name = "kernel-beside", .clock = Clock::event}, {.name = "pieces-beside"}},
                     [this, all](LapTimer& laps) {
                       HostRuntime& host = device_.host();
                       busy_stream_.record(busy_begun_);
                       busy_stream_.launch(*busy_);
                       busy_stream_.record(busy_ended_);
                       host.wait_until(host.now() + kHeadStart);
                       const double begun = host.now();
                       for (unsigned pass = 0; pass < kPassesBeside; ++pass) submit();
                       for (const StreamView stream : all) stream.synchronize();
                       laps.add(1, host.now() - begun);
                       busy_stream_.synchronize();
                       laps.add(0, elapsed(busy_begun_, busy_ended_));
                     });
  region.check = [this] { check("its output"); };
  return region;
}

}  // namespace xferbench
