// Command `soak`: keeps GPUs busy for hours and checks their data and transfer rates.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/abort_run.hpp"
#include "app/commands.hpp"
#include "app/files.hpp"
#include "app/fleet/rank_session.hpp"
#include "app/resume.hpp"
#include "app/session.hpp"
#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/lists.hpp"
#include "core/standard_error.hpp"
#include "paper/writers.hpp"
#include "report/openmetrics/openmetrics.hpp"
#include "report/soak/soak_report.hpp"
#include "results/output_file.hpp"
#include "results/soak_file.hpp"
#include "scenarios/scenarios.hpp"
#include "soak/stage.hpp"
#include "words/soak.hpp"

namespace xferbench::app {

namespace {

using soak::GpuState;
using soak::Moment;

/// Returns the resident memory of this process in bytes; 0 if unknown.
std::uint64_t resident_bytes() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;  // the second number in the file is the number of resident pages
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::vector<GpuState> states_of(Machine& machine) {
  std::vector<GpuState> states;
  for (std::size_t i = 0; i < machine.devices().size(); ++i) {
    Device& device = machine.device(i);
    states.push_back({machine.device().capabilities().environment.number_of(i), device.health(), device.clocks()});
  }
  return states;
}

/// Writes all outputs of a soak test: its results file, the table, OpenMetrics, Markdown and HTML. If the measuring
/// thread is blocked, the watchdog thread uses this class too.
class SoakOutput {
 public:
  SoakOutput(const cli::SoakCommand& command, SoakHeader header, std::optional<SoakFile> file,
             std::optional<SoakInterval> last)
      : header_(std::move(header)),
        new_file_(command.files.json),
        file_(std::move(file)),
        last_(std::move(last)),
        show_(command.show),
        shows_table_(command.files.json != "-") {
    for (const auto& [output, path] : {std::pair{&metrics_, &command.files.openmetrics},
                                       {&markdown_, &command.files.markdown},
                                       {&page_, &command.files.html}}) {
      if (!*path) continue;
      output->file.emplace(**path);
      if (output->file->is_standard_output()) shows_table_ = false;
    }
    // the HTML page of a resumed soak test also shows its earlier intervals
    if (page_.file && file_) rates_ = rates_in(*command.resume);
  }

  /// Prints the heading of the table, and creates a new results file with its first line. Called after setup has
  /// succeeded.
  void begin() {
    if (new_file_) {
      file_.emplace(SoakFile::create(*new_file_));
      file_->append(to_json(header_));
      // standard output may also be named by a path, such as /dev/stdout
      if (file_->is_standard_output()) shows_table_ = false;
    }
    if (shows_lines()) attempt(table_error_, [this] { write_standard_output(soak_heading(header_, style())); });
  }

  /// Writes an interval to all outputs. A failed write does no harm if the next one succeeds, because each line
  /// contains the totals so far. Throws OutputError if no readable output is left.
  void add(SoakInterval interval) {
    const std::scoped_lock lock(mutex_);
    if (page_.file) keep_rates(rates_, interval);
    last_ = std::move(interval);
    if (file_) attempt(file_error_, [this] { restore_file(), file_->append(to_json(*last_)); });
    if (metrics_.file) {
      attempt(metrics_.error, [this] { metrics_.file->update([this](const Sink& sink) { sink(metrics()); }); });
    }
    if (shows_lines()) attempt(table_error_, [this] { write_standard_output(soak_lines(header_, *last_, style())); });
    const bool keeps = has_file() || metrics_.file || markdown_.file || page_.file;
    if (!keeps && table_error_) throw OutputError(*table_error_);
    if (file_ && file_->is_standard_output() && file_error_) throw OutputError(*file_error_);
  }

  /// Writes the totals and the verdict to all outputs. Then throws OutputError if one of them could not be written.
  void finish() {
    const std::scoped_lock lock(mutex_);
    if (!last_) return;
    if (file_ && !file_error_) attempt(file_error_, [this] { restore_file(); });
    const auto document = [this] { return document_of(header_, *last_, rates_); };
    finish(metrics_, [this] { return metrics(); });
    finish(markdown_, [&] { return to_markdown(document()); });
    finish(page_, [&] { return to_html(document()); });
    if (shows_table_) attempt(table_error_, [&] { write_standard_output(to_terminal(document(), style())); });
    for (const auto& error : {file_error_, file_harm_, metrics_.error, markdown_.error, page_.error, table_error_}) {
      if (error) throw OutputError(*error);
    }
  }

