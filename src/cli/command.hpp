// From argv to what to do. The only folder that knows CLI11.
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
  std::optional<int> gpu;               ///< as CUDA, or the simulated machine, counts them
  std::optional<GpuSelection> gpus;     ///< instead; neither: what the scenarios need, at least GPU 0
  NumaPolicy numa;                      ///< where the process is to run; not for the simulated device
  std::optional<std::string> simulate;  ///< a built-in profile or a profile file, if a modelled machine is to be used
  int rank = 0;                         ///< of this process among several
};

/// A file that a flag names; "-" is standard output.
struct NamedFile {
  const char* flag;  ///< without dashes
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
  /// Those that were asked for.
  [[nodiscard]] std::vector<NamedFile> named() const;
};

/// Whose notes a verdict is to leave beside its answer, on standard error.
enum class Annotations { none, github };

/// What was said of sampling; what is absent was not.
struct SamplingChoice {
  std::optional<double> ci;  ///< in percent of the median
  std::optional<double> budget;
  std::optional<std::size_t> min_samples;
  std::optional<std::size_t> max_samples;
};

/// How a command talks.
struct Presentation {
  bool quiet = false;
  bool details = false;  ///< in tables and Markdown: every measurement and finding, not only the most telling
  ColorMode color = ColorMode::automatic;
  ProgressMode progress = ProgressMode::automatic;  ///< never where `quiet`
  bool wide = false;                                ///< whole tables: every column and every row
};

/// What everything that measures shares.
struct Measuring {
  std::vector<std::string> arguments;  ///< the whole command line, for the record
  DeviceChoice device;
  OutputFiles files;
  SamplingChoice sampling;
  SamplingPolicy policy;  ///< what `sampling` comes to; for tune, `budget` is that of all configurations together
  std::uint64_t seed = 1;
  bool verify = true;
  bool dry_run = false;  ///< print the cases and touch no device
  Presentation show;
};

/// What was said of a run by many processes, under mpirun or srun.
struct FleetChoice {
  bool mpi = false;                       ///< MPI is to be started although no launcher has started the program
  std::vector<Pacing> pace{Pacing::all};  ///< each once
  bool share_gpus = false;                ///< several ranks may be on one GPU
  double timeout = 60;                    ///< seconds that a rank waits for another one
  double threshold = 0.03;                ///< a shortfall within this share does not matter
};

struct RunCommand {
  Measuring measuring;
  FleetChoice fleet;
  std::vector<PlannedCase> cases;
  std::optional<std::string> suite;    ///< name or file: it says which cases there are; `cases` is empty
  std::optional<std::string> resume;   ///< file whose command is to be finished; `cases` is empty
  std::optional<std::size_t> turns;    ///< times that the run goes through all cases
  std::optional<std::size_t> repeat;   ///< fresh processes that do all of it
  bool into_one_file = false;          ///< what these measured, as a suite says
  bool is_one_of_several = false;      ///< that a suite would have where only a results file is written
  std::optional<std::string> spread;   ///< file that is to know how far these processes lie apart
  std::optional<std::size_t> process;  ///< which of them this one is, from 1; absent in the one that starts them
  std::vector<std::string> flags;      ///< without dashes: those of a run, not those of axes, that were given
};

struct TuneCommand {
  Measuring measuring;
  std::vector<PlannedCase> cases;             ///< of one scenario
  std::vector<std::string> given;             ///< axes whose flags were given
  std::optional<std::uint64_t> memory_limit;  ///< bytes of device memory that a configuration may need
  bool exhaustive = false;                    ///< every configuration is measured
  Objective objective = Objective::device;    ///< the time that is searched for
};

/// What is to be compared and where the answer goes.
struct CompareCommand {
  std::vector<std::string> base;    ///< files; "-" is standard input
  std::vector<std::string> next;    ///< the same
  std::vector<std::string> across;  ///< instead of both: files to be shown side by side
  compare::Options options;
  std::optional<std::string> spread;  ///< file of known spreads between processes
  bool all = false;                   ///< list every case
  Annotations annotations = Annotations::none;
  OutputFiles files;  ///< json, markdown and html
  Presentation show;
};

/// Stored files that are to be shown.
struct ReportCommand {
  std::vector<std::string> stored{};  ///< "-" is standard input; empty where one of the following is not
  std::vector<std::string> base{};    ///< processes of what `next` is compared with
  std::vector<std::string> next{};
  std::vector<std::string> trend{};  ///< many runs of one machine
  bool allow_simulated = false;      ///< simulated results may stand beside real ones
  OutputFiles files;                 ///< markdown and html
  Presentation show;
};

struct CheckCommand {
  std::vector<std::string> results;  ///< the files to check; "-" is standard input
  std::string expect;                ///< name or path of the expectations
  bool allow_simulated = false;      ///< simulated results may be checked
  Annotations annotations = Annotations::none;
  OutputFiles files;  ///< json, markdown, html, junit and openmetrics
  Presentation show;
};

/// Limits from good runs.
struct ExpectCommand {
  std::vector<std::string> good;  ///< files; "-" is standard input
  std::string output = "-";       ///< file for the expectations; "-" is standard output
  bool allow_simulated = false;   ///< simulated runs may be taken
  bool allow_doubtful = false;    ///< runs that were cut off, failed or were not verified may be
  double assumed_spread = 0.02;   ///< between runs, relative
  Presentation show;
};

