#include "ranks/gpu_probe.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <system_error>
#include <vector>

#include "core/child_process.hpp"
#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "ranks/timed_collectives.hpp"

namespace xferbench {

namespace {

/// Returns the first line that is in the pipe now. Does not wait for more data, because another process may still hold
/// the write end open.
std::string text_in(int pipe) {
  std::string text;
  std::array<char, 512> some{};
  pollfd there{.fd = pipe, .events = POLLIN, .revents = 0};
  while (text.size() < some.size() && poll(&there, 1, 0) > 0) {
    const ssize_t length = read(pipe, some.data(), some.size());
    if (length <= 0) break;
    text.append(some.data(), static_cast<std::size_t>(length));
  }
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::string why_mpi_takes_no_gpu_memory(int gpu, double timeout) {
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return fmt::format("cannot create a pipe to the process that tests it: {}", strerror(errno));
  const Descriptor reading(ends[0]);
  std::optional<ChildProcess> child;
  try {
    const Descriptor writing(ends[1]);
    const InheritedDescriptor output{writing.number(), STDOUT_FILENO};
    child.emplace(kOwnProgram, std::vector<std::string>{"xferbench", kGpuProbeArgument, std::to_string(gpu)},
                  std::span(&output, 1));
  } catch (const std::system_error& error) {
    return fmt::format("the process that tests it cannot be started: {}", error.what());
  }
  const std::optional<int> status = child->wait(timeout);
  if (!status) return fmt::format("the process that tested it did not end within {} s", timeout);
  return probe_result(*status, text_in(reading.number()));
}

std::string probe_result(int status, const std::string& said) {
  if (WIFSIGNALED(status)) return fmt::format("the process that tested it was killed by signal {}", WTERMSIG(status));
  switch (WEXITSTATUS(status)) {
    case static_cast<int>(ExitCode::ok): return {};
    case static_cast<int>(ExitCode::no_device):
      return "not tested, because a second process cannot use the GPU; if it is in exclusive mode, let several use it "
             "(nvidia-smi --compute-mode=DEFAULT)";
    default: break;
  }
  return said.empty() ? fmt::format("the process that tested it ended with exit code {}", WEXITSTATUS(status)) : said;
}

std::string try_gpu_memory(Communicator& alone, Device& device, double timeout) {
  constexpr std::size_t kBytes = std::size_t{4} << 20;  // so large that MPI does not copy the message through a buffer
  constexpr int kTag = 1;
  const HostBuffer host = device.allocate_host(kBytes, HostMemory::pageable);
  const DeviceBuffer source = device.allocate_device(kBytes);
  const DeviceBuffer destination = device.allocate_device(kBytes);
  const std::span<std::byte> bytes(host.data, kBytes);
  const auto expected = [](std::size_t i) { return static_cast<std::byte>((i * 2654435761U) >> 24U); };
  const auto put = [&](const DeviceBuffer& memory) {
    device.copy_and_wait({memory.data, host.data, kBytes, Direction::h2d});
  };
  for (std::size_t i = 0; i < kBytes; ++i) bytes[i] = ~expected(i);
  put(destination);
  for (std::size_t i = 0; i < kBytes; ++i) bytes[i] = expected(i);
  put(source);
  for (const std::size_t length : {std::size_t{1024}, kBytes}) {
    const PendingPtr received = alone.receive(alone.rank(), kTag, {destination.data, length});
    const PendingPtr sent = alone.send(alone.rank(), kTag, {source.data, length});
    const Timeout waiting{.seconds = timeout};
    wait_for(*sent, waiting, "sending GPU memory");
    wait_for(*received, waiting, "receiving GPU memory");
  }
  std::ranges::fill(bytes, std::byte{});
  device.copy_and_wait({host.data, destination.data, kBytes, Direction::d2h});
  for (std::size_t i = 0; i < kBytes; ++i) {
    if (bytes[i] != expected(i)) return fmt::format("received byte {} is wrong", i);
  }
  return {};
}

}  // namespace xferbench