  /// Called by the watchdog thread if the soak test does not end by itself. Ends the outputs with the last totals.
  void give_up(SoakEnd how, const std::string& reason) {
    SoakInterval interval;
    {
      const std::scoped_lock lock(mutex_);
      if (last_) interval = *last_;
    }
    interval.at = utc_now();
    interval.end = how;
    interval.reason = reason;
    if (how == SoakEnd::stuck) soak::add_loss(interval.so_far, interval.at, reason);
    add(std::move(interval));
    finish();
  }

  [[nodiscard]] bool has_file() const { return file_ ? !file_->is_standard_output() : new_file_ && new_file_ != "-"; }

 private:
  using Error = std::optional<std::string>;
  /// A requested output file, and the error of the last attempt to write it.
  struct Output {
    std::optional<ResultsFile> file{};
    Error error{};
  };
  /// Runs `write`. Reports the first of several consecutive failures, and keeps the error until a write succeeds.
  template <class Write>
  static void attempt(Error& error, const Write& write) {
    try {
      write();
      error.reset();
    } catch (const OutputError& failed) {
      if (!error) tell(std::string(failed.what()) + "; the soak continues, and tries again with the next line");
      error = failed.what();
    }
  }
  template <class Text>
  static void finish(Output& output, const Text& text) {
    if (output.file) attempt(output.error, [&] { output.file->finish(text()); });
  }
  void restore_file() {
    std::string harm = file_->restore();
    if (harm.empty()) return;
    tell(harm);
    file_harm_ = std::move(harm);
  }
  [[nodiscard]] bool shows_lines() const { return shows_table_ && !show_.quiet; }
  [[nodiscard]] Style style() const { return style_of(show_); }
  [[nodiscard]] std::string metrics() const { return openmetrics::to_text(soak_metrics(header_, *last_)); }

  std::mutex mutex_;
  SoakHeader header_;
  std::optional<std::string> new_file_;  // path of the file that begin() creates; absent if there is none
  std::optional<SoakFile> file_;
  std::optional<SoakInterval> last_;
  std::vector<RateSample> rates_;  // transfer rates of all intervals, for the chart in the HTML page
  Output metrics_;
  Output markdown_;
  Output page_;
  Error file_error_;
  Error file_harm_;  // description of damage that another program did to the results file
  Error table_error_;
  cli::Presentation show_;
  bool shows_table_;
};

/// Runs one soak test, or the remainder of a resumed one, until its time is over or a signal arrives.
class Soak {
 public:
  Soak(Machine& machine, const SoakSettings& settings, std::optional<SoakTotals> before, SoakOutput& output)
      : machine_(machine),
        settings_(settings),
        output_(output),
        before_(before ? before->elapsed : 0),
        stage_(machine, settings),
        tally_(settings, states_of(machine), std::move(before)) {}

  SoakEnd run() {
    begun_ = machine_.host().now();
    closed_ = before_;
    try {
      // The round number seeds the data. It starts at the elapsed seconds, so that a resumed test uses new data.
      auto round = static_cast<std::uint64_t>(before_);
      while (before_end() && interrupted() == 0) run_round(round++);
    } catch (const DeviceError& error) {
      tally_.record_loss(now(), error.what());
      return end(SoakEnd::lost, error.what());
    }
    return interrupted() != 0 ? end(SoakEnd::interrupted, {}) : end(SoakEnd::complete, {});
  }

  [[nodiscard]] const SoakTotals& totals() const { return tally_.so_far(); }

 private:
  /// Returns the duration in seconds of one turn, in which one load runs. The turns of all loads together take a tenth
  /// of an interval, so that intervals end on time and short drops of the rate are seen.
  [[nodiscard]] double turn_seconds() const {
    constexpr double kShortest = 0.05;
    constexpr double kLongest = 2;
    return std::clamp(settings_.interval / (10 * static_cast<double>(settings_.loads.size())), kShortest, kLongest);
  }
  [[nodiscard]] Moment now() const { return {before_ + machine_.host().now() - begun_, utc_now()}; }
  [[nodiscard]] bool before_end() const { return now().elapsed < settings_.seconds; }

