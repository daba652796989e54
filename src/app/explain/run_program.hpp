// Runs another program as a shell would: the program inherits standard input and output, and its exit code is reported.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace xferbench::app {

using Variables = std::vector<std::pair<std::string, std::string>>;

struct ProgramEnd {
  pid_t pid = 0;
  std::uint64_t begin = 0;  ///< start and end of the program: nanoseconds of CLOCK_MONOTONIC
  std::uint64_t end = 0;
  int exit_code = 0;
  int signal = 0;  ///< signal that ended the program; 0: none
  /// first signal, such as SIGINT or SIGTERM, that asked this process to end while the program ran; 0: none
  int interrupted = 0;
  [[nodiscard]] double seconds() const { return 1e-9 * static_cast<double>(end - begin); }
  /// The exit code as a shell reports it: 128 + `signal` if a signal ended the program.
  [[nodiscard]] int code() const { return signal > 0 ? 128 + signal : exit_code; }
  /// Returns the signal by which the user stopped the program; 0 if none arrived or the exit code is 0 anyway.
  [[nodiscard]] int given_up() const { return code() != 0 ? interrupted : 0; }
};

enum class StandardOutput { inherited, dropped };

/// Runs the program with `variables` added to its environment, and waits for its end. Ctrl-C is left to the program;
/// SIGTERM and SIGHUP are forwarded to it. Throws UsageError if the program cannot be started.
ProgramEnd run_program(const std::vector<std::string>& words, const Variables& variables,
                       StandardOutput output = StandardOutput::inherited);

}  // namespace xferbench::app
