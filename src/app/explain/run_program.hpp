// Runs somebody else's program as a shell would: what it prints, reads and ends with is its own.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace xferbench::app {

using Variables = std::vector<std::pair<std::string, std::string>>;

/// How it ended.
struct ProgramEnd {
  pid_t pid = 0;
  std::uint64_t begin = 0;  ///< nanoseconds of CLOCK_MONOTONIC
  std::uint64_t end = 0;
  int exit_code = 0;
  int signal = 0;       ///< that ended it; 0: none
  int interrupted = 0;  ///< the first of Ctrl-C, SIGTERM and the like that came meanwhile; 0: none
  [[nodiscard]] double seconds() const { return 1e-9 * static_cast<double>(end - begin); }
  /// As a shell says it.
  [[nodiscard]] int code() const { return signal > 0 ? 128 + signal : exit_code; }
  /// The signal by which its user gave it up; 0 where none came, or it went on to an end in order.
  [[nodiscard]] int given_up() const { return code() != 0 ? interrupted : 0; }
};

enum class StandardOutput { inherited, dropped };

/// With these variables besides those of the environment. Ctrl-C is for the program, which decides what it means;
/// SIGTERM and SIGHUP are passed on to it. Throws UsageError where it cannot be started.
ProgramEnd run_program(const std::vector<std::string>& words, const Variables& variables,
                       StandardOutput output = StandardOutput::inherited);

}  // namespace xferbench::app
