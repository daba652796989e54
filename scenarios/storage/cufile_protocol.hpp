// Messages between a CufileProcess and its child process: requests and answers of fixed size over a socket that keeps
// message boundaries. Both ends are this program, so the structures need no version.
#pragma once

#include <sys/mman.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <system_error>
#include <type_traits>

#include "core/non_copyable.hpp"
#include "core/units.hpp"
#include "device/cufile.hpp"

namespace xferbench {

// Descriptor numbers in the child process.
inline constexpr int kCufileChannel = 3;
inline constexpr int kCufileFile = 4;
inline constexpr int kCufileShared = 5;

inline constexpr std::size_t kCufileSharedBytes = 64 * MiB;

struct CufileRequest {
  enum class Kind : std::uint64_t {
    open,   ///< prepare to load all of `bytes` of the file, by `threads` threads and requests of `request` bytes
    load,   ///< read all of the file into GPU memory
    fill,   ///< fill the GPU memory with the byte `value`
    fetch,  ///< copy `bytes` from `offset` of the GPU memory on to the beginning of the shared memory
    count,  ///< report which paths the reads took
  };
  Kind kind{};
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;
  std::uint64_t request = 0;
  std::uint64_t threads = 0;
  std::byte value{};
};

struct CufileAnswer {
  double reading = 0;                         ///< seconds that threads spent in reads, summed
  double cpu = 0;                             ///< seconds of CPU time of the whole process
  double first = 0;                           ///< seconds until the first read had returned
  std::optional<std::uint64_t> device_bytes;  ///< bytes read from devices for the process so far
  std::optional<CufilePaths> paths;           ///< reads by each path so far; only for Kind::count
  std::array<char, 1000> error{};             ///< why the request failed, null-terminated; empty on success
};

/// Sends a request or an answer. Returns false if the other end is gone.
template <class Message>
bool send_message(int channel, const Message& message) {
  static_assert(std::is_trivially_copyable_v<Message>);
  ssize_t sent = 0;
  do sent = ::send(channel, &message, sizeof message, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(sizeof message);
}

/// Waits for a request or an answer. Returns false if the other end is gone.
template <class Message>
bool receive_message(int channel, Message& message) {
  static_assert(std::is_trivially_copyable_v<Message>);
  ssize_t got = 0;
  do got = ::recv(channel, &message, sizeof message, 0);
  while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(sizeof message);
}

/// Maps the memory that both processes share. Throws std::system_error.
class CufileShared : NonCopyable {
 public:
  explicit CufileShared(int descriptor)
      : data_(::mmap(nullptr, kCufileSharedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)) {
    if (data_ == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "cannot map shared memory");
  }
  ~CufileShared() { ::munmap(data_, kCufileSharedBytes); }
  [[nodiscard]] std::span<std::byte> bytes() const { return {static_cast<std::byte*>(data_), kCufileSharedBytes}; }

 private:
  void* data_;
};

}  // namespace xferbench
