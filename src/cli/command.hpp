// Parses the command line into a command. No other folder uses the library CLI11.
#pragma once

#include <cstdint>
#include <map>
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
#include "results/report_format.hpp"
#include "results/soak.hpp"
#include "run/runner.hpp"

namespace xferbench::cli {

enum class ColorMode { automatic, always, never };
enum class ProgressMode { automatic, plain, never };

struct DeviceChoice {
  std::optional<GpuSelection> gpu;  ///< --gpu: one GPU of CUDA or of the simulated machine
  /// --gpus, an alternative to `gpu`; without both flags, the GPUs that the scenarios need
  std::optional<GpuSelection> gpus;
  NumaPolicy numa;                      ///< NUMA placement of the process; not used with the simulated device
  std::optional<std::string> simulate;  ///< name or path of the simulated machine's profile; absent: use real GPUs
  int rank = 0;                         ///< MPI rank or process number; gives each simulated process different noise
};

/// An output file and the flag that names it; "-" is standard output.
struct NamedFile {
  std::string flag;  ///< name of the flag, without dashes
  std::string path;
};

/// Returns the flag that messages name for a file of --format, without dashes: "format bmf".
std::string flag_of_format(ReportFormat format);

/// Throws UsageError if two of the flags name the same file or both name standard output.
void refuse_shared_files(std::span<const NamedFile> files);

/// The output files of a command; "-" is standard output.
struct OutputFiles {
  std::optional<std::string> json{};
  std::optional<std::string> csv{};
  std::optional<std::string> markdown{};
  std::optional<std::string> html{};
  std::optional<std::string> timeline{};
  std::optional<std::string> junit{};
  std::optional<std::string> openmetrics{};
  std::map<ReportFormat, std::string> formats{};
  /// Returns the files that were requested, with their flags.
  [[nodiscard]] std::vector<NamedFile> named() const;
};

/// Whether `compare` and `check` write annotations for GitHub Actions to standard error.
enum class Annotations { none, github };

/// Values of the sampling flags; absent if a flag was not given.
struct SamplingChoice {
  std::optional<double> ci;      ///< target half-width of the 95% interval, in percent of the median
  std::optional<double> budget;  ///< seconds of host time for each case; for `tune`, for all configurations together
  std::optional<std::size_t> min_samples;
  std::optional<std::size_t> max_samples;
};

struct Presentation {
  bool quiet = false;
  /// tables and Markdown show every measurement and finding, and not only the most important ones
  bool details = false;
  ColorMode color = ColorMode::automatic;
  ProgressMode progress = ProgressMode::automatic;  ///< how progress is shown; ProgressMode::never if `quiet`
  bool wide = false;                                ///< show whole tables, with every column and row
};

/// Options of all measuring commands.
struct Measuring {
  std::vector<std::string> arguments;  ///< the whole command line, which is stored in the results
  DeviceChoice device;
  OutputFiles files;
  SamplingChoice sampling;
  SamplingPolicy policy;  ///< made from `sampling`; for `tune`, its `budget` is for all configurations together
  std::uint64_t seed = 1;
  bool verify = true;
  bool dry_run = false;  ///< only print the cases and use no device
  Presentation show;
};

/// Options of a run of several MPI ranks, under mpirun or srun.
struct FleetChoice {
  bool mpi = false;  ///< start MPI even if neither mpirun nor srun has started the program
  /// values of --concurrency (which ranks measure at the same time), each once
  std::vector<RankConcurrency> pace{RankConcurrency::all};
  bool share_gpus = false;  ///< allow several ranks to use the same GPU
  double timeout = 60;      ///< seconds that a rank waits for another one before it gives up
  double threshold = 0.03;  ///< a rank that is slower than its peers by at most this fraction is not reported
};

struct RunCommand {
  Measuring measuring;
  FleetChoice fleet;
  std::vector<PlannedCase> cases;
  std::optional<std::string> suite;    ///< name or file of the suite that defines the cases; if given, `cases` is empty
  std::optional<std::string> resume;   ///< results file of the run to finish; if given, `cases` is empty
  std::optional<std::size_t> turns;    ///< number of passes over all cases
  std::optional<std::size_t> repeat;   ///< number of fresh processes, each of which measures all cases
  bool into_one_file = false;          ///< merge the results of all processes into one file; set if a suite asks for it
  bool is_one_of_several = false;      ///< only one process measures, although the suite asks for several
  std::optional<std::string> spread;   ///< file to which the variation between the processes of `repeat` is added
  std::optional<std::size_t> process;  ///< number of this child process, from 1; absent in the parent process
  std::vector<std::string> flags;      ///< names (without dashes) of the given flags that only `run` has; no axis flags
};

struct TuneCommand {
  Measuring measuring;
  std::vector<PlannedCase> cases;  ///< cases of one scenario, which form the search space
  std::vector<std::string> given;  ///< names of the axes whose flags were given
  /// largest number of bytes of device memory that a configuration may need
  std::optional<std::uint64_t> memory_limit;
  bool exhaustive = false;                  ///< measure every configuration
  Objective objective = Objective::device;  ///< the time to minimize: device time or time to result
};

struct CompareCommand {
  std::vector<std::string> base;      ///< results files of the base side; "-" is standard input
  std::vector<std::string> new_side;  ///< results files of the new side; "-" is standard input
  std::vector<std::string> across;    ///< results files to show side by side, in place of `base` and `new_side`
  compare::Options options;
  std::optional<std::string> spread;  ///< file with the known variation between processes
  bool all = false;                   ///< list every case and not only those that changed
  Annotations annotations = Annotations::none;
  OutputFiles files;  ///< the command uses only json, markdown and html
  Presentation show;
};

struct ReportCommand {
  std::vector<std::string> stored{};  ///< files to show, "-" is standard input; empty if `base` or `trend` is given
  std::vector<std::string> base{};    ///< results files of the base side, one per process; compared with `new_side`
  std::vector<std::string> new_side{};
  std::vector<std::string> trend{};  ///< results files of many runs on one machine, for a chart over time
  bool allow_simulated = false;      ///< allow simulated and real results to be shown together
  OutputFiles files;                 ///< the command uses only markdown, html and formats
  Presentation show;
};

struct CheckCommand {
  std::vector<std::string> results;  ///< the files to check; "-" is standard input
  std::string expect;                ///< name or path of the file with the expectations
  bool allow_simulated = false;
  Annotations annotations = Annotations::none;
  OutputFiles files;  ///< the command uses only json, markdown, html, junit and openmetrics
  Presentation show;
};

/// Derives limits from runs that are known to be good.
struct ExpectCommand {
  std::vector<std::string> good;  ///< results files of runs that are known to be good; "-" is standard input
  std::string output = "-";       ///< file for the expectations; "-" is standard output
  bool allow_simulated = false;   ///< accept simulated runs
  bool allow_doubtful = false;    ///< accept runs that were cut off, have failed cases or were not verified
  double assumed_spread = 0.02;   ///< assumed relative standard deviation between runs
  Presentation show;
};

/// Makes a profile for the simulated device.
struct CalibrateCommand {
  std::vector<std::string> results;  ///< results files to make the profile from; empty: measure this machine
  std::string output = "-";          ///< file for the profile; "-" is standard output
  std::string name = "calibrated";   ///< name of the profile
  std::string base = "h200";     ///< name of the built-in profile from which numbers that were not measured are taken
  bool allow_simulated = false;  ///< accept simulated results
  DeviceChoice device;
  std::optional<std::string> json;  ///< file that keeps the measurements; absent: a file next to the profile
  Presentation show;
};

/// Compares the predictions of a profile with results.
struct ValidateCommand {
  /// results files to compare with the predictions; the profile must not be made from them
  std::vector<std::string> results;
  std::string profile;           ///< name or file of the profile, or results to make it from
  bool allow_simulated = false;  ///< allow simulated results to be compared, too
  OutputFiles files;             ///< the command uses only json, markdown and html
  Presentation show;
};

/// Profiles a program or reads a recording of one, and explains where its time goes.
struct ExplainCommand {
  std::vector<std::string> program;         ///< command line of the program to profile; empty: read `folder`
  std::string folder;                       ///< folder of the recording to read
  std::optional<std::string> recording;     ///< folder that keeps the recording; absent: it is not kept
  std::size_t runs = 1;                     ///< number of runs with profiling, and of runs without
  bool baseline = true;                     ///< also run the program without profiling, for comparison
  std::optional<std::string> range;         ///< NVTX range to explain; absent: the whole program
  double from = 0;                          ///< seconds after the program's start at which recording begins
  std::optional<double> seconds;            ///< duration of the recording; absent: to the end
  std::uint64_t max_records = 2'000'000;    ///< maximum number of records for each process
  bool stacks = false;                      ///< record call stacks of the host
  bool file_reads = false;                  ///< record what the program reads from files
  bool exit_code = false;                   ///< end with the program's exit code
  std::optional<std::string> limits;        ///< results with the machine's limits; absent: measure or use cached ones
  bool measure_limits = false;              ///< measure the limits again, even if they are cached
  bool all = false;                         ///< also show findings with little gain, and all processes
  std::vector<explain::FindingKind> fixed;  ///< also predict the time if only these findings were fixed
  std::optional<std::string> simulate;      ///< profile of a simulated device; if given, its limits are used
  OutputFiles files;                        ///< the command uses only json, markdown, html and timeline
  Presentation show;
};

/// Runs the soak test, which keeps GPUs busy and checks them.
struct SoakCommand {
  std::vector<std::string> arguments;  ///< the whole command line, which is stored in the results file
  DeviceChoice device;
  SoakSettings settings;  ///< options of the test; if `settings.loads` is empty, all loads that the machine can run
  std::optional<double> seconds;      ///< duration in seconds; absent if not given
  OutputFiles files;                  ///< the command uses json (a line for each interval), markdown, html, openmetrics
  std::optional<std::string> resume;  ///< file of the soak test to resume
  bool dry_run = false;               ///< only print the plan and use no device
  Presentation show;
};

struct ListCommand {
  enum class Of { everything, scenarios, suites, expectations, profiles, gpus };
  Of of = Of::everything;
  DeviceChoice device{};  ///< the machine whose GPUs `list gpus` shows
  OutputFiles files{};    ///< the command uses only markdown and html
  Presentation show{};
};

struct InfoCommand {
  DeviceChoice device;
  OutputFiles files{};  ///< the command uses only json, markdown and html
  Presentation show{};
};

/// Prints help for the program, a command or a scenario, as wide as the terminal.
struct HelpCommand {
  Page page;
};

/// Prints a fixed text: the manual page or a completion script.
struct TextCommand {
  std::string text;
};

struct VersionCommand {};

/// Prints possible completions of the last word, for a shell.
struct CompleteCommand {
  std::vector<std::string> words;
};

/// Tests whether MPI can use the memory of a GPU. A run under mpirun starts this command in a child process.
struct GpuProbeCommand {
  int gpu = 0;
};

/// Serves cuFile requests of the parent process, see scenarios/storage/cufile_server.hpp.
struct CufileCommand {
  int gpu = 0;
};

using Command = std::variant<RunCommand, TuneCommand, CompareCommand, ReportCommand, CheckCommand, ExpectCommand,
                             CalibrateCommand, ValidateCommand, ExplainCommand, SoakCommand, ListCommand, InfoCommand,
                             HelpCommand, TextCommand, VersionCommand, CompleteCommand, GpuProbeCommand, CufileCommand>;

using Scenarios = std::span<const Scenario* const>;

/// Determines to which scenarios an axis flag on the command line applies.
enum class AxisFlags {
  /// a flag before all scenarios applies to every scenario that has the axis, a flag after a scenario only to that one
  of_scenario,
  of_all,  ///< a flag applies to all scenarios that have the axis, wherever it stands; for old stored command lines
};

/// Throws UsageError with one line: what is wrong, what was expected and, if there is one, a similar correct word.
Command parse(std::span<const std::string> arguments, Scenarios scenarios,
              AxisFlags axis_flags = AxisFlags::of_scenario);

/// Returns the words after "--" of `explain`, which are the command line of another program; nullopt without "--".
std::optional<std::span<const std::string>> program_in(std::span<const std::string> arguments);

/// Names of the data files that come with the program.
struct DataNames {
  std::vector<std::string> expectations;  ///< names for check --expect
  std::vector<std::string> suites;        ///< names for --suite
};

/// Returns completions of the last word, one per line. The line ":files" tells the shell to complete file names.
std::string complete(std::span<const std::string> words, Scenarios scenarios, const DataNames& names);

/// Makes the sampling policy for these flags, with defaults for flags not given. Throws UsageError if they conflict.
SamplingPolicy policy_of(const SamplingChoice& choice, double budget = SamplingPolicy().budget);

std::vector<std::string> flags_of(const DeviceChoice& device);

/// Returns the command line that runs one case of `command` on the same device, quoted for a shell: "xferbench overlap
/// --size 256MiB --streams 3 --simulate h200". Leaves out axes with the default value, unless their flag was given.
std::string command_line(const TuneCommand& command, const PlannedCase& planned);

}  // namespace xferbench::cli
