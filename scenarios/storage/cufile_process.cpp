#include "scenarios/storage/cufile_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/error.hpp"

namespace xferbench {

namespace {

/// Returns the parent's and the child's end of a channel.
std::pair<Descriptor, Descriptor> cufile_channel() {
  std::array<int, 2> ends{-1, -1};
  // SOCK_SEQPACKET keeps message boundaries and reports when the other process has ended.
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot make a channel to the process of cuFile");
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

Descriptor cufile_shared_file() {
  Descriptor file(memfd_create("xferbench", MFD_CLOEXEC));
  if (!file || ftruncate(file.number(), static_cast<off_t>(kCufileSharedBytes)) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot make memory to share with the process of cuFile");
  }
  return file;
}

/// Waits until there is something to read, or the other end is gone. Returns false after `seconds`.
bool wait_for_input(int descriptor, double seconds) {
  using Steady = std::chrono::steady_clock;
  const auto begun = Steady::now();
  for (;;) {
    const double left = seconds - std::chrono::duration<double>(Steady::now() - begun).count();
    pollfd input{.fd = descriptor, .events = POLLIN, .revents = 0};
    const int found = poll(&input, 1, static_cast<int>(std::ceil(1e3 * std::max(left, 0.0))));
    if (found > 0) return true;
    if (left <= 0 || (found < 0 && errno != EINTR)) return false;
  }
}

}  // namespace

CufileProcess::CufileProcess(const StorageCase& c, int file, int gpu, const CufileSetting& setting)
    : setting_(setting), bytes_(c.size), shared_file_(cufile_shared_file()) {
  shared_.emplace(shared_file_.number());
  auto [here, there] = cufile_channel();
  channel_ = std::move(here);
  const std::array inherited{InheritedDescriptor{there.number(), kCufileChannel},
                             InheritedDescriptor{file, kCufileFile},
                             InheritedDescriptor{shared_file_.number(), kCufileShared}};
  child_.emplace(setting.program, std::vector<std::string>{"xferbench", kCufileArgument, std::to_string(gpu)},
                 inherited);
  there = Descriptor();  // closes the child's end here, so that only the child holds it
  ask({.kind = CufileRequest::Kind::open, .bytes = c.size, .request = c.request, .threads = c.threads}, "to start");
}

WorkTimes CufileProcess::load() {
  const CufileAnswer answer = ask({.kind = CufileRequest::Kind::load}, "to load the file");
  return {.moving = answer.reading, .cpu = answer.cpu, .first = answer.first};
}

void CufileProcess::fill(std::byte value) {
  ask({.kind = CufileRequest::Kind::fill, .value = value}, "to fill GPU memory");
}

void CufileProcess::fetch(std::span<std::byte> to, std::uint64_t offset) {
  while (!to.empty()) {
    const std::size_t bytes = std::min(to.size(), kCufileSharedBytes);
    ask({.kind = CufileRequest::Kind::fetch, .bytes = bytes, .offset = offset}, "to copy GPU memory");
    std::memcpy(to.data(), shared_->bytes().data(), bytes);
    to = to.subspan(bytes);
    offset += bytes;
  }
}

std::optional<CufilePaths> CufileProcess::paths() {
  return ask({.kind = CufileRequest::Kind::count}, "to count reads").paths;
}

CufileAnswer CufileProcess::ask(const CufileRequest& request, std::string_view what) {
  constexpr double kSlowestRate = 10e6;  // bytes per second
  if (!gone_.empty()) throw UnavailableError(gone_);
  CufileAnswer answer;
  const bool reads = request.kind == CufileRequest::Kind::load;
  const double limit = setting_.timeout + (reads ? static_cast<double>(bytes_) / kSlowestRate : 0);
  if (send_message(channel_.number(), request) && !wait_for_input(channel_.number(), limit)) {
    give_up(fmt::format("the process of cuFile took longer than {:.0f} s {}", limit, what));
  }
  if (!receive_message(channel_.number(), answer)) {
    give_up(fmt::format("the process of cuFile {} when it was {}", how_it_ended(), what));
  }
  if (answer.error.front() != '\0') throw UnavailableError(answer.error.data());
  device_bytes_ = answer.device_bytes;
  return answer;
}

void CufileProcess::give_up(const std::string& reason) {
  child_.reset();
  gone_ = reason + "; update cuFile, or leave out --way cufile";
  throw UnavailableError(gone_);
}

std::string CufileProcess::how_it_ended() {
  constexpr double kTimeout = 5;  // seconds
  const std::optional<int> status = child_->wait(kTimeout);
  if (!status) return "stopped answering";
  if (WIFSIGNALED(*status)) {
    return fmt::format("was killed by signal {} ({})", WTERMSIG(*status), strsignal(WTERMSIG(*status)));
  }
  return fmt::format("ended with exit code {}", WEXITSTATUS(*status));
}

std::string cufile_path_text(const std::optional<CufilePaths>& paths) {
  struct Share {
    std::uint64_t reads;
    std::string_view name;
  };
  const CufilePaths counted = paths.value_or(CufilePaths{});
  const auto all = static_cast<double>(counted.p2p + counted.nvfs + counted.posix);
  std::string text;
  for (const Share& share :
       {Share{counted.nvfs, "GPUDirect Storage (nvidia-fs)"}, Share{counted.p2p, "GPUDirect (P2PDMA)"},
        Share{counted.posix, "POSIX reads and copies (compatibility mode)"}}) {
    if (share.reads == 0) continue;
    if (!text.empty()) text += ", ";
    text += share.name;
    const double part = static_cast<double>(share.reads) / all;
    if (part < 1) text += fmt::format(" for {} of reads", format_percent(part));
  }
  return text.empty() ? "not proved" : text;
}

std::string cufile_path_doubt(const std::optional<CufilePaths>& paths) {
  if (!paths || paths->p2p + paths->nvfs + paths->posix == 0) {
    return "cuFile does not tell which path the data took, so this may not be GPUDirect Storage; libcufile 1.15 (CUDA "
           "13) or newer counts it";
  }
  if (paths->p2p + paths->nvfs > 0) return "";
  return "not GPUDirect Storage: cuFile read into host memory and copied; for the direct path look at the kernel "
         "module "
         "nvidia-fs, at the file system (ext4 or xfs on NVMe, or a network one that supports it) and at gdscheck -p";
}

}  // namespace xferbench
