// A child process that never outlives its owner: it is killed, with its own children, when it takes too long or is no
// longer needed.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/non_copyable.hpp"

namespace xferbench {

/// Path by which a process starts its own program again.
inline constexpr const char* kOwnProgram = "/proc/self/exe";

/// A descriptor that a child inherits under another number.
struct InheritedDescriptor {
  int here = -1;   ///< number in this process
  int there = -1;  ///< number in the child
};

class ChildProcess : NonCopyable {
 public:
  /// Starts a program; `words` are its arguments, the first one its name. The child has a process group of its own, so
  /// that its children can be killed with it, and this process's environment without the variables of launchers such
  /// as mpirun. Its standard descriptors are /dev/null unless they are inherited. Throws std::system_error.
  ChildProcess(const std::string& program, std::vector<std::string> words,
               std::span<const InheritedDescriptor> inherited);
  /// Kills the child and its children if it still runs.
  ~ChildProcess();

  /// Waits up to `seconds` for the end of the child and returns its status as waitpid() gives it; nothing if the child
  /// still runs or its status is unknown.
  [[nodiscard]] std::optional<int> wait(double seconds);

 private:
  pid_t id_ = -1;
  bool ended_ = false;
  std::optional<int> status_;
};

}  // namespace xferbench