/// A profile for the simulated device.
struct CalibrateCommand {
  std::vector<std::string> results;  ///< files that it is made of; empty: this machine is measured
  std::string output = "-";          ///< file for the profile; "-" is standard output
  std::string name = "calibrated";   ///< of the profile
  std::string base = "h200";         ///< built-in profile that has what is not measured
  bool allow_simulated = false;      ///< simulated results may be taken
  DeviceChoice device;               ///< that is measured
  std::optional<std::string> json;   ///< file that keeps what is measured; absent: one beside the profile's file
  Presentation show;
};

/// How right a profile is.
struct ValidateCommand {
  std::vector<std::string> results;  ///< files that the profile was not made of
  std::string profile;               ///< name or file of it, or results that it is made of
  bool allow_simulated = false;      ///< simulated results may be predicted, too
  OutputFiles files;                 ///< json, markdown and html
  Presentation show;
};

/// A program of the user's that is to be watched, or the recording of one, and what is to be told of it.
struct ExplainCommand {
  std::vector<std::string> program;          ///< words of the command that is to be watched; empty: `folder` is read
  std::string folder;                        ///< of a recording
  std::optional<std::string> recording;      ///< folder in which the recording is kept; else it is not
  std::size_t runs = 1;                      ///< times that the program runs unwatched, and watched
  bool bare = true;                          ///< it runs unwatched, too
  std::optional<std::string> range;          ///< NVTX range that is explained; else the whole program
  double from = 0;                           ///< seconds after its start at which recording begins
  std::optional<double> seconds;             ///< that recording goes on; else to the end
  std::uint64_t max_records = 2'000'000;     ///< of each process
  bool stacks = false;                       ///< call stacks of the host are recorded
  bool exit_code = false;                    ///< the exit code is the program's
  std::optional<std::string> limits;         ///< results that say what the machine can do; else it is measured
  bool measure_limits = false;               ///< anew, although it is known
  bool all = false;                          ///< even findings that gain little, and all processes
  std::vector<explain::FindingKind> mended;  ///< the time with just these mended is told, too
  std::optional<std::string> simulate;       ///< profile of the device whose limits are meant
  OutputFiles files;                         ///< json, markdown, html and timeline
  Presentation show;
};

/// GPUs that are to be kept busy and watched.
struct SoakCommand {
  std::vector<std::string> arguments;  ///< the whole command line, for the record
  DeviceChoice device;
  SoakSettings settings;              ///< without loads where none were given: all that the machine can carry
  std::optional<double> seconds;      ///< that it lasts, where that was said
  OutputFiles files;                  ///< json, which grows by a line each interval, and openmetrics
  std::optional<std::string> resume;  ///< file of a soak that is to go on
  bool dry_run = false;               ///< say what would be done, and touch no device
  Presentation show;
};

struct ListCommand {
  enum class Of { everything, scenarios, suites, expectations, profiles, gpus };
  Of of = Of::everything;
  DeviceChoice device{};  ///< for Of::gpus
  OutputFiles files{};    ///< markdown and html
  Presentation show{};
};

struct InfoCommand {
  DeviceChoice device;
  OutputFiles files{};  ///< json, markdown and html
  Presentation show{};
};

/// Prints help, as wide as the terminal: flags of a command, and what a scenario's results have.
struct HelpCommand {
  Page page;
};

/// Prints the manual page or a completion script.
struct TextCommand {
  std::string text;
};

struct VersionCommand {};

/// Prints what may stand in place of the last of these words.
struct CompleteCommand {
  std::vector<std::string> words;
};

/// What a run under mpirun asks of a process of its own: whether MPI can be given memory of that GPU.
struct GpuProbeCommand {
  int gpu = 0;
};

using Command = std::variant<RunCommand, TuneCommand, CompareCommand, ReportCommand, CheckCommand, ExpectCommand,
                             CalibrateCommand, ValidateCommand, ExplainCommand, SoakCommand, ListCommand, InfoCommand,
                             HelpCommand, TextCommand, VersionCommand, CompleteCommand, GpuProbeCommand>;

using Scenarios = std::span<const Scenario* const>;

/// How far a flag of an axis holds.
enum class AxisFlags {
  of_scenario,  ///< before the scenarios: for all that have it; after one: for that one
  of_all,       ///< for all that have it, wherever it stands: as command lines in older results files mean it
};

/// Throws UsageError with one line that says what is wrong, what was expected and, where one is near, what was probably
/// meant.
Command parse(std::span<const std::string> arguments, Scenarios scenarios,
              AxisFlags axis_flags = AxisFlags::of_scenario);

/// What stands behind "--" of explain: the command line of another program, which nobody here reads.
std::optional<std::span<const std::string>> program_in(std::span<const std::string> arguments);

/// Names of files that come with the program.
struct DataNames {
  std::vector<std::string> expectations;  ///< for check --expect
  std::vector<std::string> suites;        ///< for --suite
};

/// The words that may stand in place of the last one, one a line; ":files" stands for the names of files.
std::string complete(std::span<const std::string> words, Scenarios scenarios, const DataNames& names);

/// The policy for what was chosen; what was not is the default. Throws UsageError if minimum and maximum contradict
/// each other.
SamplingPolicy policy_of(const SamplingChoice& choice, double budget = SamplingPolicy().budget);

/// The words that choose that device on a command line.
std::vector<std::string> flags_of(const DeviceChoice& device);

/// The command that runs one case of `command` by itself, on the same device: "xferbench overlap --size 256MiB
/// --streams 3 --simulate h200". Names the axes whose flags were given or whose values are not the default. As a
/// shell reads it.
std::string command_line(const TuneCommand& command, const PlannedCase& planned);

}  // namespace xferbench::cli
