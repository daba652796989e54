#include "app/abort_run.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <exception>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/standard_error.hpp"
#include "results/output_file.hpp"

namespace xferbench::app {

namespace {

/// Stores the results of `last.cases` and writes all output files. Prints errors instead of throwing them, because the
/// process must still print why it ends. Returns false if the measuring thread keeps the files locked.
bool save(const AbortContext& last) {
  try {
    return last.live.abandon(last.cases);
  } catch (const std::exception& error) {
    tell(error.what());
    return true;
  }
}

std::string abort_reason(const Alarm& alarm, const std::string& rank) {
  if (alarm.kind == Alarm::Kind::stuck) {
    constexpr const char* kLook = "this process can no longer use it. Check dmesg (NVRM: Xid) and nvidia-smi";
    if (!rank.empty()) return fmt::format("{}: {}; {}, then run all ranks again", rank, stuck_reason(alarm), kLook);
    return fmt::format("{}; {}; --resume FILE continues with the other cases", stuck_reason(alarm), kLook);
  }
  return fmt::format("interrupted during {} that did not return in time: this case has no samples",
                     alarm.operation.empty() ? "host work" : fmt::format("a call ({})", alarm.operation));
}

int exit_code_of_alarm(const Alarm& alarm, const std::string& rank) {
  if (alarm.kind != Alarm::Kind::stuck) return 128 + interrupted();
  return static_cast<int>(rank.empty() ? ExitCode::stuck : ExitCode::failed);
}

}  // namespace

std::string stuck_reason(const Alarm& alarm) {
  return fmt::format("the GPU is stuck: {} has not returned for {:.0f} s", alarm.operation, alarm.seconds);
}

void abort_run(const Alarm& alarm, const AbortContext& last) {
  // Save the results first: printing may block if the reader of the output has stopped reading.
  const bool saved = save(last);
  try {
    last.clear();
    tell(abort_reason(alarm, last.rank));
    if (!saved) tell("the output files were being written at that moment, so they contain the previous state");
    if (saved && !last.live.owns_standard_output()) write_standard_output(last.table());
    last.live.rethrow();
  } catch (const std::exception& error) {
    tell(error.what());
  }
  std::_Exit(exit_code_of_alarm(alarm, last.rank));
}

}  // namespace xferbench::app
