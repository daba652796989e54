// Fuzzes everything that reads files: valid files are damaged at random, as text and as JSON. Each must be read, or
// refused with an error of one line. Another exception, a sanitizer report, a hang, or a control character in any
// output is a bug.
//
//   reader_fuzz [--iterations N | --seconds S] [--seed N] [--reader NAME]
//   reader_fuzz --program XFERBENCH [--iterations N | --seconds S] [--seed N]
//
// Readers: results, compare, spreads, check, expectations, suites, profiles, resume, explanations, timelines,
// recordings; without --reader they take turns. "resume" runs in this process and takes missing results from stored
// ones instead of measuring. With --program the program resumes each file. The same seed makes the same files. A
// failure prints its iteration and leaves the file in reader_fuzz_failure.json.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/resume.hpp"
#include "app/suite.hpp"
#include "check/check.hpp"
#include "check/derive.hpp"
#include "compare/compare.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "device/sim/profile_fields.hpp"
#include "device/sim/profile_file.hpp"
#include "device/sim/sim_machine.hpp"
#include "explain/explain.hpp"
#include "fuzz/corpus.hpp"
#include "fuzz/mutator.hpp"
#include "fuzz/recordings.hpp"
#include "measure/statistics.hpp"
#include "paper/writers.hpp"
#include "report/check/check_report.hpp"
#include "report/compare/compare_report.hpp"
#include "report/explain/explain_report.hpp"
#include "report/explain/timeline.hpp"
#include "report/run/run_report.hpp"
#include "results/json.hpp"
#include "results/recording_file.hpp"
#include "results/spread_file.hpp"
#include "results/trace_file.hpp"
#include "run/findings.hpp"
#include "scenarios/scenarios.hpp"
#include "support/files.hpp"
#include "support/synthetic_recording.hpp"
#include "words/compare.hpp"
#include "words/explain.hpp"
#include "words/run.hpp"
#include "words/timelines.hpp"

namespace xferbench::fuzz {
namespace {

// --- Requirements ---------------------------------------------------------------------------------------------------

void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

/// Output may contain line feeds, but no other control character.
void check_text(std::string_view text) {
  for (std::size_t from = 0; from < text.size();) {
    const auto [begin, bytes] = find_control(text, from);
    require(bytes == 0 || text[begin] == '\n', "a control character in what is written");
    from = begin + bytes;
    if (bytes == 0) return;
  }
}

void check_message(const std::string& message) {
  require(!message.empty() && message.size() < 1000, "a message that is empty or very long");
  require(message.find('\n') == std::string::npos, "a message of several lines");
}

void check_read(const Report& report) {
  for (const Result& result : report.results) {
    require(!result.config.key().empty(), "an empty key was read");
    check_text(result.config.key() + result.reason);
    for (const Measurement& m : result.measurements) {
      require(m.batch > 0, "a batch of 0 was read");
      require(!m.ci95 || m.ci95->low <= m.ci95->high, "an interval upside down was read");
      for (const double sample : m.samples) {
        require(std::isfinite(sample) && sample >= 0, "a sample that is no amount was read");
      }
    }
    for (const Metric& metric : result.metrics) require(std::isfinite(metric.value), "a metric that is no number");
  }
}

/// The parsed text, or nullopt if it is refused with a valid error message.
template <class Parse>
auto parsed(const Parse& parse, const std::string& text) -> std::optional<decltype(parse(text, "f"))> {
  try {
    return parse(text, "f");
  } catch (const InputError& error) {
    check_message(error.what());
    return std::nullopt;
  }
}

void check_shown(const Document& document) {
  check_text(to_terminal(document, Style{}));
  check_text(to_markdown(document));
  check_text(to_html(document));
}

/// Checks all forms of output of a record.
template <class Record>
void check_written(const Record& record) {
  check_shown(document_of(record));
  check_text(to_json(record));
}

// --- The readers ----------------------------------------------------------------------------------------------------

/// A damaged file, and the valid file that it was made from.
struct Damaged {
  std::string text;
  std::string valid;
};

bool read_results(const Damaged& file) {
  const auto read = parsed(parse_report, file.text);
  if (!read) return false;
  check_read(*read);
  const std::string again = to_json(*read);
  check_text(again);
  require(parse_report(again, "again") == *read, "what was read is not read again as it was written");
  return true;
}

/// Makes medians match their samples: otherwise compare would stop at that error.
void mend_medians(Report& report) {
  for (Result& result : report.results) {
    for (Measurement& m : result.measurements) {
      if (!m.samples.empty()) m.median = statistics::median(m.samples);
    }
  }
}

bool compare_results(const Damaged& file, const std::optional<SpreadFile>& spreads) {
  auto read = parsed(parse_report, file.text);
  if (!read) return false;
  std::array<NamedReport, 2> files{NamedReport{"valid", parse_report(file.valid, "valid")},
                                   {"damaged", std::move(*read)}};
  for (NamedReport& named : files) {
    try {
      compare::across({&named, 1}, {});
    } catch (const InputError&) {
      mend_medians(named.report);
    } catch (const UsageError&) {  // the file has no case
    }
  }
  const std::span<const NamedReport> all(files);
  try {
    const auto comparison =
        compare::compare(all.first(1), all.last(1), {.allow_simulated = true, .known_spreads = spreads});
    check_written(comparison);
    const auto across = compare::across(all, {.allow_simulated = true});
    check_written(across);
  } catch (const UsageError& error) {
    require(*error.what() != '\0', "an error that says nothing");
  }
  return true;
}

/// Limits derived from any readable report can be written and read again.
void derive_limits(const Report& report) {
  const std::array runs{NamedReport{"good.json", report}};
  try {
    const auto derived = check::derive(runs, {.allow_simulated = true, .allow_doubtful = true});
    const std::string text = to_expect_json(derived.expectations);
    const std::size_t limits = check::parse_expectations(text, "mine.json").all.size();
    require(limits == derived.expectations.all.size(), "limits are lost");
  } catch (const UsageError& error) {
    require(*error.what() != '\0', "an error that says nothing");
  }
}

bool check_results(const Report& report, const check::Expectations& expectations) {
  derive_limits(report);
  try {
    const std::array checked{check::check(report, "results", expectations, {.allow_simulated = true})};
    check_shown(document_of(AllChecked(checked)));
    check_text(to_check_json(checked));
  } catch (const UsageError& error) {
    require(*error.what() != '\0', "an error that says nothing");
  }
  return true;
}

/// A temporary file whose content is replaced for each text.
class File {
 public:
  const std::string& with(const std::string& text) const {
    test::write_file(path_, text);
    return path_;
  }
  [[nodiscard]] std::string text() const { return test::read_file(path_); }

