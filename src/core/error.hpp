// The exceptions that determine the exit code. Each message is one line: what was wrong, what was expected and what to
// do.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

namespace xferbench {

/// Exit codes of the program (docs/running.md lists them for users). After an interrupt the exit code is 128 plus the
/// signal's number, as in shells: 130 after Ctrl-C, 143 after SIGTERM. A comparison ends with `failed` if something
/// regressed. It ends with `undecided` if there was too little data to detect a slow-down of the requested size or,
/// with --strict, if some cases could not be judged. `nothing_measured` means that every case was skipped. `stuck`
/// means that the GPU did not respond, so that the watchdog ended the process.
enum class ExitCode : int {
  ok = 0,
  failed = 1,
  usage = 2,
  no_device = 3,
  undecided = 4,
  nothing_measured = 5,
  stuck = 6
};

/// The command line contradicts itself or asks for something that does not exist: exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An input file is missing, damaged or of the wrong kind: exit code 2.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A result could not be written where the user wanted it (full disk, missing folder, closed pipe): exit code 2.
struct OutputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The reader of standard output has closed the pipe, as `| head` does. The program then ends without a message.
struct ClosedPipeError : OutputError {
  using OutputError::OutputError;
};

/// There is no GPU, or the requested GPU does not exist: exit code 3.
struct NoDeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An operation on the device failed. The case fails; the run continues if Device::usable() is true.
struct DeviceError : std::runtime_error {
  DeviceError(const std::string& operation, const std::string& reason)
      : std::runtime_error(operation + ": " + reason) {}
};

/// The case cannot run on this machine, but that is known only when it runs. Its result is skipped with this reason.
struct UnavailableError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The data after a run has a wrong byte. The case fails, because a time for wrong data is worse than none.
struct VerificationError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The sampling loop could not time the work, because the gate (a kernel that holds the stream back) timed out
/// repeatedly. The case fails.
struct MeasurementError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Returns the message of the error. If no thread could be started, adds advice, because the system only says "Resource
/// temporarily unavailable".
[[nodiscard]] inline std::string message_of(const std::exception& error) {
  const auto* const refused = dynamic_cast<const std::system_error*>(&error);
  if (refused == nullptr || refused->code() != std::errc::resource_unavailable_try_again) return error.what();
  return std::string(error.what()) +
         ": no thread or process can be started; raise the limit of processes (ulimit -u, pids limit of a container) "
         "or of memory (ulimit -v)";
}

/// Returns the exit code of the program if nothing catches the error.
[[nodiscard]] inline ExitCode exit_code_of(const std::exception& error) {
  if (dynamic_cast<const NoDeviceError*>(&error) != nullptr) return ExitCode::no_device;
  const bool usage =
      dynamic_cast<const UsageError*>(&error) != nullptr || dynamic_cast<const InputError*>(&error) != nullptr ||
      dynamic_cast<const OutputError*>(&error) != nullptr || dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
      dynamic_cast<const std::system_error*>(&error) != nullptr;
  return usage ? ExitCode::usage : ExitCode::failed;
}

}  // namespace xferbench
