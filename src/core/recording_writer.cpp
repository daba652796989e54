#include "core/recording_writer.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <limits>

namespace xferbench {

using recording::NameId;
using recording::RecordHeader;
using recording::Type;

namespace {

/// So much is gathered before it is written.
constexpr std::size_t kMuch = 256 * 1024;
/// Longer texts than any name is, as of a template of templates, are cut.
constexpr std::size_t kLongestName = 4096;

constexpr std::size_t padding(std::size_t bytes) { return (8 - bytes % 8) % 8; }

/// A write beyond the limit of a file's size raises SIGXFSZ, and one to a pipe without a reader SIGPIPE, which end the
/// program. Blocked on this thread and taken away, they are only errors; the program's own handlers stay as they are.
class WithoutSignals {
 public:
  WithoutSignals() {
    sigemptyset(&these_);
    for (const int signal : {SIGXFSZ, SIGPIPE}) sigaddset(&these_, signal);
    sigpending(&pending_);
    active_ = pthread_sigmask(SIG_BLOCK, &these_, &before_) == 0;
  }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;
  ~WithoutSignals() {
    if (!active_) return;
    for (const int signal : {SIGXFSZ, SIGPIPE}) {
      if (sigismember(&pending_, signal) == 0) take(signal);  // else it was the program's before
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  static void take(int signal) {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    const timespec now{0, 0};
    while (sigtimedwait(&one, nullptr, &now) == -1 && errno == EINTR) {
    }
  }

  sigset_t these_{};
  sigset_t pending_{};
  sigset_t before_{};
  bool active_ = false;
};

/// A new file of its own, or none with errno.
Descriptor create(const std::string& folder, std::uint32_t pid) {
  constexpr int kMostLives = 1000;  // of one process number
  for (int life = 1; life <= kMostLives; ++life) {
    const std::string path =
        folder + "/" + std::to_string(pid) + "-" + std::to_string(life) + std::string(recording::kExtension);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
    Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644));
    if (!file && errno == EEXIST) continue;
    if (!file || file.number() > STDERR_FILENO) return file;
    // A program without standard output would take this file for it.
    return Descriptor(fcntl(file.number(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  }
  return {};
}

}  // namespace

RecordingWriter::RecordingWriter(const std::string& folder, std::uint32_t pid) noexcept {
  try {
    file_ = create(folder, pid);
    if (!file_) {
      give_up(errno);
      return;
    }
    const recording::FileHeader header;
    const auto bytes = std::as_bytes(std::span(&header, 1));
    gathered_.assign(bytes.begin(), bytes.end());
  } catch (const std::exception&) {
    give_up(ENOMEM);
  }
}

int RecordingWriter::error() const noexcept {
  const std::lock_guard lock(mutex_);
  return error_;
}

std::uint64_t RecordingWriter::records() const noexcept {
  const std::lock_guard lock(mutex_);
  return records_;
}

std::uint64_t RecordingWriter::bytes() const noexcept {
  const std::lock_guard lock(mutex_);
  return written_;
}

NameId RecordingWriter::name(std::string_view text) noexcept {
  const std::lock_guard lock(mutex_);
  if (!file_ || text.empty()) return 0;
  try {
    text = text.substr(0, kLongestName);
    const auto [found, is_new] = names_.try_emplace(std::string(text), static_cast<NameId>(names_.size() + 1));
    if (is_new) {
      const recording::Name head{found->second, static_cast<std::uint32_t>(text.size())};
      append(Type::name, std::as_bytes(std::span(&head, 1)), std::as_bytes(std::span(text)));
    }
    return found->second;
  } catch (const std::exception&) {
    give_up(ENOMEM);
    return 0;
  }
}

std::uint32_t RecordingWriter::stack(std::span<const NameId> frames) noexcept {
  const std::lock_guard lock(mutex_);
  if (!file_) return 0;
  try {
    const recording::Stack head{++stacks_, static_cast<std::uint32_t>(frames.size())};
    append(Type::stack, std::as_bytes(std::span(&head, 1)), std::as_bytes(frames));
    return stacks_;
  } catch (const std::exception&) {
    give_up(ENOMEM);
    return 0;
  }
}

void RecordingWriter::add(Type type, std::span<const std::byte> head, std::span<const std::byte> tail) noexcept {
  const std::lock_guard lock(mutex_);
  if (!file_) return;
  try {
    append(type, head, tail);
    ++records_;
  } catch (const std::exception&) {
    give_up(ENOMEM);
  }
}

void RecordingWriter::append(Type type, std::span<const std::byte> head, std::span<const std::byte> tail) {
  const std::size_t bytes = head.size() + tail.size();
  const RecordHeader header{type, 0, static_cast<std::uint32_t>(bytes + padding(bytes))};
  const auto header_bytes = std::as_bytes(std::span(&header, 1));
  gathered_.reserve(gathered_.size() + header_bytes.size() + bytes + padding(bytes));  // all of it, or none
  gathered_.insert(gathered_.end(), header_bytes.begin(), header_bytes.end());
  gathered_.insert(gathered_.end(), head.begin(), head.end());
  gathered_.insert(gathered_.end(), tail.begin(), tail.end());
  gathered_.resize(gathered_.size() + padding(bytes));
  if (gathered_.size() >= kMuch) write_all();
}

bool RecordingWriter::flush() noexcept {
  const std::lock_guard lock(mutex_);
  return write_all();
}

void RecordingWriter::end(const recording::End& record) noexcept {
  add(Type::end, record);
  const std::lock_guard lock(mutex_);
  write_all();
  file_ = Descriptor();
}

void RecordingWriter::abandon() noexcept {
  const std::lock_guard lock(mutex_);
  gathered_.clear();
  file_ = Descriptor();
}

/// What cannot be written whole is taken back, so that the file ends with a whole record.
bool RecordingWriter::write_all() {
  if (!file_) return false;
  const WithoutSignals no_signals;
  std::size_t done = 0;
  while (done < gathered_.size()) {
    const ssize_t wrote = write(file_.number(), gathered_.data() + done, gathered_.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      const int error = wrote < 0 ? errno : ENOSPC;
      if (done > 0) static_cast<void>(ftruncate(file_.number(), static_cast<off_t>(written_)) == 0);
      give_up(error);
      return false;
    }
    done += static_cast<std::size_t>(wrote);
  }
  written_ += gathered_.size();
  gathered_.clear();
  return true;
}

/// On a full disk the few bytes of a last record may still have a place: they say why there are no more.
void RecordingWriter::give_up(int error) {
  error_ = error;
  gathered_ = {};
  if (!file_ || written_ == 0) {
    file_ = Descriptor();
    return;
  }
  struct {
    RecordHeader header{Type::end, 0, sizeof(recording::End)};
    recording::End end{};
  } last;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  last.end = {static_cast<recording::Time>(now.tv_sec) * 1'000'000'000 + static_cast<recording::Time>(now.tv_nsec),
              recording::EndReason::write_failed, static_cast<std::uint32_t>(error)};
  const ssize_t wrote = write(file_.number(), &last, sizeof last);
  if (wrote > 0 && wrote < static_cast<ssize_t>(sizeof last)) {
    static_cast<void>(ftruncate(file_.number(), static_cast<off_t>(written_)) == 0);
  }
  file_ = Descriptor();
}

}  // namespace xferbench