 private:
  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "file";
};

bool read_suite_and_plan(const File& file, const std::string& text) {
  cli::RunCommand command;
  command.suite = file.with(text);
  try {
    for (const PlannedCase& c : app::with_suite(command).cases) check_text(c.config.key());
    return true;
  } catch (const InputError& error) {
    check_message(error.what());
  } catch (const UsageError& error) {  // from a run's command line
    require(*error.what() != '\0', "an error that says nothing");
  }
  return false;
}

/// A readable profile must make a working machine.
bool read_a_profile(const std::string& text) {
  const auto read = parsed(sim::parse_profile, text);
  if (!read) return false;
  sim::SimMachine machine(read->profile);
  check_text(machine.device().capabilities().environment.profile_text());
  for (const sim::ProfileField& field : sim::profile_fields()) {
    require(std::isfinite(field.get(read->profile)) && field.get(read->profile) >= 0, "a number that is no amount");
  }
  return true;
}

/// Resumes as --resume does, but takes missing results from `measured` (by key) instead of measuring.
bool resume(const File& file, const std::string& text, const std::map<std::string, const Result*>& measured) {
  constexpr std::size_t kMostCases = 5000;
  app::ResumePlan left;
  std::optional<app::StoredRun> stored;
  cli::RunCommand whole;
  try {
    stored.emplace(app::read_run(file.with(text)));
    whole = app::with_suite(stored->command);
    if (whole.cases.size() > kMostCases) return true;
    left = app::resume_plan(*stored, whole.cases);
  } catch (const InputError& error) {
    require(*error.what() != '\0', "an error that says nothing");
    return false;
  } catch (const UsageError& error) {
    require(*error.what() != '\0', "an error that says nothing");
    return false;
  }
  Report report = stored->report;
  report.complete = true;
  report.results.clear();
  std::map<std::size_t, Result> results(left.known.begin(), left.known.end());
  for (const std::size_t i : left.missing) {
    const auto known = measured.find(whole.cases[i].config.key());
    if (known == measured.end()) continue;
    results[i] = *known->second;
    results[i].config = whole.cases[i].config;
  }
  for (const auto& [index, result] : results) report.results.push_back(result);
  report.findings = conclude(scenarios(), report.results);  // must not throw
  const auto descriptors = app::descriptors();
  check_text(to_terminal(document_of(report, descriptors, {.every_row = false}), Style{}));
  check_shown(document_of(report, descriptors));
  check_text(to_csv(report, descriptors));
  const std::string stored_again = to_json(report);
  check_text(stored_again);
  static_cast<void>(parse_report(stored_again, "again"));
  return true;
}

/// Explains a readable recording, for the whole process and for a range that may be damaged.
bool explain_recording(const File& file, const std::string& bytes) {
  try {
    const Recording read = read_recording(file.with(bytes));
    for (const std::optional<std::string>& range :
         {std::optional<std::string>(), std::optional<std::string>("steps")}) {
      explain::Explanation told;
      told.processes.push_back(explain::explain(read, SyntheticRecording::costs(), {}, std::nullopt,
                                                {.range = range, .least_share = 0.001}));
      check_written(told);
      write_chrome_trace(std::array{RecordedWindow{read, explain::window_of(read, range)}}, check_text);
    }
    return true;
  } catch (const InputError& error) {
    check_message(error.what());
    return false;
  }
}

// --- The program ----------------------------------------------------------------------------------------------------

struct Ended {
  int status = 0;
  std::string said;
};

/// Runs the program with --resume on the file, for a minute at most. Its output goes to the file `said`.
Ended resumed_by(const std::string& program, const std::string& path, const File& said) {
  const std::string& output = said.with("");
  const pid_t child = fork();
  if (child == 0) {
    const int to = open(output.c_str(), O_WRONLY | O_TRUNC | O_APPEND);
    if (to < 0 || dup2(to, STDOUT_FILENO) < 0 || dup2(to, STDERR_FILENO) < 0) _exit(127);
    alarm(60);
    execl(program.c_str(), program.c_str(), "--resume", path.c_str(), "--progress", "plain", "--color", "never",
          nullptr);
    _exit(127);
  }
  Ended ended;
  if (child < 0 || waitpid(child, &ended.status, 0) != child) throw std::runtime_error("cannot run the program");
  ended.said = said.text();
  return ended;
}

void check_program(const std::string& program, const File& file, const File& said, const std::string& text) {
  const std::string& path = file.with(text);
  const Ended ended = resumed_by(program, path, said);
  require(WIFEXITED(ended.status), "the program was ended by a signal");
  const std::array kCodes{0, 1, 2, 3, 5};
  require(std::ranges::find(kCodes, WEXITSTATUS(ended.status)) != kCodes.end(), "an exit code that says nothing");
  require(ended.said.find("Sanitizer") == std::string::npos && ended.said.find("runtime error") == std::string::npos,
          "a sanitizer's report");
  check_text(ended.said);
  const std::string after = file.text();
  require(after == text || Json::accept(after), "the file that it leaves is no JSON");
}

// --- All of it ------------------------------------------------------------------------------------------------------

struct Settings {
  std::uint64_t iterations = std::numeric_limits<std::uint64_t>::max();
  double seconds = std::numeric_limits<double>::infinity();
  std::uint64_t seed = 1;
  std::string reader;
  std::string program;
};

Settings settings_of(const std::vector<std::string>& arguments) {
  Settings settings;
  bool bounded = false;
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    if (i + 1 == arguments.size()) throw UsageError(arguments[i] + " needs a value");
    const std::string& value = arguments[i + 1];
    if (arguments[i] == "--iterations") {
      settings.iterations = std::stoull(value);
      bounded = true;
    } else if (arguments[i] == "--seconds") {
      settings.seconds = std::stod(value);
      bounded = true;
    } else if (arguments[i] == "--seed") {
      settings.seed = std::stoull(value);
    } else if (arguments[i] == "--reader") {
      settings.reader = value;
    } else if (arguments[i] == "--program") {
      settings.program = value;
    } else {
      throw UsageError("unknown flag " + arguments[i] +
                       "; there are --iterations, --seconds, --seed, --reader, --program");
    }
  }
  if (!bounded) settings.iterations = settings.program.empty() ? 10'000 : 100;
  return settings;
}

class Fuzzer {
 public:
  explicit Fuzzer(std::uint64_t seed) : mutator_(seed) {
    for (Run& run : runs_) {
      run.document["complete"] = false;
      valid_.push_back(run.document.dump());
      for (const Result& result : run.report.results) measured_[result.config.key()] = &result;
    }
    for (std::string& text : made_by_hand()) valid_.push_back(std::move(text));
    for (const std::string& text : expectations_) {
      parsed_expectations_.push_back(check::parse_expectations(text, "expectations"));
    }
  }

