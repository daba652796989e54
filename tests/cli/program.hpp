// Runs programs as a user does: arguments in; standard output, standard error and an exit code out. No shell between.
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

/// Where one of the program's output streams leads.
struct Sink {
  enum class Kind {
    pipe,         ///< captured
    terminal,     ///< captured, and the program believes to write to a terminal
    file,         ///< appended to `path`, as >> does; not captured
    closed,       ///< not open at all, as >&- does
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

/// For programs that do not hang. Under a sanitizer they take ten times as long.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::chrono::seconds kLongest{600};
#else
constexpr std::chrono::seconds kLongest{60};
#endif

struct Options {
  /// Changes to this process's environment; nothing: the variable is removed. NO_COLOR and TERM are removed unless set
  /// here, so that the tests' results do not depend on who runs them.
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

/// A program that has been started. Killed if it still runs when this object goes.
class Process {
 public:
  Process(const std::filesystem::path& program, const Arguments& arguments, Options options = {});
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  void send(int signal) const;
  /// Closes what the program's output streams lead to, as a terminal does whose window is closed.
  void hang_up();
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Reads what the program writes until its standard error contains the text. False if that never comes.
  bool wait_for_error_text(const std::string& text);
  /// Reads what the program writes until it ends. Fails the test if it does not end in time.
  Outcome wait();

 private:
  /// Reads what has come. False once both streams are closed, or time is up and the program is killed.
  bool read_some();

  pid_t pid_ = -1;
  int out_ = -1;  // reading ends; -1: not captured, or closed
  int err_ = -1;
  Outcome outcome_;
  std::chrono::steady_clock::time_point deadline_;
};

Outcome run(const std::filesystem::path& program, const Arguments& arguments, Options options = {});

/// Runs the xferbench under test.
Outcome xferbench(const Arguments& arguments, Options options = {});

/// Lines without their ends. Text that does not end with a line's end fails the test.
std::vector<std::string> lines(const std::string& text);

}  // namespace xferbench::test
