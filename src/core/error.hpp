// The errors that decide an exit code. Every message is one line that says what was wrong, what was expected and what
// to do.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

namespace xferbench {

/// Exit codes of the program (docs/running.md lists them for users).
/// An interrupted run ends with 128 plus the signal's number, as shells count: 130 after Ctrl-C, 143 after SIGTERM.
/// A comparison ends with `failed` if something regressed. It ends with `undecided` if it had too little data to detect
/// the slow-down it looks for or, with --strict, if some cases could not be judged. `nothing_measured`: every case was
/// skipped. `stuck`: the GPU did not answer, and the process ended itself.
enum class ExitCode : int {
  ok = 0,
  failed = 1,
  usage = 2,
  no_device = 3,
  undecided = 4,
  nothing_measured = 5,
  stuck = 6
};

/// The command line asks for something that does not exist or contradicts itself: exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A file that was to be read is missing, damaged or of another kind: exit code 2.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A result could not be written where the user wanted it (full disk, missing folder, closed pipe): exit code 2.
struct OutputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The reader of standard output has closed it, as `| head` does. The program then ends without a message.
struct ClosedPipeError : OutputError {
  using OutputError::OutputError;
};

/// There is no GPU to run on, or not the one asked for: exit code 3.
struct NoDeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An operation on the device failed. Fails the case; the run goes on while Device::usable() says so.
struct DeviceError : std::runtime_error {
  DeviceError(const std::string& operation, const std::string& reason)
      : std::runtime_error(operation + ": " + reason) {}
};

/// The result of a run has a wrong byte. Fails the case: a number for wrong data is worse than none.
struct VerificationError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The sampling loop could not time the work (the gate timed out again and again). Fails the case.
struct MeasurementError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The error's message. "Resource temporarily unavailable" is all that the system says if no thread can be started;
/// advice is added to it.
[[nodiscard]] inline std::string message_of(const std::exception& error) {
  const auto* const refused = dynamic_cast<const std::system_error*>(&error);
  if (refused == nullptr || refused->code() != std::errc::resource_unavailable_try_again) return error.what();
  return std::string(error.what()) +
         ": no thread or process can be started; raise the limit of processes (ulimit -u, pids limit of a container) "
         "or of memory (ulimit -v)";
}

/// The exit code of the program if nothing catches the error.
[[nodiscard]] inline ExitCode exit_code_of(const std::exception& error) {
  if (dynamic_cast<const NoDeviceError*>(&error) != nullptr) return ExitCode::no_device;
  const bool usage =
      dynamic_cast<const UsageError*>(&error) != nullptr || dynamic_cast<const InputError*>(&error) != nullptr ||
      dynamic_cast<const OutputError*>(&error) != nullptr || dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
      dynamic_cast<const std::system_error*>(&error) != nullptr;
  return usage ? ExitCode::usage : ExitCode::failed;
}

}  // namespace xferbench
