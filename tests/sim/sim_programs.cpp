// Implementation of sim_programs.hpp.
#include "sim/sim_programs.hpp"

#include <filesystem>
#include <utility>

#include "kernels/pieces.hpp"
#include "support/files.hpp"

namespace xferbench::test {

// --- The machine ----------------------------------------------------------------------------------------------------

namespace {

sim::Profile as_explain_knows(sim::Profile p) {
  p.h2d_duplex_overhead = p.d2h_duplex_overhead = 1;
  p.stream_switch = 0;
  return p;
}

}  // namespace

ProgramMachine::ProgramMachine(const RecordingRequest& request, std::string_view of_profile, std::vector<int> gpus)
    : profile_(as_explain_knows(profile(of_profile))), machine_(profile_, std::move(gpus)) {
  if (!request.folder.empty()) machine_.record(request, of_profile);
  machine_.set_data_movement(false);
}

HostView ProgramMachine::host(HostMemory kind, std::size_t bytes) {
  return host_.emplace_back(device().allocate_host(bytes, kind));
}

DeviceView ProgramMachine::gpu(std::size_t bytes) { return gpu_.emplace_back(device().allocate_device(bytes)); }

void ProgramMachine::steps(const std::function<void()>& body) {
  const double begin = machine_.host().now();
  const NvtxRange mark(machine_.tracer(), "steps");
  body();
  seconds_ = machine_.host().now() - begin;
}

RecordedProgram recorded(const SimProgram& program, RecordingRequest request, std::string_view of_profile,
                         std::vector<int> gpus) {
  const test::TemporaryFolder folder;
  request.folder = folder.path();
  RecordedProgram made;
  {
    ProgramMachine machine(request, of_profile, std::move(gpus));
    program(machine);
    made.seconds = machine.seconds();
  }
  made.recording = read_recording(std::filesystem::directory_iterator(folder.path())->path().string());
  return made;
}

double unrecorded_seconds(const SimProgram& program) {
  ProgramMachine machine({});
  program(machine);
  return machine.seconds();
}

explain::Costs simulated_costs() {
  const sim::Profile& p = profile("h200");
  explain::Costs costs;
  costs.copy = [&p](recording::CopyKind kind, recording::Memory host, std::uint64_t bytes) -> std::optional<double> {
    const bool in = kind == recording::CopyKind::h2d;
    const auto size = static_cast<double>(bytes);
    if (!in && kind != recording::CopyKind::d2h) return std::nullopt;
    if (host == recording::Memory::pageable) {
      return p.pageable_overhead + size / (in ? p.pageable_h2d_rate : p.pageable_d2h_rate);
    }
    return in ? p.h2d_overhead + size / p.h2d_rate : p.d2h_overhead + size / p.d2h_rate;
  };
  costs.duplex = {p.h2d_duplex_rate, p.d2h_duplex_rate};
  costs.asynchronous_copy = p.copy_call;
  costs.graph_launch = p.graph_call;
  costs.graph_node = p.graph_node;
  costs.handover = (p.copy_to_kernel + p.kernel_to_copy + p.copy_to_copy) / 3;
  costs.gather = 1 / p.host_copy_rate;
  costs.piece = [&p](recording::CopyKind kind, explain::PieceWay way,
                     std::uint64_t bytes) -> std::optional<explain::PieceCost> {
    if (way != explain::PieceWay::kernel) return std::nullopt;
    constexpr double kShare = 0.9;  // of the rate of one copy, about as the kernel reaches in this profile
    return explain::PieceCost{.result = static_cast<double>(bytes) / kShare /
                                        (kind == recording::CopyKind::h2d ? p.h2d_rate : p.d2h_rate)};
  };
  return costs;
}

// --- The programs ---------------------------------------------------------------------------------------------------

namespace {

constexpr std::size_t kBatch = 4 * MiB;

/// Copies batches from pageable memory with blocking calls, each for a kernel of 60 us, and one result back at the end.
void pageable_slow(ProgramMachine& m) {
  const HostView batch = m.host(HostMemory::pageable, kBatch);
  const DeviceView gpu = m.gpu(kBatch);
  const Stream stream = m.stream(StreamKind::legacy_default);
  m.steps([&] {
    for (int step = 0; step < 60; ++step) {
      m.work(5e-6);
      m.device().copy_blocking(copy_in(gpu, batch, 0, kBatch));
      launch(stream, 60e-6);
    }
    m.device().copy_blocking(copy_out(batch, gpu, 0, 8));
  });
}

void pageable_fixed(ProgramMachine& m) {
  const HostView batch = m.host(HostMemory::pinned, kBatch);
  const DeviceView gpu = m.gpu(kBatch);
  const Stream stream = m.stream();
  m.steps([&] {
    for (int step = 0; step < 60; ++step) {
      m.work(5e-6);
      stream.copy(copy_in(gpu, batch, 0, kBatch));
      launch(stream, 60e-6);
    }
    stream.copy(copy_out(batch, gpu, 0, 8));
    stream.synchronize();
  });
}

/// Batches go through H2D, kernel and D2H in `chunks` chunks on `streams` streams.
SimProgram chunked(std::size_t chunks, std::size_t streams) {
  return [=](ProgramMachine& m) {
    constexpr std::size_t kBytes = 16 * MiB;
    constexpr double kWorkSeconds = 250e-6;
    const HostView batch = m.host(HostMemory::pinned, kBytes);
    const DeviceView gpu = m.gpu(kBytes);
    std::vector<Stream> all(streams);
    for (Stream& stream : all) stream = m.stream();
    m.steps([&] {
      for (std::size_t i = 0; i < 20 * chunks; ++i) {
        const std::size_t bytes = kBytes / chunks;
        const std::size_t at = i % chunks * bytes;
        const Stream& stream = all[i % streams];
        stream.copy(copy_in(gpu, batch, at, bytes));
        launch(stream, kWorkSeconds / static_cast<double>(chunks));
        stream.copy(copy_out(batch, gpu, at, bytes));
      }
      m.device().synchronize();
    });
  };
}

/// Each step needs 256 rows of a table: copied one by one, or first gathered by the host.
SimProgram rows(bool gathered) {
  return [=](ProgramMachine& m) {
    constexpr std::size_t kRow = KiB;
    constexpr std::size_t kRowsOfStep = 256;
    const HostView table = m.host(HostMemory::pinned, kRowsOfStep * kRow);
    const DeviceView gpu = m.gpu(kRowsOfStep * kRow);
    const Stream stream = m.stream();
    m.steps([&] {
      for (int step = 0; step < 40; ++step) {
        if (gathered) {
          m.gather(kRowsOfStep * kRow);
          stream.copy(copy_in(gpu, table, 0, kRowsOfStep * kRow));
        } else {
          for (std::size_t i = 0; i < kRowsOfStep; ++i) stream.copy(copy_in(gpu, table, i * kRow, kRow));
        }
        launch(stream, 20e-6);
      }
      stream.synchronize();
    });
  };
}

constexpr std::size_t kBlock = 16 * KiB;
constexpr std::size_t kBlocks = 1024;

/// Moves blocks, by a kernel or each by a copy.
void move_blocks(const Stream& stream, const HostView& host, const DeviceView& gpu, Direction direction,
                 bool by_kernel) {
  auto blocks = std::make_shared<std::vector<Copy>>();
  for (std::size_t i = 0; i < kBlocks; ++i) {
    blocks->push_back(direction == Direction::h2d ? copy_in(gpu, host, i * kBlock, kBlock)
                                                  : copy_out(host, gpu, i * kBlock, kBlock));
  }
  if (by_kernel) return stream.launch(kernels::PieceCopy(kernels::PieceEngine::threads, blocks, *blocks, nullptr, 33));
  for (const Copy& block : *blocks) stream.copy(block);
}

/// Blocks of a cache go to the host and others come to their places, before a kernel works on them.
SimProgram cache(bool by_kernel) {
  return [=](ProgramMachine& m) {
    const HostView host = m.host(HostMemory::pinned, kBlocks * kBlock);
    const DeviceView gpu = m.gpu(kBlocks * kBlock);
    const Stream out = m.stream();
    const Stream in = m.stream();
    const Stream work = m.stream();
    const Event done = m.device().make_event(EventKind::ordering);
    const auto next = [&done](const Stream& first, const Stream& second) {
      first.record(done);
      second.wait(done);
    };
    m.steps([&] {
      for (int step = 0; step < 4; ++step) {
        move_blocks(out, host, gpu, Direction::d2h, by_kernel);
        next(out, in);
        move_blocks(in, host, gpu, Direction::h2d, by_kernel);
        next(in, work);
        launch(work, 100e-6);
        next(work, out);
      }
      work.synchronize();
    });
  };
}

/// Kernels of which only the last one's result is needed; `each`: the host waits for every one.
SimProgram kernels_waited_for(bool each) {
  return [=](ProgramMachine& m) {
    const Stream stream = m.stream();
    m.steps([&] {
      for (int step = 0; step < 400; ++step) {
        m.work(4e-6);
        launch(stream, 20e-6);
        if (each) stream.synchronize();
      }
      stream.synchronize();
    });
  };
}

/// Steps with a result of eight bytes each: read at once, or all at the end.
SimProgram results_read(bool each) {
  return [=](ProgramMachine& m) {
    const HostView results = m.host(HostMemory::pinned, kBatch);
    const DeviceView gpu = m.gpu(kBatch);
    const Stream stream = m.stream();
    m.steps([&] {
      for (std::size_t step = 0; step < 200; ++step) {
        m.work(10e-6);
        launch(stream, 40e-6);
        stream.copy(copy_out(results, gpu, 8 * step, 8));
        if (each) stream.synchronize();
      }
      stream.synchronize();
    });
  };
}

/// Several parts from pinned memory for one kernel, while the host prepares the next part.
SimProgram parts(bool blocking) {
  return [=](ProgramMachine& m) {
    const HostView part = m.host(HostMemory::pinned, kBatch);
    const DeviceView gpu = m.gpu(kBatch);
    const Stream stream = m.stream(blocking ? StreamKind::legacy_default : StreamKind::nonblocking);
    m.steps([&] {
      for (int step = 0; step < 60; ++step) {
        m.work(60e-6);
        const Copy copy = copy_in(gpu, part, 0, kBatch);
        blocking ? m.device().copy_blocking(copy) : stream.copy(copy);
      }
      launch(stream, 100e-6);
      m.device().synchronize();
    });
  };
}

/// Steps of many short kernels: launched one by one with host work in between, or as one graph.
SimProgram short_kernels(bool as_graph) {
  return [=](ProgramMachine& m) {
    const Stream stream = m.stream();
    const auto step = [&] {
      for (int i = 0; i < 50; ++i) {
        if (!as_graph) m.work(8e-6);
        launch(stream, 5e-6);
      }
    };
    Graph graph;
    if (as_graph) graph = stream.capture(step);
    m.steps([&] {
      for (int i = 0; i < 40; ++i) as_graph ? stream.replay(graph) : step();
      stream.synchronize();
    });
  };
}

/// Copies, and unrelated kernels in the default stream.
SimProgram beside_default_stream(StreamKind kind) {
  return [=](ProgramMachine& m) {
    const HostView batch = m.host(HostMemory::pinned, 2 * kBatch);
    const DeviceView gpu = m.gpu(2 * kBatch);
    const Stream stream = m.stream(kind);
    const Stream other = m.stream(StreamKind::legacy_default);
    m.steps([&] {
      for (int step = 0; step < 40; ++step) {
        stream.copy(copy_in(gpu, batch, 0, 2 * kBatch));
        launch(other, 150e-6);
      }
      m.device().synchronize();
    });
  };
}

/// Registers the memory of the batches for each step, or once.
SimProgram registered(bool each) {
  return [=](ProgramMachine& m) {
    const HostView batch = m.host(HostMemory::pageable_small, kBatch);
    const DeviceView gpu = m.gpu(kBatch);
    const Stream stream = m.stream();
    Registration pinned;
    if (!each) pinned = m.device().register_host(batch);
    m.steps([&] {
      for (int step = 0; step < 40; ++step) {
        if (each) pinned = m.device().register_host(batch);
        stream.copy(copy_in(gpu, batch, 0, kBatch));
        launch(stream, 100e-6);
        stream.synchronize();
        if (each) pinned.reset();
      }
    });
  };
}

}  // namespace

const std::vector<SimPrograms>& sim_programs() {
  static const std::vector<SimPrograms> all{
      {"pageable", {explain::FindingKind::pageable}, pageable_slow, pageable_fixed, -0.032},
      {"serial", {explain::FindingKind::no_overlap}, chunked(1, 1), chunked(16, 4), 0.003},
      {"small", {explain::FindingKind::small_copies}, rows(false), rows(true), -0.107},
      {"cache", {explain::FindingKind::small_copies}, cache(false), cache(true), 0.001},
      {"wait", {explain::FindingKind::needless_wait}, kernels_waited_for(true), kernels_waited_for(false), -0.054},
      {"result", {explain::FindingKind::result_wait}, results_read(true), results_read(false), -0.091},
      {"blocking", {explain::FindingKind::blocking_copy}, parts(true), parts(false), 0.011},
      {"launches", {explain::FindingKind::launch_bound}, short_kernels(false), short_kernels(true), 0.049},
      {"default-stream",
       {explain::FindingKind::default_stream},
       beside_default_stream(StreamKind::blocking),
       beside_default_stream(StreamKind::nonblocking),
       0.022},
      {"setup", {explain::FindingKind::setup}, registered(true), registered(false), 0}};
  return all;
}

}  // namespace xferbench::test
