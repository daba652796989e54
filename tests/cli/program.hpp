// Runs programs without a shell: arguments in; standard output, standard error and an exit code out.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/files.hpp"

namespace xferbench::test {

/// Destination of one of the program's output streams.
struct Sink {
  enum class Kind {
    pipe,         ///< captured
    terminal,     ///< captured; isatty() is true
    file,         ///< appended to `path`; not captured
    closed,       ///< not open at all, as with >&-
    broken_pipe,  ///< a pipe whose reader has gone, as `| head` leaves behind
  };
  Kind kind = Kind::pipe;
  std::filesystem::path path;
  unsigned short columns = 200;  ///< of the terminal

  static Sink terminal(unsigned short columns = 200) { return {Kind::terminal, {}, columns}; }
  static Sink file(std::filesystem::path path) { return {Kind::file, std::move(path)}; }
  static Sink closed() { return {Kind::closed, {}}; }
  static Sink broken_pipe() { return {Kind::broken_pipe, {}}; }
};

using Arguments = std::vector<std::string>;
using Variables = std::map<std::string, std::optional<std::string>>;

/// Timeout for programs that should not hang. Sanitizers make them ten times as slow.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::chrono::seconds kLongest{600};
#else
constexpr std::chrono::seconds kLongest{60};
#endif

struct Options {
  /// Changes to the inherited environment; nullopt removes a variable. NO_COLOR and TERM are removed unless set here,
  /// so that results do not depend on the caller's terminal.
  Variables environment;
  Sink out;
  Sink err;
  /// A program that runs longer is killed, and the test fails.
  std::chrono::seconds timeout = kLongest;
};

struct Outcome {
  int exit_code = -1;  ///< -1: ended by a signal
  int signal = 0;      ///< the signal that ended it; 0: none
  bool timed_out = false;
  std::string out;
  std::string err;
};

/// A running program. The destructor kills it if it still runs.
class Process {
 public:
  Process(const std::filesystem::path& program, const Arguments& arguments, Options options = {});
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  void send(int signal) const;
  /// Closes the test's ends of the output streams, as a terminal does when its window is closed.
  void hang_up();
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Reads output until standard error contains the text. False if the program ends or times out before.
  bool wait_for_error_text(const std::string& text);
  /// Reads output until the program ends. Fails the test on a timeout.
  Outcome wait();

 private:
  /// Waits for output and reads it. False once both streams are closed, or after a timeout, which kills the program.
  bool read_some();

  pid_t pid_ = -1;
  int out_ = -1;  // reading ends; -1: not captured, or closed
  int err_ = -1;
  Outcome outcome_;
  std::chrono::steady_clock::time_point deadline_;
};

Outcome run(const std::filesystem::path& program, const Arguments& arguments, Options options = {});

/// Runs the xferbench under test to its end.
Outcome xferbench(const Arguments& arguments, Options options = {});

/// Splits into lines without their ends. Fails the test if the text does not end with a line feed.
std::vector<std::string> lines(const std::string& text);

}  // namespace xferbench::test
