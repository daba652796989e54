// A stand-in for NVIDIA's libcufile.so, for tests without a GPU: it reads files into host memory. The environment
// variable FAKE_CUFILE lists how it misbehaves, separated by blanks:
//   driver=N    cuFileDriverOpen returns error N; file=N: cuFileHandleRegister does
//   read=N      cuFileRead returns -N
//   short       every read delivers at most 1000 bytes
//   wrong       every read changes a byte
//   hang        reads never return; crash: they end the process by a signal
//   stdin       closes standard input when the driver is opened
//   log         writes cufile.log into the current folder
//   nvfs, p2p   reads count as these, by turns where both are given; else as POSIX reads
//   odd         the statistics contradict each other
// FAKE_CUFILE_ID names a file that gets the number of the process.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>

namespace {

struct Status {
  int error;
  int cuda_error;
};

/// Returns the value of a word of FAKE_CUFILE, 1 for a word without a value, 0 without the word.
int fault(const std::string& name) {
  const char* const all = std::getenv("FAKE_CUFILE");
  std::istringstream words(all == nullptr ? "" : all);
  for (std::string word; words >> word;) {
    if (word == name) return 1;
    if (word.rfind(name + "=", 0) == 0) return std::atoi(word.c_str() + name.size() + 1);
  }
  return 0;
}

struct Counts {
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> reads{0};
};
Counts& counts() {
  static Counts all;
  return all;
}

}  // namespace

extern "C" {

Status cuFileDriverOpen() {
  if (const char* const path = std::getenv("FAKE_CUFILE_ID")) {
    const std::string made = std::string(path) + ".part";
    std::FILE* const file = std::fopen(made.c_str(), "w");
    std::fprintf(file, "%d", getpid());
    std::fclose(file);
    std::rename(made.c_str(), path);
  }
  if (fault("stdin") != 0) close(STDIN_FILENO);
  if (fault("log") != 0) {
    if (std::FILE* const log = std::fopen("cufile.log", "a")) std::fclose(log);
  }
  return {fault("driver"), 0};
}

/// Opens the file again by its path and refuses O_NONBLOCK, as libcufile 1.15 does. The handle is that descriptor
/// plus 1.
Status cuFileHandleRegister(void** handle, const char* description) {
  int number = 0;
  std::memcpy(&number, description + 8, sizeof number);
  if ((fcntl(number, F_GETFL) & O_NONBLOCK) != 0) return {5019, 0};
  char path[4096] = "";
  if (readlink(("/proc/self/fd/" + std::to_string(number)).c_str(), path, sizeof path - 1) < 0) return {5025, 0};
  const int again = open(path, O_RDONLY);
  *handle = reinterpret_cast<void*>(static_cast<std::intptr_t>(again + 1));
  return {again < 0 ? 5031 : fault("file"), 0};
}

Status cuFileBufRegister(const void*, std::size_t, int) { return {0, 0}; }

ssize_t cuFileRead(void* handle, void* memory, std::size_t bytes, off_t offset, off_t place) {
  if (fault("crash") != 0) raise(SIGSEGV);
  while (fault("hang") != 0) pause();
  if (const int error = fault("read"); error != 0) return -error;
  if (fault("short") != 0) bytes = std::min<std::size_t>(bytes, 1000);
  char* const to = static_cast<char*>(memory) + place;
  const ssize_t got = pread(static_cast<int>(reinterpret_cast<std::intptr_t>(handle)) - 1, to, bytes, offset);
  if (got > 0) counts().bytes += static_cast<std::uint64_t>(got);
  counts().reads += 1;
  if (fault("wrong") != 0 && got > 0) to[got / 2] ^= 1;
  return got;
}

Status cuFileSetStatsLevel(int level) { return {level == 3 ? 0 : 5022, 0}; }
Status cuFileStatsStart() { return {0, 0}; }

/// Fills the words of CUfileStatsLevel3_t as libcufile 1.15 did on an H100.
Status cuFileGetStatsL3(std::uint64_t* words) {
  std::fill_n(words, 5000 / 8, 0);
  words[12] = counts().bytes;
  words[128] = 1;
  std::uint64_t* const gpu = words + 129;
  gpu[2] = counts().bytes + static_cast<std::uint64_t>(fault("odd"));
  gpu[6] = counts().reads;
  const bool nvfs = fault("nvfs") != 0;
  const bool p2p = fault("p2p") != 0;
  const std::uint64_t half = nvfs && p2p ? counts().reads / 2 : 0;
  gpu[7] = p2p ? counts().reads - half : 0;
  gpu[8] = nvfs ? (p2p ? half : counts().reads.load()) : 0;
  gpu[9] = nvfs || p2p ? 0 : counts().reads.load();
  return {0, 0};
}

}  // extern "C"
