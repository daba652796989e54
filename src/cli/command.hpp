// Parses the command line into a command. The only folder that uses CLI11.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "cli/pages.hpp"
#include "compare/compare.hpp"
#include "device/host.hpp"
#include "device/open.hpp"
#include "explain/explanation.hpp"
#include "measure/sampler.hpp"
#include "results/soak.hpp"
#include "run/runner.hpp"

namespace xferbench::cli {

enum class ColorMode { automatic, always, never };
enum class ProgressMode { automatic, plain, never };

/// The device that a command uses.
struct DeviceChoice {
  std::optional<int> gpu;               ///< device index in CUDA or in the simulated machine
  std::optional<GpuSelection> gpus;     ///< alternative to `gpu`; neither given: the GPUs that the scenarios need
  NumaPolicy numa;                      ///< placement of the process; not for the simulated device
  std::optional<std::string> simulate;  ///< profile or profile file of the simulated machine; absent: a real one
  int rank = 0;                         ///< this process's rank among several
};

/// A file that a flag names; "-" is standard output.
struct NamedFile {
  const char* flag;  ///< name of the flag, without dashes
  std::string path;
};

/// Throws UsageError if two files are both standard output or the same file.
void refuse_shared_files(std::span<const NamedFile> files);

/// The files that results go to; "-" is standard output.
struct OutputFiles {
  std::optional<std::string> json{};
  std::optional<std::string> csv{};
  std::optional<std::string> markdown{};
  std::optional<std::string> html{};
  std::optional<std::string> timeline{};
  std::optional<std::string> junit{};
  std::optional<std::string> openmetrics{};
  /// The requested files.
  [[nodiscard]] std::vector<NamedFile> named() const;
};

/// CI annotations that a verdict writes to standard error.
enum class Annotations { none, github };

/// The sampling flags; absent: not given.
struct SamplingChoice {
  std::optional<double> ci;      ///< target half-width of the 95% interval, in percent of the median
  std::optional<double> budget;  ///< host time in seconds, per case; for tune in total
  std::optional<std::size_t> min_samples;
  std::optional<std::size_t> max_samples;
};

/// How a command presents its output.
struct Presentation {
  bool quiet = false;
  bool details = false;  ///< in tables and Markdown: every measurement and finding, not only the most telling
  ColorMode color = ColorMode::automatic;
  ProgressMode progress = ProgressMode::automatic;  ///< how progress is shown; ProgressMode::never if `quiet`
  bool wide = false;                                ///< whole tables: every column and every row
};

/// Options of all measuring commands.
struct Measuring {
  std::vector<std::string> arguments;  ///< the whole command line, for the record
  DeviceChoice device;
  OutputFiles files;
  SamplingChoice sampling;
  SamplingPolicy policy;  ///< derived from `sampling`; for tune, `budget` is that of all configurations together
  std::uint64_t seed = 1;
  bool verify = true;
  bool dry_run = false;  ///< print the cases and touch no device
  Presentation show;
};

/// Options of a run by many ranks, under mpirun or srun.
struct FleetChoice {
  bool mpi = false;                                         ///< start MPI although no launcher has started the program
  std::vector<RankConcurrency> pace{RankConcurrency::all};  ///< concurrencies of the ranks to measure, each once
  bool share_gpus = false;                                  ///< several ranks may be on one GPU
  double timeout = 60;      ///< seconds that a rank waits for another one before it gives up
  double threshold = 0.03;  ///< a relative shortfall up to this is ignored
};

struct RunCommand {
  Measuring measuring;
  FleetChoice fleet;
  std::vector<PlannedCase> cases;
  std::optional<std::string> suite;    ///< name or file of the suite that defines the cases; `cases` is empty
  std::optional<std::string> resume;   ///< results file of the run to finish; `cases` is empty
  std::optional<std::size_t> turns;    ///< number of passes over all cases
  std::optional<std::size_t> repeat;   ///< number of fresh processes, each of which measures all cases
  bool into_one_file = false;          ///< merge the results of these processes, as a suite asks
  bool is_one_of_several = false;      ///< a single process, although the suite asks for several
  std::optional<std::string> spread;   ///< file that collects the spread between these processes
  std::optional<std::size_t> process;  ///< number of this process, from 1; absent in the parent
  std::vector<std::string> flags;      ///< names of the given run flags, without dashes; no axis flags
};

struct TuneCommand {
  Measuring measuring;
  std::vector<PlannedCase> cases;             ///< cases of one scenario: the search space
  std::vector<std::string> given;             ///< axes whose flags were given
  std::optional<std::uint64_t> memory_limit;  ///< bytes of device memory that a configuration may need at most
  bool exhaustive = false;                    ///< measure every configuration
  Objective objective = Objective::device;    ///< the time to minimize
};

struct CompareCommand {
  std::vector<std::string> base;      ///< results files of the base side; "-" is standard input
  std::vector<std::string> new_side;  ///< results files of the new side; "-" is standard input
  std::vector<std::string> across;    ///< files to show side by side, instead of `base` and `new_side`
  compare::Options options;
  std::optional<std::string> spread;  ///< file of known spreads between processes
  bool all = false;                   ///< list every case
  Annotations annotations = Annotations::none;
  OutputFiles files;  ///< uses only json, markdown and html
  Presentation show;
};

struct ReportCommand {
  std::vector<std::string> stored{};  ///< files to show; "-" is standard input; empty if `base` or `trend` is given
  std::vector<std::string> base{};    ///< results files of the base side, one per process; compared with `new_side`
  std::vector<std::string> new_side{};
  std::vector<std::string> trend{};  ///< results files of many runs of one machine over time
  bool allow_simulated = false;      ///< simulated and real results may be shown together
  OutputFiles files;                 ///< uses only markdown and html
  Presentation show;
};

struct CheckCommand {
  std::vector<std::string> results;  ///< the files to check; "-" is standard input
  std::string expect;                ///< name or path of the expectations
  bool allow_simulated = false;      ///< simulated results may be checked
  Annotations annotations = Annotations::none;
  OutputFiles files;  ///< uses only json, markdown, html, junit and openmetrics
  Presentation show;
};

/// Derives limits from good runs.
struct ExpectCommand {
  std::vector<std::string> good;  ///< results files of good runs; "-" is standard input
  std::string output = "-";       ///< file for the expectations; "-" is standard output
  bool allow_simulated = false;   ///< simulated runs are accepted
  bool allow_doubtful = false;    ///< runs that were cut off, failed or were not verified are accepted
  double assumed_spread = 0.02;   ///< assumed relative standard deviation between runs
  Presentation show;
};

/// Makes a profile for the simulated device.
struct CalibrateCommand {
  std::vector<std::string> results;  ///< results files to make the profile from; empty: measure this machine
  std::string output = "-";          ///< file for the profile; "-" is standard output
  std::string name = "calibrated";   ///< name of the profile
  std::string base = "h200";         ///< built-in profile that supplies what is not measured
  bool allow_simulated = false;      ///< simulated results are accepted
  DeviceChoice device;
  std::optional<std::string> json;  ///< file that keeps the measurements; absent: one next to the profile's file
  Presentation show;
};

/// Compares the predictions of a profile with results.
struct ValidateCommand {
  std::vector<std::string> results;  ///< results that the profile was not made from
  std::string profile;               ///< name or file of the profile, or results to make it from
  bool allow_simulated = false;      ///< simulated results may be predicted, too
  OutputFiles files;                 ///< uses only json, markdown and html
  Presentation show;
};

/// Profiles a program or reads a recording of one, and explains where its time goes.
struct ExplainCommand {
  std::vector<std::string> program;         ///< command line of the program to profile; empty: read `folder`
  std::string folder;                       ///< folder of the recording to read
  std::optional<std::string> recording;     ///< folder that keeps the recording; absent: it is not kept
  std::size_t runs = 1;                     ///< number of unprofiled runs, and of profiled ones
  bool baseline = true;                     ///< run the program unprofiled too, for comparison
  std::optional<std::string> range;         ///< NVTX range to explain; absent: the whole program
  double from = 0;                          ///< seconds after the program's start at which recording begins
  std::optional<double> seconds;            ///< duration of the recording; absent: to the end
  std::uint64_t max_records = 2'000'000;    ///< most records per process
  bool stacks = false;                      ///< record call stacks of the host
  bool exit_code = false;                   ///< return the program's exit code
  std::optional<std::string> limits;        ///< results with the machine's limits; absent: measure or use cached ones
  bool measure_limits = false;              ///< measure the limits again, even if they are cached
  bool all = false;                         ///< show findings of little gain and all processes too
  std::vector<explain::FindingKind> fixed;  ///< findings: also predict the time with just these fixed
  std::optional<std::string> simulate;      ///< profile of the simulated device whose limits apply
  OutputFiles files;                        ///< uses only json, markdown, html and timeline
  Presentation show;
};

/// Keeps GPUs busy and checks them.
struct SoakCommand {
  std::vector<std::string> arguments;  ///< the whole command line, for the record
  DeviceChoice device;
  SoakSettings settings;              ///< if its list of loads is empty: all loads that the machine can run
  std::optional<double> seconds;      ///< duration, if given
  OutputFiles files;                  ///< json with a line for each interval, markdown, html and openmetrics
  std::optional<std::string> resume;  ///< file of the soak to resume
  bool dry_run = false;               ///< print the plan and touch no device
  Presentation show;
};

struct ListCommand {
  enum class Of { everything, scenarios, suites, expectations, profiles, gpus };
  Of of = Of::everything;
  DeviceChoice device{};  ///< device whose GPUs Of::gpus lists
  OutputFiles files{};    ///< uses only markdown and html
  Presentation show{};
};

struct InfoCommand {
  DeviceChoice device;
  OutputFiles files{};  ///< uses only json, markdown and html
  Presentation show{};
};

/// Prints help for the program, a command or a scenario, as wide as the terminal.
struct HelpCommand {
  Page page;
};

/// Prints the manual page or a completion script.
struct TextCommand {
  std::string text;
};

struct VersionCommand {};

/// Prints completions of the last word.
struct CompleteCommand {
  std::vector<std::string> words;
};

/// Tests whether MPI can use the memory of that GPU. A run under mpirun starts this command as a process of its own.
struct GpuProbeCommand {
  int gpu = 0;
};

using Command = std::variant<RunCommand, TuneCommand, CompareCommand, ReportCommand, CheckCommand, ExpectCommand,
                             CalibrateCommand, ValidateCommand, ExplainCommand, SoakCommand, ListCommand, InfoCommand,
                             HelpCommand, TextCommand, VersionCommand, CompleteCommand, GpuProbeCommand>;

using Scenarios = std::span<const Scenario* const>;

/// To which scenarios an axis flag on the command line applies.
enum class AxisFlags {
  of_scenario,  ///< a flag before the scenarios: to all that have the axis; after a scenario: to that one
  of_all,       ///< to all that have the axis, wherever the flag stands: for command lines in older results files
};

/// Throws UsageError with one line that says what is wrong, what was expected and, if there is one, the nearest match.
Command parse(std::span<const std::string> arguments, Scenarios scenarios,
              AxisFlags axis_flags = AxisFlags::of_scenario);

/// The words after "--" of explain: the command line of another program, which is not parsed here.
std::optional<std::span<const std::string>> program_in(std::span<const std::string> arguments);

/// Names of data files that come with the program.
struct DataNames {
  std::vector<std::string> expectations;  ///< names for check --expect
  std::vector<std::string> suites;        ///< names for --suite
};

/// Completions of the last word, one per line; the line ":files" stands for file names.
std::string complete(std::span<const std::string> words, Scenarios scenarios, const DataNames& names);

/// The sampling policy for these choices, with defaults for values not given. Throws UsageError if minimum and maximum
/// contradict each other.
SamplingPolicy policy_of(const SamplingChoice& choice, double budget = SamplingPolicy().budget);

/// The flags that choose that device on a command line.
std::vector<std::string> flags_of(const DeviceChoice& device);

/// The command line that runs one case of `command` by itself on the same device, quoted for a shell: "xferbench
/// overlap --size 256MiB --streams 3 --simulate h200". It names the axes whose flags were given or whose values are not
/// the default.
std::string command_line(const TuneCommand& command, const PlannedCase& planned);

}  // namespace xferbench::cli
