#include "recording/recording_writer.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <exception>
#include <utility>

#include "core/clock.hpp"
#include "recording/signal_guard.hpp"

namespace xferbench {

using recording::NameId;
using recording::RecordHeader;
using recording::Type;

namespace {

/// Number of bytes of records that are gathered in memory before they are written to the file.
constexpr std::size_t kFlushBytes = std::size_t{256} * 1024;
/// Longest name in bytes. Longer names are cut; kernels with nested templates have such names.
constexpr std::size_t kLongestName = 4096;

constexpr std::size_t padding(std::size_t bytes) { return (8 - bytes % 8) % 8; }

/// A write beyond the file size limit raises SIGXFSZ, which ends the program. This class blocks and discards that
/// signal, so that only the write fails. It keeps the program's handler and a signal that was already pending.
class BlockedSizeSignal : NonCopyable {
 public:
  BlockedSizeSignal() noexcept {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
  }
  ~BlockedSizeSignal() {
    sigset_t signal;
    sigemptyset(&signal);
    sigaddset(&signal, SIGXFSZ);
    const timespec now{0, 0};
    while (!was_pending_ && sigtimedwait(&signal, nullptr, &now) == -1 && errno == EINTR) {
    }
  }

 private:
  SignalGuard guard_;  // its destructor unblocks the signal after our destructor has discarded it
  bool was_pending_ = false;
};

/// Moves a descriptor to 900 or above (if that fails, to 3 or above): programs expect low numbers for their own files.
Descriptor move_fd(Descriptor file) {
  constexpr int kHigh = 900;  // below 1024, the usual limit
  for (const int lowest : {kHigh, STDERR_FILENO + 1}) {
    if (file.number() >= lowest) return file;
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
    if (Descriptor moved(fcntl(file.number(), F_DUPFD_CLOEXEC, lowest)); moved) return moved;
  }
  return {};
}

Descriptor opened(const std::string& path, int flags) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
  Descriptor file(open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | flags, 0644));
  return file ? move_fd(std::move(file)) : Descriptor();
}

/// The record that ends a file after a write error.
struct LastRecord {
  RecordHeader header{Type::end, 0, sizeof(recording::End)};
  recording::End end;
};

/// Returns how many bytes to keep of `bytes` after a write error: complete records, with room for a LastRecord behind
/// them. Returns 0 if nothing can be kept.
std::size_t whole_records(std::span<const std::byte> bytes, bool begins_file) {
  std::size_t whole = 0;
  std::size_t next = begins_file ? sizeof(recording::FileHeader) : 0;
  while (next + sizeof(LastRecord) <= bytes.size()) {
    whole = next;
    RecordHeader header;
    std::memcpy(&header, bytes.data() + next, sizeof header);
    next += sizeof header + header.bytes;
  }
  return whole;
}

}  // namespace

RecordingWriter::RecordingWriter(const std::string& folder, std::uint32_t pid) noexcept : process_(getpid()) {
  const BlockedSizeSignal no_signal;
  try {
    gathered_.reserve(kFlushBytes + 2 * kLongestName);
    if (!create(folder, pid)) error_ = errno;
    const recording::FileHeader header;
    const auto bytes = std::as_bytes(std::span(&header, 1));
    gathered_.assign(bytes.begin(), bytes.end());
  } catch (const std::exception&) {
    give_up(ENOMEM);
  }
}

/// Creates a new file in the folder. On failure returns false and sets errno.
bool RecordingWriter::create(const std::string& folder, std::uint32_t pid) {
  constexpr int kMostLives = 10'000;  // maximum number of files with the same PID
  for (int life = 1; life <= kMostLives; ++life) {
    path_ = folder + "/" + std::to_string(pid) + "-" + std::to_string(life) + std::string(recording::kExtension);
    file_ = opened(path_, O_CREAT | O_EXCL);
    number_ = file_ ? life : 0;
    if (file_ || errno != EEXIST) break;
  }
  if (file_) identity_ = identity_of(file_.number());
  return static_cast<bool>(file_);
}

int RecordingWriter::number() const noexcept {
  const std::lock_guard lock(mutex_);
  return number_;
}

int RecordingWriter::error() const noexcept {
  const std::lock_guard lock(mutex_);
  return error_;
}

std::uint64_t RecordingWriter::records() const noexcept {
  const std::lock_guard lock(mutex_);
  return records_;
}