  void run_round(std::uint64_t round) {
    keep([&](std::vector<soak::GpuTurn>& turns) { stage_.begin_round(round, turns); });
    for (const SoakLoad load : settings_.loads) {
      if (interrupted() != 0) break;
      // Each load runs at least once, even if no time is left.
      const double seconds = std::clamp(settings_.seconds - now().elapsed, 0.0, turn_seconds());
      const auto look = [this] { soak::add_health(looks_, states_of(machine_)); };
      keep([&](std::vector<soak::GpuTurn>& turns) { stage_.run(load, seconds, turns, look); });
    }
    if (now().elapsed - closed_ >= settings_.interval && before_end()) close(SoakEnd::goes_on, {});
  }

  /// Runs `act` and adds its turns to the tally. Does so even if `act` throws DeviceError, because wrong data that was
  /// found before may explain the error.
  template <class Do>
  void keep(const Do& act) {
    std::vector<soak::GpuTurn> turns;
    const double before = now().elapsed;
    const auto add = [&] {
      const Moment moment = now();
      for (const soak::GpuTurn& turn : turns) tally_.add(turn, moment.elapsed - before, moment);
    };
    try {
      act(turns);
    } catch (const DeviceError&) {
      if (!turns.empty()) stage_.finish_host_check(turns);
      add();
      throw;
    }
    add();
  }

  void close(SoakEnd how, const std::string& reason) {
    const Moment moment = now();
    soak::add_health(looks_, states_of(machine_));
    SoakInterval interval = tally_.close(moment, std::exchange(looks_, {}));
    interval.memory = resident_bytes();
    interval.end = how;
    interval.reason = reason;
    closed_ = moment.elapsed;
    output_.add(std::move(interval));
  }

  SoakEnd end(SoakEnd how, const std::string& reason) {
    close(how, reason);
    return how;
  }

