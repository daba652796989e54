// Implementation of program.hpp: pipes or terminals for output, posix_spawn, and reading with a timeout.
#include "cli/program.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <sstream>
#include <system_error>
#include <utility>

extern char** environ;

namespace xferbench::test {

namespace {

/// Throws on a failed system call of the test itself: GoogleTest reports the exception.
int checked(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

void close_if_open(int& descriptor) {
  if (descriptor >= 0) close(descriptor);
  descriptor = -1;
}

/// The test reads from one end, the program writes to the other.
struct Ends {
  int reading = -1;
  int writing = -1;
};

Ends open_pipe() {
  std::array<int, 2> ends{};
  checked(pipe2(ends.data(), O_CLOEXEC), "pipe2");
  return {ends[0], ends[1]};
}

Ends open_terminal(unsigned short columns) {
  Ends ends;
  ends.reading = checked(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), "posix_openpt");
  checked(grantpt(ends.reading), "grantpt");
  checked(unlockpt(ends.reading), "unlockpt");
  ends.writing = checked(open(ptsname(ends.reading), O_RDWR | O_NOCTTY | O_CLOEXEC), "opening a terminal");
  termios settings{};
  checked(tcgetattr(ends.writing, &settings), "tcgetattr");
  cfmakeraw(&settings);  // raw mode: no \r is added before \n
  checked(tcsetattr(ends.writing, TCSANOW, &settings), "tcsetattr");
  winsize size{};
  size.ws_row = 50;
  size.ws_col = columns;
  checked(ioctl(ends.writing, TIOCSWINSZ, &size), "TIOCSWINSZ");
  return ends;
}

Ends open_sink(const Sink& sink) {
  switch (sink.kind) {
    case Sink::Kind::pipe: return open_pipe();
    case Sink::Kind::terminal: return open_terminal(sink.columns);
    case Sink::Kind::file: {
      const int file = open(sink.path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
      return {-1, checked(file, sink.path.c_str())};
    }
    case Sink::Kind::closed: return {};
    case Sink::Kind::broken_pipe: {
      Ends ends = open_pipe();
      close_if_open(ends.reading);
      return ends;
    }
  }
  return {};
}

std::vector<std::string> changed_environment(Variables changes) {
  changes.try_emplace("NO_COLOR", std::nullopt);
  changes.try_emplace("TERM", "xterm");
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!changes.contains(text.substr(0, text.find('=')))) variables.push_back(text);
  }
  for (const auto& [name, value] : changes) {
    if (value) variables.push_back(name + "=" + *value);
  }
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

/// File actions and attributes of posix_spawn for the new process.
class SpawnPlan {
 public:
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    // A test started in the background ignores SIGINT, and under nohup SIGHUP. Its children would inherit that.
    sigset_t defaults;
    sigemptyset(&defaults);
    for (const int signal : {SIGHUP, SIGINT, SIGTERM, SIGPIPE}) sigaddset(&defaults, signal);
    posix_spawnattr_setsigdefault(&attributes_, &defaults);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  void connect(int stream, const Ends& ends) {
    if (ends.writing >= 0) {
      posix_spawn_file_actions_adddup2(&actions_, ends.writing, stream);
    } else {
      posix_spawn_file_actions_addclose(&actions_, stream);
    }
  }

  pid_t spawn(std::vector<std::string> words, std::vector<std::string> environment) {
    pid_t pid = -1;
    const int error = posix_spawn(&pid, words.front().c_str(), &actions_, &attributes_, pointers(words).data(),
                                  pointers(environment).data());
    if (error != 0) throw std::system_error(error, std::generic_category(), "starting " + words.front());
    return pid;
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

Process::Process(const std::filesystem::path& program, const Arguments& arguments, Options options)
    : deadline_(std::chrono::steady_clock::now() + options.timeout) {
  Ends out = open_sink(options.out);
  Ends err = open_sink(options.err);
  SpawnPlan plan;
  plan.connect(STDOUT_FILENO, out);
  plan.connect(STDERR_FILENO, err);
  std::vector<std::string> words = {program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  pid_ = plan.spawn(std::move(words), changed_environment(std::move(options.environment)));
  // The test closes its copies of the writing ends: otherwise reading would never see the end of the streams.
  close_if_open(out.writing);
  close_if_open(err.writing);
  out_ = out.reading;
  err_ = err.reading;
}

Process::~Process() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close_if_open(out_);
  close_if_open(err_);
}

void Process::hang_up() {
  close_if_open(out_);
  close_if_open(err_);
}

void Process::send(int signal) const { checked(kill(pid_, signal), "kill"); }

bool Process::read_some() {
  std::array<pollfd, 2> polled{{{out_, POLLIN, 0}, {err_, POLLIN, 0}}};  // poll ignores a descriptor of -1
  if (out_ < 0 && err_ < 0) return false;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - std::chrono::steady_clock::now());
  const int ready = poll(polled.data(), polled.size(), std::max(0, static_cast<int>(left.count())));
  if (ready < 0 && errno == EINTR) return true;
  if (checked(ready, "poll") == 0) {
    outcome_.timed_out = true;
    kill(pid_, SIGKILL);
    return false;
  }
  const auto read_stream = [](const pollfd& stream, int& descriptor, std::string& text) {
    if (stream.revents == 0) return;
    std::array<char, 65536> buffer{};
    const ssize_t n = read(descriptor, buffer.data(), buffer.size());
    if (n > 0) text.append(buffer.data(), static_cast<std::size_t>(n));
    // A pipe ends with 0, a terminal with EIO.
    if (n == 0 || (n < 0 && errno != EINTR)) close_if_open(descriptor);
  };
  read_stream(polled[0], out_, outcome_.out);
  read_stream(polled[1], err_, outcome_.err);
  return true;
}

bool Process::wait_for_error_text(const std::string& text) {
  while (outcome_.err.find(text) == std::string::npos) {
    if (!read_some()) return false;
  }
  return true;
}

Outcome Process::wait() {
  while (read_some()) {
  }
  int status = 0;
  checked(waitpid(pid_, &status, 0), "waitpid");
  pid_ = -1;
  if (WIFEXITED(status)) outcome_.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome_.signal = WTERMSIG(status);
  EXPECT_FALSE(outcome_.timed_out) << "the program ran too long and was killed; standard error: " << outcome_.err;
  return outcome_;
}

Outcome run(const std::filesystem::path& program, const Arguments& arguments, Options options) {
  return Process(program, arguments, std::move(options)).wait();
}

Outcome xferbench(const Arguments& arguments, Options options) {
  return run(XFERBENCH_PROGRAM, arguments, std::move(options));
}

std::vector<std::string> lines(const std::string& text) {
  EXPECT_TRUE(text.empty() || text.back() == '\n') << "the last line has no end: " << text;
  std::vector<std::string> all;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) all.push_back(line);
  return all;
}

}  // namespace xferbench::test
