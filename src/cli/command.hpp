// From argv to what to do. The only folder that knows CLI11.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/compare_command.hpp"
#include "device/numa.hpp"
#include "measure/sampler.hpp"
#include "run/runner.hpp"

namespace xferbench::cli {

enum class Action { run, dry_run, tune, dry_tune, compare, check, list, info, help, version, completion, man };
enum class ColorMode { automatic, always, never };
enum class ProgressMode { automatic, plain, never };

struct Command {
  Action action = Action::run;
  std::vector<PlannedCase> cases;       ///< for run and tune, and what they would do: for tune of a single scenario
  std::vector<std::string> given;       ///< axes of these cases whose flags were given
  const Scenario* about = nullptr;      ///< for list and help: only this scenario
  std::optional<int> gpu;               ///< as CUDA counts them; absent: 0
  NumaPolicy numa;                      ///< where the process is to run; not for the simulated device
  std::optional<std::string> simulate;  ///< profile of the simulated device, if it is to be used
  std::optional<std::string> json;      ///< file, or "-" for standard output
  std::optional<std::string> csv;       ///< the same
  std::optional<std::string> markdown;  ///< the same
  std::optional<std::string> timeline;  ///< the same
  std::optional<std::string> suite;     ///< name or file: it says which cases there are; `cases` is empty
  std::optional<std::string> resume;    ///< file whose command is to be finished; `cases` is empty
  std::size_t turns = 1;                ///< times that the run goes through all cases
  std::optional<std::size_t> repeat;    ///< fresh processes that do all of it
  std::vector<std::string> run_flags;   ///< those that were given
  std::optional<std::uint64_t> memory_limit;  ///< for tune: bytes of device memory that a configuration may need
  bool exhaustive = false;                    ///< for tune: every configuration is measured
  SamplingPolicy policy;                      ///< for tune, `budget` is that of all configurations together
  std::uint64_t seed = 0;
  bool verify = true;
  std::string shell;             ///< for completion
  std::string results;           ///< for check: the file to check
  std::string expect;            ///< for check: name or path of the expectations
  bool allow_simulated = false;  ///< for check: simulated results may be checked
  bool quiet = false;
  ColorMode color = ColorMode::automatic;
  CompareCommand compare;                           ///< for compare, which reads files and has no cases
  ProgressMode progress = ProgressMode::automatic;  ///< never where `quiet`

  [[nodiscard]] bool gives(std::string_view run_flag) const {
    return std::ranges::find(run_flags, run_flag) != run_flags.end();
  }
};

/// A file that a flag names; "-" is standard output.
struct NamedFile {
  std::string flag;  ///< without dashes
  std::string path;
};

/// Throws UsageError if two files are both standard output or the same file.
void refuse_shared_files(std::span<const NamedFile> files);

/// Throws UsageError with one line that says what is wrong, what was expected and, where one is near, what was probably
/// meant.
Command parse(std::span<const std::string> arguments, std::span<const Scenario* const> scenarios);

}  // namespace xferbench::cli