  /// Readers by name. Each returns whether it accepted the damaged file.
  using Reader = std::pair<std::string_view, std::function<bool()>>;
  std::vector<Reader> readers() {
    return {{"results", [this] { return read_results(damaged(valid_)); }},
            {"compare", [this] { return compare_results(damaged(valid_), std::nullopt); }},
            {"spreads",
             [this] {
               const auto read = parsed(parse_spread, damaged(spreads_).text);
               return read && compare_results({.text = one_of(valid_), .valid = one_of(valid_)}, read);
             }},
            {"check",
             [this] {
               const auto read = parsed(parse_report, damaged(valid_).text);
               return read && check_results(*read, one_of(parsed_expectations_));
             }},
            {"expectations",
             [this] {
               const auto read = parsed(check::parse_expectations, damaged(expectations_).text);
               return read && check_results(one_of(runs_).report, *read);
             }},
            {"suites", [this] { return read_suite_and_plan(file_, damaged(suites_).text); }},
            {"profiles", [this] { return read_a_profile(damaged(profiles_).text); }},
            {"resume", [this] { return resume(file_, damaged(valid_).text, measured_); }},
            {"explanations",
             [this] {
               return read_stored([](const std::string& path) { return document_of(read_explanation(path)); },
                                  explanations_);
             }},
            {"timelines",
             [this] {
               return read_stored(
                   [](const std::string& path) {
                     const TraceFile file = read_trace(path);
                     Document document("t", trust_of(file));
                     add_timelines(file, document);
                     return document;
                   },
                   timelines_);
             }},
            {"recordings", [this] {
               text_ = damaged_recording(mutator_, one_of(recordings_), one_of(recordings_));
               return explain_recording(file_, text_);
             }}};
  }