NameId RecordingWriter::name(std::string_view text) noexcept {
  const std::lock_guard lock(mutex_);
  text = text.substr(0, kLongestName);
  if (!file_ || text.empty()) return 0;
  if (const auto known = names_.find(text); known != names_.end()) return known->second;
  try {
    const recording::Name head{static_cast<NameId>(names_.size() + 1), static_cast<std::uint32_t>(text.size())};
    names_.emplace(text, head.id);
    append(Type::name, std::as_bytes(std::span(&head, 1)), std::as_bytes(std::span(text)));
    return head.id;
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

void RecordingWriter::add_bytes(Type type, std::span<const std::byte> record) noexcept {
  const std::lock_guard lock(mutex_);
  if (!file_) return;
  try {
    append(type, record, {});
    ++records_;
  } catch (const std::exception&) {
    give_up(ENOMEM);
  }
}

void RecordingWriter::append(Type type, std::span<const std::byte> head, std::span<const std::byte> tail) {
  const std::size_t bytes = head.size() + tail.size();
  const RecordHeader header{type, 0, static_cast<std::uint32_t>(bytes + padding(bytes))};
  const auto header_bytes = std::as_bytes(std::span(&header, 1));
  const std::size_t needed = gathered_.size() + header_bytes.size() + bytes + padding(bytes);
  // Reserve memory first, so that the record is added as a whole or not at all.
  if (needed > gathered_.capacity()) gathered_.reserve(2 * needed);
  gathered_.insert(gathered_.end(), header_bytes.begin(), header_bytes.end());
  gathered_.insert(gathered_.end(), head.begin(), head.end());
  gathered_.insert(gathered_.end(), tail.begin(), tail.end());
  gathered_.resize(needed);
  if (gathered_.size() >= kFlushBytes) write_all();
}

bool RecordingWriter::flush() noexcept {
  const std::lock_guard lock(mutex_);
  return write_all();
}

void RecordingWriter::end(const recording::End& record) noexcept {
  const std::lock_guard lock(mutex_);
  if (!file_) return;
  try {
    append(Type::end, std::as_bytes(std::span(&record, 1)), {});
  } catch (const std::exception&) {
    give_up(ENOMEM);
  }
  write_all();
  file_ = Descriptor();
}

// --- The file -------------------------------------------------------------------------------------------------------

RecordingWriter::Identity RecordingWriter::identity_of(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return {};
  return {status.st_dev, status.st_ino};
}

/// Whether the file can be written. Daemons close all descriptors, and another file may then have the number of ours,
/// so this function reopens our file by its path. Returns false in a child whose creation ran no fork handler, because
/// the child must not write the records that its parent has gathered.
bool RecordingWriter::is_open() {
  if (!file_) return false;
  if (getpid() != process_) return false;
  if (identity_of(file_.number()) == identity_) return true;
  file_.release();
  file_ = opened(path_, 0);
  const bool ours = file_ && identity_of(file_.number()) == identity_;
  if (!ours) give_up(file_ ? ENOENT : errno);
  return ours;
}

/// Writes the gathered records. Returns errno, or 0 on success. After an error, truncates the file to complete records
/// that leave room for a LastRecord.
int RecordingWriter::write_gathered() {
  std::size_t done = 0;
  int error = 0;
  while (error == 0 && done < gathered_.size()) {
    const ssize_t wrote = write(file_.number(), gathered_.data() + done, gathered_.size() - done);
    if (wrote > 0) {
      done += static_cast<std::size_t>(wrote);
    } else if (wrote == 0 || errno != EINTR) {
      error = wrote == 0 ? ENOSPC : errno;
    }
  }
  const bool is_torn = error != 0 && done > 0;
  if (is_torn) done = whole_records(std::span(gathered_).first(done), written_ == 0);
  written_ += done;
  if (is_torn && ftruncate(file_.number(), static_cast<off_t>(written_)) != 0) file_ = Descriptor();
  gathered_.clear();
  return error;
}

bool RecordingWriter::write_all() {
  const BlockedSizeSignal no_signal;
  if (!is_open()) return false;
  if (const int error = write_gathered(); error != 0) give_up(error);
  return static_cast<bool>(file_);
}

/// Ends the recording after an error. Adds a last record with the reason, which may still fit on a full disk. Deletes a
/// file without a header, since it is no recording.
void RecordingWriter::give_up(int error) {
  const BlockedSizeSignal no_signal;
  if (error_ == 0) error_ = error;
  gathered_.clear();
  const bool has_header = written_ > 0;
  if (file_ && has_header) {
    const LastRecord last{.end = {nanoseconds_of(CLOCK_MONOTONIC), recording::EndReason::write_failed,
                                  static_cast<std::uint32_t>(error)}};
    const auto bytes = std::as_bytes(std::span(&last, 1));
    gathered_.insert(gathered_.end(), bytes.begin(), bytes.end());  // needs no allocation: the memory is reserved
    static_cast<void>(write_gathered());
  } else if (file_) {
    unlink(path_.c_str());
  }
  file_ = Descriptor();
}

}  // namespace xferbench
