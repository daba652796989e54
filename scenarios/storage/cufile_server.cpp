#include "scenarios/storage/cufile_server.hpp"

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <exception>
#include <thread>

#include "core/clock.hpp"
#include "core/error.hpp"
#include "device/cufile.hpp"
#include "device/open.hpp"
#include "scenarios/common/slot_workers.hpp"
#include "scenarios/storage/case.hpp"
#include "scenarios/storage/cufile_protocol.hpp"
#include "scenarios/storage/parts.hpp"

namespace xferbench {

namespace {

class CufileGpuMemory final : public CufileMemory {
 public:
  CufileGpuMemory(int gpu, std::size_t bytes)
      // No NUMA binding of its own: this process has inherited the binding of its parent.
      : machine_(open_gpus({.numbers = {gpu}}, {.kind = NumaPolicy::Kind::none})),
        buffer_(machine_->device().allocate_device(bytes)) {}

  [[nodiscard]] std::byte* data() override { return buffer_.data; }
  void fill(std::byte value) override { machine_->device().fill_and_wait(buffer_, value); }
  void fetch(std::span<std::byte> to, std::uint64_t offset) override {
    machine_->device().copy_and_wait({to.data(), buffer_.data + offset, to.size(), Direction::d2h});
  }
  [[nodiscard]] HostRuntime& host() override { return machine_->host(); }

 private:
  std::unique_ptr<Machine> machine_;
  DeviceBuffer buffer_;
};

/// Serves one file. Never destroyed, because cuFile may still use the memory while an error is handled.
class CufileServer : NonCopyable {
 public:
  CufileServer(const MakeCufileMemory& make, const std::vector<std::string>& places) : make_(make), places_(places) {}

  void answer(const CufileRequest& request, CufileAnswer& answer) {
    switch (request.kind) {
      case CufileRequest::Kind::open: open(request); break;
      case CufileRequest::Kind::load: load(answer); break;
      case CufileRequest::Kind::fill: memory_->fill(request.value); break;
      case CufileRequest::Kind::fetch: memory_->fetch(shared_->bytes().first(request.bytes), request.offset); break;
      case CufileRequest::Kind::count: answer.paths = cufile_->paths(); break;
    }
    answer.device_bytes = memory_->host().files().bytes_from_device();
  }

 private:
  void open(const CufileRequest& request) {
    constexpr std::size_t kGpuPage = 64 * KiB;  // GPU memory is pinned in pages of this size
    const std::size_t bytes = (request.bytes + kGpuPage - 1) / kGpuPage * kGpuPage;
    memory_ = make_(bytes);
    shared_.emplace(kCufileShared);
    cufile_.emplace(places_);
    cufile_->use_file(kCufileFile);
    cufile_->use_memory(memory_->data(), bytes);
    StorageCase c;
    c.size = request.bytes;
    c.request = request.request;
    c.threads = request.threads;
    chunks_.emplace(PartTable(0, {c.size}, false).chunks(c.chunk_bytes()));
    reading_.resize(request.threads);
    threads_.emplace(memory_->host(), request.threads, Worker::Idle::sleep);
  }

  void load(CufileAnswer& answer) {
    const HostRuntime& host = memory_->host();
    chunks_->restart();
    first_ = 0;
    const double cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);  // of all threads, including cuFile's
    const double begun = host.now();
    threads_->start([&](std::size_t thread) {
      reading_[thread] = 0;
      while (const model::Chunk* const chunk = chunks_->take()) {
        const double asked = host.now();
        cufile_->read(chunk->first, chunk->count);
        const double read = host.now();
        reading_[thread] += read - asked;
        double none = 0;
        first_.compare_exchange_strong(none, read - begun);
      }
    });
    threads_->finish();
    answer.first = first_;
    answer.cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    for (const double seconds : reading_) answer.reading += seconds;
  }

  const MakeCufileMemory& make_;
  const std::vector<std::string>& places_;
  std::unique_ptr<CufileMemory> memory_;
  std::optional<CufileShared> shared_;
  std::optional<Cufile> cufile_;
  std::optional<ChunkQueue> chunks_;
  std::vector<double> reading_;   // seconds of each thread
  std::atomic<double> first_{0};  // seconds
  std::optional<WorkerThreads> threads_;
};

/// Starts a thread that ends this process when the other process has ended, even if the library hangs.
void end_with_the_other_process() {
  std::thread([] {
    pollfd gone{.fd = kCufileChannel, .events = POLLRDHUP, .revents = 0};
    while (poll(&gone, 1, -1) <= 0) {
    }
    _exit(static_cast<int>(ExitCode::ok));
  }).detach();
}

}  // namespace

MakeCufileMemory cufile_memory_on_gpu(int gpu) {
  return [gpu](std::size_t bytes) { return std::make_unique<CufileGpuMemory>(gpu, bytes); };
}

void serve_cufile(const MakeCufileMemory& make, const std::vector<std::string>& places) {
  int kind = 0;
  socklen_t length = sizeof kind;
  if (getsockopt(kCufileChannel, SOL_SOCKET, SO_TYPE, &kind, &length) != 0) {
    throw UsageError(std::string(kCufileArgument) + " is started by the program itself; use storage --way cufile");
  }
  end_with_the_other_process();
  CufileRequest request;
  // No file can be created in /proc, so cuFile cannot leave a log in the current folder.
  if (chdir("/proc") != 0) _exit(static_cast<int>(ExitCode::failed));
  CufileServer server(make, places);
  while (receive_message(kCufileChannel, request)) {
    CufileAnswer answer;
    try {
      server.answer(request, answer);
    } catch (const std::exception& error) {
      const std::string text = message_of(error);
      std::copy_n(text.begin(), std::min(text.size(), answer.error.size() - 1), answer.error.begin());
    }
    if (!send_message(kCufileChannel, answer)) break;
  }
  _exit(static_cast<int>(ExitCode::ok));  // without cuFile's own clean-up, which may crash
}

}  // namespace xferbench