  /// Spares the field "command": a damaged command might measure for hours.
  void run_program(const std::string& program) {
    text_ = mutator_.tampered(Json::parse(valid_[mutator_.below(runs_.size())]), "command").dump();
    check_program(program, file_, said_, text_);
  }

  [[nodiscard]] const std::string& last_text() const { return text_; }

 private:
  template <class T>
  const T& one_of(const std::vector<T>& all) {
    return all[mutator_.below(all.size())];
  }

  /// Whether the damaged file can be read; if so, its document is checked too.
  bool read_stored(const std::function<Document(const std::string& path)>& read,
                   const std::vector<std::string>& files) {
    const auto shown = [&](const std::string& text, const char*) { return read(file_.with(text)); };
    const auto document = parsed(shown, damaged(files).text);
    if (document) check_shown(*document);
    return document.has_value();
  }

  Damaged damaged(const std::vector<std::string>& files) {
    Damaged made{.text = {}, .valid = one_of(files)};
    const bool as_text = mutator_.below(3) == 0;
    text_ = as_text ? made.valid : mutator_.tampered(Json::parse(made.valid)).dump();
    if (as_text || mutator_.below(8) == 0) text_ = mutator_.damaged(text_, one_of(files));
    made.text = text_;
    return made;
  }

  Mutator mutator_;
  std::vector<Run> runs_ = runs_of_all_scenarios();
  std::vector<std::string> valid_;  // JSON of runs_, then hand-made files
  std::vector<std::string> expectations_ = expectations();
  std::vector<check::Expectations> parsed_expectations_;
  std::vector<std::string> spreads_ = spreads();
  std::vector<std::string> suites_ = suites();
  std::vector<std::string> profiles_ = profiles();
  std::vector<std::string> recordings_ = recordings();
  std::vector<std::string> explanations_ = explanations();
  std::vector<std::string> timelines_ = timelines();
  std::map<std::string, const Result*> measured_;
  File file_;
  File said_;
  std::string text_;
};

int fuzz(const Settings& settings) {
  Fuzzer fuzzer(settings.seed);
  auto readers = fuzzer.readers();
  if (!settings.reader.empty()) {
    std::erase_if(readers, [&](const auto& reader) { return reader.first != settings.reader; });
    if (readers.empty()) throw UsageError("there is no reader " + settings.reader);
  }
  if (!settings.program.empty()) {
    readers = {{"program", [&] {
                  fuzzer.run_program(settings.program);
                  return true;
                }}};
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto elapsed = [begin] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  std::vector<std::uint64_t> used(readers.size());
  std::uint64_t done = 0;
  for (; done < settings.iterations && elapsed() < settings.seconds; ++done) {
    const auto& [name, read] = readers[done % readers.size()];
    try {
      used[done % readers.size()] += read() ? 1 : 0;
    } catch (const std::exception& error) {
      std::ofstream("reader_fuzz_failure.json", std::ios::binary) << fuzzer.last_text();
      fmt::print(stderr, "{}, seed {}, iteration {}: {}; see reader_fuzz_failure.json\n", name, settings.seed, done,
                 error.what());
      return 1;
    }
  }
  fmt::print("{} damaged files in {:.1f} s, seed {}; of them could be used by", done, elapsed(), settings.seed);
  for (std::size_t i = 0; i < readers.size(); ++i) fmt::print("{} {}: {}", i > 0 ? "," : "", readers[i].first, used[i]);
  fmt::print("\n");
  return 0;
}

}  // namespace
}  // namespace xferbench::fuzz

int main(int argc, char** argv) {
  try {
    return xferbench::fuzz::fuzz(xferbench::fuzz::settings_of({argv + 1, argv + argc}));
  } catch (const std::exception& error) {
    fmt::print(stderr, "reader_fuzz: {}\n", error.what());
    return 2;
  }
}
