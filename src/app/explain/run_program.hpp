// Runs another program as a shell would: its input, output and exit code are its own.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace xferbench::app {

using Variables = std::vector<std::pair<std::string, std::string>>;

/// How a program ended.
struct ProgramEnd {
  pid_t pid = 0;
  std::uint64_t begin = 0;  ///< start and end of the program: nanoseconds of CLOCK_MONOTONIC
  std::uint64_t end = 0;
  int exit_code = 0;
  int signal = 0;       ///< the signal that ended it; 0: none
  int interrupted = 0;  ///< the first of SIGINT, SIGTERM and the like that arrived meanwhile; 0: none
  [[nodiscard]] double seconds() const { return 1e-9 * static_cast<double>(end - begin); }
  /// The exit code as a shell reports it: 128 + `signal` if a signal ended the program.
  [[nodiscard]] int code() const { return signal > 0 ? 128 + signal : exit_code; }
  /// The signal by which the user stopped it; 0 if none came or the exit code is 0 nevertheless.
  [[nodiscard]] int given_up() const { return code() != 0 ? interrupted : 0; }
};

enum class StandardOutput { inherited, dropped };

/// Adds `variables` to the environment. Ctrl-C is left to the program; SIGTERM and SIGHUP are forwarded to it. Throws
/// UsageError if it cannot be started.
ProgramEnd run_program(const std::vector<std::string>& words, const Variables& variables,
                       StandardOutput output = StandardOutput::inherited);

}  // namespace xferbench::app
