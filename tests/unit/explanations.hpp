// Made-up explanations for tests of reports.
#pragma once

#include "core/units.hpp"
#include "explain/explanation.hpp"

namespace xferbench::test {

/// A limit curve of one direction and kind of memory: `rate` in GB/s, `latency` in seconds.
inline explain::LimitCurve limit_curve(recording::CopyKind kind, recording::Memory host, double rate, double latency) {
  explain::LimitCurve curve{.kind = kind, .host = host, .points = {}};
  for (std::uint64_t bytes = 4; bytes <= 256 * MiB; bytes *= 8) {
    curve.points.push_back({bytes, latency + static_cast<double>(bytes) / rate / 1e9});
  }
  return curve;
}

inline explain::Explanation of_machine(explain::ProcessExplanation process) {
  using recording::CopyKind;
  using recording::Memory;
  return {.command = {"python3", "train.py"},
          .limits_of = "NVIDIA H200, driver 580.95, measured 2026-11-23",
          .limits = {limit_curve(CopyKind::h2d, Memory::pinned, 55.5, 1.2e-6),
                     limit_curve(CopyKind::h2d, Memory::pageable, 11.8, 8e-6),
                     limit_curve(CopyKind::d2h, Memory::pinned, 55.1, 1.3e-6),
                     limit_curve(CopyKind::d2h, Memory::pageable, 9.2, 9e-6)},
          .baseline_runs = {53.1e-3, 52.9e-3, 53e-3},
          .profiled_runs = {54.5e-3},
          .processes = {std::move(process)}};
}

inline std::vector<explain::Finding> torch_findings() {
  using explain::FindingKind;
  return {
      {.kind = FindingKind::pageable,
       .what = "64 copies of 4 MiB to the GPU read from pageable memory: 11.40 GB/s; pinned memory would reach 53.80 "
               "GB/s; the host waits for them",
       .fix = "Pin the source (cudaMallocHost, cudaHostRegister; PyTorch: pin_memory()) and copy with "
              "cudaMemcpyAsync on a stream (non_blocking=True)",
       .assumption =
           "The memory is pinned once, outside of the analyzed range, and is not overwritten before the copy has ended",
       .place = {.call = "cudaMemcpyAsync",
                 .range = "step",
                 .kernel_before = "elementwise_kernel<float>",
                 .kernel_after = "ampere_sgemm_128x64_tn",
                 .stack = {"at::native::copy_kernel_cuda", "at::native::copy_", "at::_ops::_to_copy::call",
                           "THPVariable_to", "_PyEval_EvalFrameDefault", "main"}},
       .count = 64,
       .bytes = 64 * 4 * MiB,
       .each_size = 4 * MiB,
       .seconds_after = 31.2e-3,
       .seconds_after_all = 31.2e-3,
       .share = 0.41},
      {.kind = FindingKind::result_wait,
       .what = "The host waits 64 times for a result of 4 B (10.1 ms in total)",
       .fix = "Keep results on the GPU and read them once (PyTorch: sum losses on the GPU, one .item() at the end)",
       .assumption = "Nothing that the host does next depends on them",
       .place = {.call = "cudaStreamSynchronize", .range = "step"},
       .count = 64,
       .bytes = 256,
       .at_most = false,
       .seconds_after = 45.1e-3,
       .seconds_after_all = 23e-3,
       .share = 0.15},
      {.kind = FindingKind::no_overlap,
       .what = "Copies to the GPU and kernels run in turn",
       .fix = "Copy the next batch on a second stream while this one is worked on",
       .assumption = "There is room for two batches",
       .place = {.call = "cudaMemcpyAsync", .range = "step"},
       .count = 128,
       .bytes = 64 * 4 * MiB,
       .at_most = true,
       .seconds_after = 51.2e-3,
       .seconds_after_all = 19.1e-3,
       .share = 0.07}};
}

inline explain::Timeline torch_timeline() {
  using explain::Track;
  explain::Timeline timeline{.from = 0, .to = 2.5e-3, .spans = {}};
  for (int step = 0; step < 3; ++step) {
    const double at = 0.8e-3 * step;
    timeline.spans.push_back({Track::ranges, 77, 0, "step", 0, at, at + 0.79e-3});
    timeline.spans.push_back({Track::calls, 77, 0, "cudaMemcpyAsync", 0, at + 1e-6, at + 0.38e-3});
    timeline.spans.push_back({Track::h2d, 7, 0, "copy H2D", 4 * MiB, at + 10e-6, at + 0.378e-3});
    timeline.spans.push_back({Track::kernel, 7, 0, "ampere_sgemm_128x64_tn", 0, at + 0.4e-3, at + 0.6e-3});
    timeline.spans.push_back({Track::d2h, 7, 0, "copy D2H", 4, at + 0.61e-3, at + 0.612e-3});
    timeline.spans.push_back({Track::calls, 77, 0, "cudaStreamSynchronize", 0, at + 0.5e-3, at + 0.64e-3});
  }
  return timeline;
}

/// PyTorch copies 64 batches from pageable memory and waits for each loss.
inline explain::Explanation torch_loop() {
  using recording::CopyKind;
  using recording::Memory;
  explain::ProcessExplanation process{
      .pid = 4711,
      .command = "python3 train.py",
      .gpus = {"NVIDIA H200"},
      .window_summary = {.range = "epoch", .times = 1, .seconds = 54.5e-3, .baseline = 53e-3, .replayed = 54.2e-3},
      .counts = {.copies = 128, .kernels = 640, .fills = 0, .calls = 1600, .waits = 128, .graph_nodes = 0},
      .shares = {.kernels = 11.1e-3,
                 .copies = 23.6e-3,
                 .both = 0,
                 .waiting = 9.7e-3,
                 .calls = 4.2e-3,
                 .loading = 0,
                 .program = 4.4e-3,
                 .profiling = 1.5e-3},
      .findings = torch_findings(),
      .small_findings = 2};
  process.traffic = {
      {CopyKind::h2d, Memory::pageable, 4 * MiB, 4 * MiB, 64, 64 * 4 * MiB, 23.5e-3, 23.5e-3, 22.8e-3, 4.92e-3},
      {CopyKind::d2h, Memory::pageable, 4, 4, 64, 256, 99e-6, 99e-6, 83e-6, 82e-6}};
  process.cloud = {{CopyKind::h2d, Memory::pageable, 4 * MiB, 367e-6, 60},
                   {CopyKind::h2d, Memory::pageable, 4 * MiB, 420e-6, 4},
                   {CopyKind::d2h, Memory::pageable, 4, 1.5e-6, 64}};
  process.timeline = torch_timeline();
  return of_machine(std::move(process));
}

/// The same loop with pinned memory and without waits.
inline explain::Explanation fixed_loop() {
  using recording::CopyKind;
  using recording::Memory;
  explain::ProcessExplanation process{
      .pid = 4720,
      .command = "python3 mended.py",
      .gpus = {"NVIDIA H200"},
      .notes = {"12 operations have no timestamps and are left out"},
      .window_summary = {.seconds = 22.4e-3, .replayed = 22.5e-3},
      .counts = {.copies = 65, .kernels = 640, .fills = 0, .calls = 1400, .waits = 1, .graph_nodes = 0},
      .shares = {.kernels = 14.4e-3, .copies = 5e-3, .calls = 1.9e-3, .loading = 0.1e-3, .program = 1e-3},
      .small_findings = 1};
  process.traffic = {{CopyKind::h2d, Memory::pinned, 1 * MiB, 4 * MiB, 64, 61 * 4 * MiB, 5e-3, 5e-3, 4.9e-3, 4.9e-3},
                     {CopyKind::d2d, Memory::device, 4 * KiB, 4 * KiB, 1, 4 * KiB, 2e-6, 2e-6, {}, {}}};
  explain::Explanation e = of_machine(std::move(process));
  e.baseline_runs.clear();
  e.profiled_runs.clear();
  return e;
}

}  // namespace xferbench::test