  Machine& machine_;
  SoakSettings settings_;
  SoakOutput& output_;
  double before_;                  // duration of the soak test in seconds before it was resumed; 0 if it was not
  double begun_ = 0;               // time at which this process began the soak test, in seconds of the host's clock
  double closed_ = 0;              // end of the last interval, in seconds since the start of the soak test
  std::vector<GpuState> looks_{};  // states of all GPUs that were read in the current interval
  soak::Stage stage_;
  soak::Tally tally_;
};

[[noreturn]] void abort_soak(const Alarm& alarm, SoakOutput& output) {
  const bool stuck = alarm.kind == Alarm::Kind::stuck;
  const std::string reason = stuck ? stuck_reason(alarm) : std::string("interrupted during a call that takes long");
  try {
    tell(reason + (stuck ? "; check dmesg (NVRM: Xid) and nvidia-smi" : ""));
    output.give_up(stuck ? SoakEnd::stuck : SoakEnd::interrupted, reason);
  } catch (const std::exception& error) {
    tell(error.what());
  }
  std::_Exit(stuck ? static_cast<int>(ExitCode::stuck) : 128 + interrupted());
}

/// Returns the requested loads; without a request, all loads that this machine can run.
std::vector<SoakLoad> loads_for(const std::vector<SoakLoad>& asked, std::size_t gpus) {
  std::vector<SoakLoad> loads = asked;
  if (asked.empty()) {
    loads = {SoakLoad::h2d, SoakLoad::d2h, SoakLoad::both, SoakLoad::d2d, SoakLoad::kernel};
    if (gpus > 1) loads.push_back(SoakLoad::p2p);
  } else if (gpus < 2 && has_item(asked, SoakLoad::p2p)) {
    throw UsageError("--load p2p needs at least two GPUs: add --gpus all, or leave p2p out");
  }
  return loads;
}

int soak_with(const cli::SoakCommand& command, SoakHeader header, MonitoredMachine& monitored,
              std::optional<SoakFile> file, std::optional<SoakInterval> last) {
  const SoakSettings settings = header.settings;
  std::optional<SoakTotals> before;
  if (last) before = last->so_far;
  if (!before && command.resume) before.emplace();
  if (before) {
    before->seconds = settings.seconds;
    if (before->resumed_at.size() >= SoakTotals::kMostKept) before->resumed_at.erase(before->resumed_at.begin());
    before->resumed_at.push_back(utc_now());
  }
  SoakOutput output(command, std::move(header), std::move(file), std::move(last));
  install_interrupt_handlers(output.has_file() ? HangUp::ignored : HangUp::ends,
                             command.show.quiet ? Acknowledge::no : Acknowledge::yes);
  Soak soak(*monitored.machine, settings, std::move(before), output);
  output.begin();
  SoakEnd end{};
  {
    const auto watch = monitored.watchdog.watch([&](const Alarm& alarm) { abort_soak(alarm, output); });
    end = soak.run();
  }
  output.finish();
  if (end == SoakEnd::interrupted) return 128 + interrupted();
  const bool well = end == SoakEnd::complete && soak::is_healthy(soak.totals());
  return static_cast<int>(well ? ExitCode::ok : ExitCode::failed);
}

/// Parses the stored command line that began the soak test. The returned command names the device to use.
cli::SoakCommand soak_command_of(const SoakHeader& header, const std::string& file) {
  const std::vector<std::string> arguments(header.command.begin() + (header.command.empty() ? 0 : 1),
                                           header.command.end());
  try {
    const cli::Command parsed = cli::parse(arguments, scenarios());
    if (const auto* soak = std::get_if<cli::SoakCommand>(&parsed)) return *soak;
  } catch (const UsageError& error) {
    throw InputError(fmt::format("{}: this version of xferbench does not know its command: {}", file, error.what()));
  }
  throw InputError(fmt::format("{}: its command is not soak", file));
}

/// Throws InputError if the stored settings are not legal on a command line, because the file is then damaged.
void check_stored(const SoakSettings& settings, const std::string& file) {
  const auto loads = list_of(settings.loads, [](SoakLoad load) { return to_text(load); });
  const std::vector<std::string> flags{"soak",
                                       fmt::format("--for={}s", settings.seconds),
                                       fmt::format("--interval={}s", settings.interval),
                                       fmt::format("--floor={}%", 100 * settings.floor),
                                       fmt::format("--size={}", settings.size),
                                       fmt::format("--load={}", fmt::join(loads, ","))};
  try {
    static_cast<void>(cli::parse(flags, scenarios()));
  } catch (const UsageError& error) {
    throw InputError(fmt::format("{}: its settings are invalid: {}", file, error.what()));
  }
}

int resume_soak(cli::SoakCommand command) {
  const std::string& name = *command.resume;
  StoredSoak stored;
  SoakFile file = SoakFile::go_on(name, stored);
  if (stored.last && stored.last->so_far.seconds > 0) stored.header.settings.seconds = stored.last->so_far.seconds;
  if (command.seconds) stored.header.settings.seconds = *command.seconds;
  check_stored(stored.header.settings, name);
  if (stored.last && stored.last->elapsed >= stored.header.settings.seconds) {
    tell(fmt::format("{} is complete; --for with a longer time continues it", name));
    JudgementFiles files(command.files, {{name}});
    const Document document = document_of(stored.header, *stored.last, rates_in(name));
    files.write({.document = [&] { return document; },
                 .style = style_of(command.show),
                 .openmetrics = [&] { return openmetrics::to_text(soak_metrics(stored.header, *stored.last)); }});
    return static_cast<int>(soak::is_healthy(stored.last->so_far) ? ExitCode::ok : ExitCode::failed);
  }
  const cli::SoakCommand begun = soak_command_of(stored.header, name);
  if (!command.files.openmetrics) command.files.openmetrics = begun.files.openmetrics;
  MonitoredMachine monitored(begun.device, {});
  refuse_another_machine(name, stored.header.environment, stored.header.tool, monitored.device());
  stored.header.settings.loads = loads_for(stored.header.settings.loads, monitored.machine->devices().size());
  return soak_with(command, std::move(stored.header), monitored, std::move(file), std::move(stored.last));
}

int dry_soak(const cli::SoakCommand& command) {
  SoakSettings settings = command.settings;
  settings.seconds = command.seconds.value_or(settings.seconds);
  write_standard_output(soak_plan(settings) + "\n");
  return 0;
}

}  // namespace

int perform(const cli::SoakCommand& command) {
  refuse_several_ranks("soak");
  if (command.dry_run) return dry_soak(command);
  if (command.resume) return resume_soak(command);
  MonitoredMachine monitored(command.device, {});
  SoakHeader header{
      .started_at = utc_now(), .command = whole_command(command.arguments), .environment = monitored.environment()};
  header.environment.variables = cuda_variables();
  header.settings = command.settings;
  header.settings.seconds = command.seconds.value_or(header.settings.seconds);
  header.settings.loads = loads_for(command.settings.loads, monitored.machine->devices().size());
  return soak_with(command, std::move(header), monitored, {}, {});
}

}  // namespace xferbench::app
