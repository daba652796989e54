// Declares all commands that are not scenarios: their flags, and how a command is made from the values.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cli/command_flags.hpp"
#include "cli/completion.hpp"
#include "compare/processes.hpp"
#include "core/error.hpp"
#include "core/lists.hpp"
#include "core/units.hpp"
#include "results/calibration.hpp"

namespace xferbench::cli {

namespace {

CLI::Option* add_annotations(CommandLine& line, CLI::App& app, Annotations& target) {
  const Axis axis{.name = "annotations",
                  .kind = AxisKind::choice,
                  .help = "write annotations for a CI system to standard error; github: one line for each problem",
                  .choices = {"github"}};
  return line.add_value(app, axis, "SYSTEM", [&target](const Value&) { target = Annotations::github; });
}

void add_files(CLI::App& app, std::vector<std::string>& target) { app.add_option("FILES", target)->type_name("FILES"); }

CLI::Option* add_side(CLI::App& app, const char* flag, std::vector<std::string>& target, const char* help) {
  return valued(app.add_option(flag, target, help), "FILES");
}

void add_written_file(CLI::App& app, std::string& target) {
  valued(app.add_option("-o,--output", target, "the file to write; - is standard output [-]"), "FILE");
}

using FileList = std::vector<std::string>;

void refuse_several_inputs(const char* command, std::initializer_list<const FileList*> lists) {
  const auto inputs_in = [](const FileList* files) { return std::ranges::count(*files, "-"); };
  if (total_of(lists, inputs_in) <= 1) return;
  throw UsageError(fmt::format("{}: only one file can be - (standard input)", command));
}

// --- compare --------------------------------------------------------------------------------------------------------

constexpr const char* kCompareUsage =
    R"(  xferbench compare BASE NEW [NEW]...                compares two files; several NEW are several processes
  xferbench compare --base FILES --new FILES         several processes on each side
  xferbench compare --across FILES                   different machines side by side
)";

constexpr const char* kCompareFooter = R"(Examples:
  xferbench --json base.json                         results before a change
  xferbench --json new.json                          results after it
  xferbench compare base.json new.json               shows what changed
  xferbench compare --base main-*.json --new pr-*.json --markdown comment.md --annotations github
  xferbench --suite ci --repeat 7 --json now.json --spread spread.json
  xferbench compare base.json new.json --spread spread.json     single processes, judged with the measured spread
  xferbench compare base.json new.json --metric bandwidth --only 'memcpy/dir=h2d*'
  xferbench compare --across a100.json h100.json h200.json

Verdicts:
  regressed, improved      significant over all cases, and the whole 95 % interval of new/base is beyond the threshold
  changed                  significant as above, for a number without a better direction
  same                     the whole interval lies within the threshold
  inconclusive             no verdict; the line below says why
  missing, new             only the base has a number, or only the new side

Exit codes:
  0 no regression   1 a case regressed or newly fails   2 wrong usage, or an unreadable or unfit file
  4 too little data: most cases could not show a slow-down of twice the threshold (too few processes, too much noise),
    or no case has a number on both sides; with --strict also where a case is inconclusive, changed or missing
)";

/// `files` are the words on the command line that belong to no flag.
Command compare_command(CompareCommand c, const std::vector<std::string>& files) {
  if (!c.across.empty()) {
    // CLI11 puts only the words after --across into its list, but files before the flag belong to the list, too.
    c.across.insert(c.across.begin(), files.begin(), files.end());
    if (c.across.size() < 2) throw UsageError("--across needs at least two files");
  } else if (!c.base.empty()) {
    if (!files.empty()) {
      throw UsageError(fmt::format("compare: '{}' belongs to neither side; write it after --base or --new", files[0]));
    }
  } else if (files.size() < 2) {
    throw UsageError(
        fmt::format("compare needs two results files, as in xferbench compare base.json new.json; {} "
                    "(see xferbench compare --help)",
                    files.empty() ? "none is given" : "one is given"));
  } else {
    c.base = {files.front()};
    c.new_side.assign(files.begin() + 1, files.end());
    // base-1.json base-2.json new-1.json: the base side would be one process, and the others would count as new.
    const std::string family = xferbench::compare::family_of(files.front());
    const auto of_base = [&](const std::string& file) { return xferbench::compare::family_of(file) == family; };
    if (c.new_side.size() > 1 && !family.empty() && std::ranges::any_of(c.new_side, of_base)) {
      throw UsageError(
          fmt::format("compare: of several files the first is the base, all others are new, but {0}-1, {0}-2 ... are "
                      "processes of one run; write compare --base {0}-*.json --new OTHER-*.json",
                      family));
    }
  }
  refuse_several_inputs("compare", {&c.base, &c.new_side, &c.across});
  return c;
}

void add_compare(CommandLine& line) {
  auto& compare = line.keep<CompareCommand>();
  auto& files = line.keep<std::vector<std::string>>();
  CLI::App& app =
      *line.add_command("compare", "show what changed between results files", kCompareFooter,
                        {.usage = kCompareUsage,
                         .taken = line.named({"--json", "--markdown", "--html", "--color", "--quiet", "--wide"}),
                         .make = [&compare, &files] { return compare_command(compare, files); }});
  add_files(app, files);
  CLI::Option* base =
      add_side(app, "--base", compare.base,
               "base side from several processes: one file each; the medians of the files are the samples");
  CLI::Option* new_side = add_side(app, "--new", compare.new_side, "new side from several processes, likewise");
  CLI::Option* across =
      add_side(app, "--across", compare.across, "show files side by side: one column each, the best is marked");
  base->needs(new_side);
  new_side->needs(base);
  compare::Options& options = compare.options;
  valued(app.add_option("--metric", options.metric,
                        "measurement or metric to compare; default: the headline of each scenario"),
         "NAME");
  valued(app.add_option("--only", options.only,
                        "only cases whose key matches; * is any text, ? one character; may be repeated"),
         "PATTERN")
      ->allow_extra_args(false);
  CLI::Option* threshold = line.add_share(
      app, {.name = "threshold", .help = "a case fails if its whole interval is beyond this", .min = 0, .max = 99.999},
      options.threshold);
  CLI::Option* assumed =
      line.add_share(app,
                     {.name = "assume-spread",
                      .help = "spread between processes to assume where none was measured; 0: assume none",
                      .min = 0,
                      .max = 100},
                     options.assumed_spread);
  CLI::Option* spread =
      add_file(app, "--spread", "spread between processes on this machine: a file written by --repeat N --spread FILE",
               compare.spread);
  CLI::Option* strict =
      app.add_flag("--strict", options.strict, "exit code 4 if a case is inconclusive, changed or missing");
  CLI::Option* bootstrap =
      app.add_flag("--bootstrap", options.bootstrap, "judge by the bootstrap interval of the ratio of medians");
  app.add_flag("--allow-simulated", options.allow_simulated,
               "compare simulated with real times, or different profiles");
  const Axis match{.name = "match",
                   .kind = AxisKind::choice,
                   .help = "how to match ranks of mpirun or srun; default: by the GPU's UUID if there is one",
                   .choices = words(texts_of(compare::Match{}))};
  line.add_value(app, match, "WHAT",
                 into_enumerator<std::optional<compare::Match>, compare::Match>(match.choices, options.match));
  CLI::Option* all = app.add_flag("--all", compare.all, "list every case, even if there are many");
  CLI::Option* annotations = add_annotations(line, app, compare.annotations);
  for (CLI::Option* judging : {base, new_side, threshold, strict, bootstrap, all, spread, assumed, annotations}) {
    line.contradict(across, judging, "--across shows files side by side and judges nothing");
  }
}

// --- report ---------------------------------------------------------------------------------------------------------

constexpr const char* kReportUsage = R"(  xferbench report FILE... [--html PAGE] [--markdown FILE] [FLAGS]
  xferbench report --base FILES --new FILES [FLAGS]
  xferbench report --trend FILES [FLAGS]
)";

constexpr const char* kReportFooter = R"(Examples:
  xferbench report results.json --html page.html                    one file: a run (also of many ranks) or a soak
  xferbench report base.json new.json --html page.html              two: what changed
  xferbench report a100.json h100.json h200.json --html page.html   more: side by side
  xferbench report --base main-*.json --new pr-*.json --html page.html   several processes on each side
  xferbench report --trend nightly/*.json --html page.html          how numbers of one machine changed over time
  xferbench report results.json.xz                                  tables on the terminal; reads files packed by xz
  xferbench report explain.json --html page.html                    the output of explain --json, one file alone
  xferbench report results.json pipeline.json --html page.html      with timelines; a timeline alone works, too

Files NAME-1.json, NAME-2.json ... of one command and machine, as --repeat writes them, count as processes of one run.
A page is one file that needs no network. Without --html - or --markdown - the tables go to standard output.

Exit codes:
  0 everything was shown, whatever the verdict   2 wrong usage, or a file that cannot be read or shown
)";

void add_report(CommandLine& line) {
  auto& report = line.keep<ReportCommand>();
  const auto make = [&report] {
    if (!report.trend.empty()) {
      // CLI11 puts only the words after --trend into its list, but files before the flag belong to the list, too.
      report.trend.insert(report.trend.begin(), report.stored.begin(), report.stored.end());
      report.stored.clear();
    } else if (!report.base.empty() && !report.stored.empty()) {
      throw UsageError(
          fmt::format("report: '{}' belongs to neither side; write it after --base or --new", report.stored.front()));
    } else if (report.base.empty() && report.stored.empty()) {
      throw UsageError(
          "report needs a file of results, a soak, an explanation or a timeline: "
          "xferbench report results.json --html page.html");
    }
    refuse_several_inputs("report", {&report.stored, &report.base, &report.new_side, &report.trend});
    return report;
  };
  CLI::App& app = *line.add_command(
      "report", "show stored files as an HTML page or as tables", kReportFooter,
      {.usage = kReportUsage,
       .taken = line.named({"--markdown", "--html", "--format", "--details", "--color", "--quiet", "--wide"}),
       .make = make});
  add_files(app, report.stored);
  CLI::Option* base = add_side(app, "--base", report.base, "base side from several processes: one file each");
  CLI::Option* new_side = add_side(app, "--new", report.new_side, "new side from several processes, likewise");
  CLI::Option* trend =
      add_side(app, "--trend", report.trend, "many runs of one machine: shows where their numbers changed");
  base->needs(new_side);
  new_side->needs(base);
  for (CLI::Option* side : {base, new_side}) line.contradict(trend, side, "--trend compares all runs with each other");
  app.add_flag("--allow-simulated", report.allow_simulated, "accept simulated results, too");
}

// --- check, expect --------------------------------------------------------------------------------------------------

constexpr const char* kCheckFooter = R"(Examples:
  xferbench --suite quick --json quick.json && xferbench check quick.json --expect h200
  xferbench check node-*.json --expect h200          a table for each, one summary, one exit code
  xferbench check new.json --expect mine.json --markdown comment.md
  xferbench check new.json --expect mine.json --junit check.xml     for CI servers: a test case for each expectation
  xferbench check new.json --expect mine.json --openmetrics /var/lib/prometheus/node-exporter/xferbench.prom
  xferbench expect good-*.json -o mine.json          makes your own limits from good runs, for check
  xferbench list expectations                        names that --expect knows

Columns:
  expected, found          the limit, and the number of the deciding case, in the limit's unit
  margin                   distance of the number from its limit, as a share of the limit; below 0: outside

Below the tables: what was not measured, each with the command that measures it.

Exit codes:
  0 every measured expectation holds   1 one fails, nothing was checked, or a run is incomplete
  2 wrong usage, or a file that cannot be read
)";

constexpr const char* kExpectFooter = R"(Examples:
  xferbench --suite ci --repeat 3 --json good.json                  three processes: good-1.json to good-3.json
  xferbench expect good-1.json good-2.json good-3.json -o mine.json
  xferbench check new.json --expect mine.json                       exit code 1 if a case is slower than its limit
  xferbench expect good.json --assume-spread 1 -o mine.json         from one run, with an assumed spread

Each case gets a limit for its headline: the worst of these runs plus a margin that comes from their spread, so that
95 of 100 further runs that are as good keep all limits. More runs make the margin narrower. See docs/check.md.
)";

Command check_command(CheckCommand c) {
  if (c.results.empty()) throw UsageError("check needs a results file: xferbench check results.json --expect h200");
  refuse_several_inputs("check", {&c.results});
  if (c.expect.empty()) {
    throw UsageError("check needs --expect: a file of limits, or the name of an installed one, as in --expect h200");
  }
  return c;
}

Command expect_command(ExpectCommand c) {
  if (c.good.empty()) {
    throw UsageError("expect needs results of good runs: xferbench expect good-1.json good-2.json -o mine.json");
  }
  refuse_several_inputs("expect", {&c.good});
  return c;
}

void add_check(CommandLine& line) {
  auto& check = line.keep<CheckCommand>();
  CLI::App& app = *line.add_command(
      "check", "check results against limits; exit code 1 if one fails", kCheckFooter,
      {.usage = "  xferbench check RESULTS... --expect FILE|NAME [FLAGS]\n",
       .taken = line.named({"--json", "--markdown", "--html", "--openmetrics", "--color", "--quiet", "--wide"}),
       .make = [&check] { return check_command(check); }});
  add_files(app, check.results);
  valued(app.add_option("--expect", check.expect, "limits to check: a file, or the name of an installed one"),
         "FILE|NAME");
  app.add_flag("--allow-simulated", check.allow_simulated, "check simulated results, too");
  add_file(app, "--junit", "write JUnit XML for CI servers, one test case for each expectation; - is standard output",
           line.measuring.files.junit);
  add_annotations(line, app, check.annotations);
}

void add_expect(CommandLine& line) {
  auto& expect = line.keep<ExpectCommand>();
  CLI::App& app = *line.add_command("expect", "make limits for check from good runs", kExpectFooter,
                                    {.usage = "  xferbench expect GOOD... [-o FILE] [FLAGS]\n",
                                     .taken = line.named({"--quiet"}),
                                     .make = [&expect] { return expect_command(expect); }});
  add_files(app, expect.good);
  add_written_file(app, expect.output);
  line.add_share(app,
                 {.name = "assume-spread",
                  .help = "spread between runs (standard deviation) to assume where the good runs show too little",
                  .min = 0.01,
                  .max = 50},
                 expect.assumed_spread);
  app.add_flag("--allow-simulated", expect.allow_simulated, "accept simulated runs, too");
  app.add_flag("--allow-doubtful", expect.allow_doubtful,
               "accept runs that are incomplete, have failed cases, or were not verified");
}

// --- calibrate, validate --------------------------------------------------------------------------------------------

constexpr const char* kCalibrateFooter = R"(Examples:
  xferbench calibrate -o mine.json                                  measures this machine (suite calibrate), about 30 s
  xferbench --simulate mine.json --size 1G --streams 1:8            uses the profile, on any machine
  xferbench --suite calibrate --repeat 3 --json c.json && xferbench calibrate c-1.json c-2.json c-3.json -o mine.json
  xferbench overlap --simulate results.json                         makes the profile from results while it starts

For each number, the profile stores its confidence interval and its source (results file and measurement) under sources.
The measured results are kept next to the profile, as mine.results.json, or in --json FILE. Numbers that were not
measured come from --base. docs/calibrate.md explains how each number is derived, and how accurate such profiles are.
)";

constexpr const char* kValidateFooter = R"(Examples:
  xferbench validate other-sizes.json --simulate mine.json          prediction errors by size and strategy
  xferbench validate grid-*.json --simulate h200 --markdown validation.md

  bias, median error   median over all headlines of predicted / measured - 1: signed, and absolute
  regret               extra time of the predicted fastest case over the measured fastest
  covered              share of cases whose interval overlaps the predicted range
)";

/// Throws UsageError if the name is that of a built-in profile or too long. Called before anything is measured.
void refuse_profile_name(const std::string& name) {
  if (is_built_in_profile(name)) {
    throw UsageError(fmt::format("--name {0}: a built-in profile has this name; choose another, as my-{0}", name));
  }
  if (name.size() > kLongestProfileWord) {
    throw UsageError(fmt::format("--name takes up to {} characters, and this has {}; give a shorter one",
                                 kLongestProfileWord, name.size()));
  }
}

Command calibrate_command(const CommandLine& line, CalibrateCommand c) {
  refuse_several_inputs("calibrate", {&c.results});
  refuse_profile_name(c.name);
  for (const auto& [flag, what] :
       {std::pair{"--gpu", "chooses what to measure"}, std::pair{"--numa", "chooses where to measure"},
        std::pair{"--simulate", "chooses what to measure"}, std::pair{"--json", "stores what is measured"}}) {
    if (c.results.empty() || !line.given(flag)) continue;
    throw UsageError(fmt::format(
        "{} {}, but results files are given, so nothing is measured; leave the flag or the files out", flag, what));
  }
  c.json = line.measuring.files.json;
  if (c.json == "-") {
    throw UsageError("--json -: calibrate writes its results to a file, not to standard output; give a file name");
  }
  if (c.json) refuse_shared_files(std::array{NamedFile{"json", *c.json}, NamedFile{"output", c.output}});
  c.device = line.measuring.device;
  return c;
}

Command validate_command(const CommandLine& line, ValidateCommand c) {
  if (c.results.empty()) {
    throw UsageError("validate needs results of a machine: xferbench validate held-out.json --simulate mine.json");
  }
  refuse_several_inputs("validate", {&c.results});
  if (!line.measuring.device.simulate) {
    throw UsageError("validate needs --simulate: the profile that predicts these results, as in --simulate mine.json");
  }
  c.profile = *line.measuring.device.simulate;
  return c;
}

void add_calibrate(CommandLine& line) {
  auto& calibrate = line.keep<CalibrateCommand>();
  CLI::App& app = *line.add_command(
      "calibrate", "make a profile for --simulate from measurements of this machine or another", kCalibrateFooter,
      {.usage = "  xferbench calibrate [RESULTS...] [-o FILE] [FLAGS]\n",
       .taken = line.named({"--gpu", "--numa", "--simulate", "--json", "--quiet"}),
       .make = [&line, &calibrate] { return calibrate_command(line, calibrate); }});
  add_files(app, calibrate.results);
  add_written_file(app, calibrate.output);
  valued(app.add_option("--name", calibrate.name, "name of the profile in tables [calibrated]"), "NAME");
  Axis base = profile_axis("base", "built-in profile for the numbers that are not measured");
  base.defaults = calibrate.base;
  line.add_value(app, base, "PROFILE", [&calibrate](const Value& v) { calibrate.base = std::get<std::string>(v); });
  app.add_flag("--allow-simulated", calibrate.allow_simulated, "accept simulated results, too");
}

void add_validate(CommandLine& line) {
  auto& validate = line.keep<ValidateCommand>();
  CLI::App& app = *line.add_command(
      "validate", "check how well a profile predicts results that it was not made from", kValidateFooter,
      {.usage = "  xferbench validate RESULTS... --simulate PROFILE|FILE [FLAGS]\n",
       .taken = line.named({"--simulate", "--json", "--markdown", "--html", "--color", "--quiet", "--wide"}),
       .make = [&line, &validate] { return validate_command(line, validate); }});
  add_files(app, validate.results);
  app.add_flag("--allow-simulated", validate.allow_simulated, "predict simulated results, too");
}

// --- explain --------------------------------------------------------------------------------------------------------

constexpr const char* kExplainUsage =
    R"(  xferbench explain [FLAGS] -- PROGRAM [ARGUMENTS]   runs and profiles the program, and explains its transfers
  xferbench explain [FLAGS] FOLDER                   explains a stored recording, on any machine
)";

constexpr const char* kExplainFooter = R"(Examples:
  xferbench explain -- ./my_app input.dat
  xferbench explain --range steps --runs 3 -- python3 train.py      one NVTX range, the median of three runs
  xferbench explain --json e.json --timeline t.json -- ./my_app     for report --html, and for ui.perfetto.dev
  xferbench explain --recording run1 -- ./my_app                    stores the recording
  xferbench explain --fix pageable run1                             the gain of one kind of fix alone
  xferbench explain --simulate -- xferbench --simulate              without a GPU

The program runs unchanged, once without profiling (baseline) and once profiled by CUPTI. Its output stays as it is; the
report follows on standard output. Ctrl-C ends the profiled program, and explain reports what was recorded until then;
in the baseline run, Ctrl-C ends both.

The limits of copies are measured on the GPU that the program used. This takes some seconds; the limits are kept for
30 days (~/.cache/xferbench). --simulate takes them from a modelled machine instead. Gains come from a replay of the
recording: docs/explain.md explains the replay, and what each finding assumes.

Exit codes:
  0 the program was explained, however it ended   2 wrong usage, a program that cannot start, or a damaged recording
  5 nothing to explain: nothing was recorded, or no GPU was used
  with --exit-code: the exit code of the program
)";

Command explain_command(const CommandLine& line, ExplainCommand e) {
  e.program = line.program;
  if (e.program.empty() && e.folder.empty()) {
    throw UsageError("explain needs a program after --, or a recording: xferbench explain -- ./my_app args");
  }
  if (!e.program.empty() && !e.folder.empty()) {
    throw UsageError(fmt::format(
        "explain takes either a program or a recording, not both; leave out '{}' or the program after --", e.folder));
  }
  if (e.program.empty()) {
    for (const char* flag : {"--recording", "--runs", "--no-baseline", "--from", "--for", "--max-records", "--stacks",
                             "--files", "--exit-code", "--measure-limits"}) {
      if (line.app.get_subcommand("explain")->get_option(flag)->count() == 0) continue;
      throw UsageError(fmt::format(
          "{} applies only when a program runs, and {} is a stored recording; leave the flag out", flag, e.folder));
    }
  }
  e.simulate = line.measuring.device.simulate;
  return e;
}

void add_recording_flags(CommandLine& line, CLI::App& app, ExplainCommand& explain) {
  add_file(app, "--recording", "store the recording in this new folder; xferbench explain FOLDER reads it",
           explain.recording, "FOLDER");
  const auto add_number = [&line, &app](Axis axis, const char* argument, auto& target) {
    return line.add_value(app, axis, argument, into(target));
  };
  CLI::Option* runs = add_number({.name = "runs",
                                  .defaults = "1",
                                  .help = "number of runs, each once as a baseline and once profiled",
                                  .max = 1000},
                                 "N", explain.runs);
  CLI::Option* no_bare = app.add_flag_callback(
      "--no-baseline,--no-bare", [&explain] { explain.baseline = false; },
      "skip the baseline run; the profiler overhead is then unknown");
  add_file(app, "--range", "explain this NVTX range, from its first to its last occurrence; default: the whole program",
           explain.range, "NAME");
  const auto seconds = [](const char* name, const char* help, double least) {
    return Axis{.name = name, .kind = AxisKind::time, .help = help, .min = least, .max = 1e6};
  };
  add_number(seconds("from", "start recording this long after a process starts", 0), "TIME", explain.from);
  add_number(seconds("for", "record for this long", 1e-6), "TIME", explain.seconds);
  add_number(
      {.name = "max-records", .defaults = "2000000", .help = "largest number of records per process", .max = 1e9}, "N",
      explain.max_records);
  app.add_flag("--stacks", explain.stacks, "record host call stacks, too; adds a few us to each call");
  app.add_flag("--files", explain.file_reads, "record reads of files, too; preloads a library into the program");
  app.add_flag("--exit-code", explain.exit_code, "return the program's exit code");
  line.contradict(runs, no_bare, "--runs repeats pairs of a baseline and a profiled run");
}

void add_explaining_flags(CommandLine& line, CLI::App& app, ExplainCommand& explain) {
  CLI::Option* limits =
      add_file(app, "--limits", "limits of this machine: a results file of --suite limits", explain.limits);
  CLI::Option* measure =
      app.add_flag("--measure-limits", explain.measure_limits, "measure the limits again, even if they are known");
  app.add_flag("--all", explain.all, "show small gains, too, and all processes");
  constexpr auto kKinds = texts_of(explain::FindingKind{});
  CLI::Option* fix = app.add_option_function<std::string>(
      "--fix,--mend",
      [&explain](const std::string& text) { explain.fixed = enumerators<explain::FindingKind>(text, "fix"); },
      "predict the time with only these kinds of findings fixed, such as pageable,result-wait");
  line.choices[valued(fix, "KIND,...")] = words(kKinds);
  line.contradict(limits, measure, "--limits reads limits, --measure-limits measures them");
}

void add_explain(CommandLine& line) {
  auto& explain = line.keep<ExplainCommand>();
  CLI::App& app = *line.add_command(
      "explain", "show what transfers cost a CUDA program, and what fixing them gains", kExplainFooter,
      {.usage = kExplainUsage,
       .taken =
           line.named({"--json", "--markdown", "--html", "--timeline", "--simulate", "--color", "--quiet", "--wide"}),
       .make = [&line, &explain] { return explain_command(line, explain); }});
  app.add_option("FOLDER", explain.folder)->type_name("FOLDER");
  add_recording_flags(line, app, explain);
  add_explaining_flags(line, app, explain);
}

// --- soak -----------------------------------------------------------------------------------------------------------

constexpr const char* kSoakUsage = R"(  xferbench soak [--for TIME] [FLAGS]
  xferbench soak --resume FILE [--for TIME]
)";

constexpr const char* kSoakFooter =
    R"(Exit codes: 0 PASS; 1 FAIL: a wrong byte, a rate below the floor, a lost GPU, a critical error (Xid) or a memory
error that was not corrected; 130 after Ctrl-C, with the verdict so far.

Examples:
  xferbench soak --for 8h --gpus all --json soak.jsonl          overnight, on all GPUs; writes a line per minute
  xferbench soak --resume soak.jsonl                            continues after a crash or Ctrl-C
  xferbench soak --for 20m --load h2d,d2h,both                  the link alone
  xferbench soak --for 7d --interval 5m --openmetrics /var/lib/node_exporter/textfile/xferbench.prom
)";

Command soak_command(const CommandLine& line, SoakCommand soak) {
  refuse_each_node(line);
  const CLI::App& app = *line.app.get_subcommand("soak");
  soak.arguments = line.measuring.arguments;
  soak.device = line.measuring.device;
  soak.settings.seed = line.measuring.seed;
  soak.resume = line.run.resume;
  soak.dry_run = line.measuring.dry_run;
  if (soak.settings.size % 4096 != 0) {
    throw UsageError(
        fmt::format("--size {} is not a multiple of 4 KiB, which soak needs", format_size_exact(soak.settings.size)));
  }
  if (soak.resume) {
    for (const char* flag : {"--interval", "--load", "--size", "--floor", "--gpu", "--gpus", "--numa", "--simulate",
                             "--seed", "--json", "--dry-run"}) {
      const CLI::Option* own = app.get_option_no_throw(flag);
      if ((own != nullptr ? own : line.app.get_option(flag))->count() == 0) continue;
      throw UsageError(fmt::format("--resume continues the soak stored in the file; leave {} out", flag));
    }
    if (soak.resume == "-") throw UsageError("--resume needs a file name, not -: the soak continues in its own file");
  }
  std::vector<NamedFile> files = line.measuring.files.named();
  if (soak.resume) files.push_back({"resume", *soak.resume});
  refuse_shared_files(files);
  return soak;
}

void add_soak(CommandLine& line) {
  auto& soak = line.keep<SoakCommand>();
  CLI::App& app = *line.add_command(
      "soak", "stress GPUs and links for hours: check every byte, monitor rates, clocks and error counters",
      kSoakFooter,
      {.usage = kSoakUsage,
       .taken = line.named({"--gpu", "--gpus", "--numa", "--simulate", "--seed", "--dry-run", "--json", "--resume",
                            "--color", "--quiet", "--openmetrics", "--markdown", "--html"}),
       .make = [&line, &soak] { return soak_command(line, soak); }});
  constexpr double kTenYears = 10 * 365.25 * 86400;
  const auto add_time = [&line, &app](const char* name, const char* usual, const char* help, auto& target) {
    line.add_value(
        app, {.name = name, .kind = AxisKind::time, .defaults = usual, .help = help, .min = 0.001, .max = kTenYears},
        "TIME", into(target));
  };
  add_time("for", "1h", "duration, as 20min or 8h", soak.seconds);
  add_time("interval", "60s", "interval between two lines of output", soak.settings.interval);
  constexpr auto kLoads = texts_of(SoakLoad{});
  CLI::Option* load = app.add_option_function<std::string>(
      "--load",
      [&soak](const std::string& text) {
        soak.settings.loads = text == "all" ? std::vector<SoakLoad>() : enumerators<SoakLoad>(text, "load");
      },
      "loads, run in turn; p2p copies from each GPU to the next [all that this machine supports]");
  line.choices[valued(load, "LOAD,...")] = words(kLoads);
  line.choices[load].emplace_back("all");
  line.add_value(app,
                 {.name = "size",
                  .kind = AxisKind::size,
                  .defaults = "256MiB",
                  .help = "size of one copy; each GPU needs six times as much device memory and host memory",
                  .min = 4096,
                  .max = 1e12},
                 "SIZE", into(soak.settings.size));
  valued(app.add_option_function<std::string>(
             "--floor", [&soak](const std::string& text) { soak.settings.floor = parse_percent(text, "--floor"); },
             "report a drop if a rate falls below this share of its rate in the first minutes [90%]"),
         "PERCENT");
}

// --- list, info, help and others -------------------------------------------------------------------------------------

/// `word` is the word after `list` if it is neither a command nor a scenario.
Command list_command(const CommandLine& line, const std::string& word) {
  const auto after = line.words_after_command();
  if (after.size() > 1) throw UsageError("list takes at most one scenario");
  for (const char* flag : {"--gpu", "--gpus", "--simulate"}) {
    if (!line.given(flag) || word == kListed.back()) continue;
    throw UsageError(fmt::format("{} does nothing here: it belongs to list {}", flag, kListed.back()));
  }
  ListCommand list{.device = line.measuring.device};
  if (after.empty() && word.empty()) return list;
  if (const auto* of = std::ranges::find(kListed, word); after.empty() && of != kListed.end()) {
    list.of = static_cast<ListCommand::Of>(of - kListed.begin() + 1);
    return list;
  }
  if (const std::vector<NamedFile> files = line.measuring.files.named(); !files.empty()) {
    throw UsageError(
        fmt::format("--{}: the description of a scenario goes to standard output only; files can be written for {}",
                    files.front().flag, fmt::join(kListed, ", ")));
  }
  const Scenario& about = topic(line, after.empty() ? word : after.front()->get_name());
  HelpCommand help{page(line, *line.app.get_subcommand(name_of(about)))};
  help.page.results = results_of(descriptor_of(about));
  return help;
}

/// `word` is the word after `help` if it is neither a command nor a scenario.
Command help_command(const CommandLine& line, const std::string& word) {
  const auto after = line.words_after_command();
  if (word == "help") return HelpCommand{page(line, *line.app.get_subcommand("help"))};
  if (!word.empty()) static_cast<void>(topic(line, word));
  if (after.size() > 1) {
    throw UsageError(
        fmt::format("help takes one scenario or command; write xferbench help {}", after.front()->get_name()));
  }
  if (after.empty()) return HelpCommand{page(line, line.app)};
  const auto inner = after.front()->get_subcommands();  // for `help tune SCENARIO`, the subcommand of the scenario
  return HelpCommand{page(line, inner.empty() ? *after.front() : *inner.front())};
}

Command completion_command(const std::string& word) {
  const Axis shell{.name = "completion", .kind = AxisKind::choice, .choices = words(kShells)};
  const Value chosen = parse_axis(shell, word, shell.name).front();
  return TextCommand{std::string(completion_script(std::get<std::string>(chosen)))};
}

void add_information(CommandLine& line) {
  auto& word = line.keep<std::string>();
  CLI::App* list = line.add_command("list", "list scenarios, with their flags, units and defaults", "",
                                    {.usage = fmt::format("  xferbench list [SCENARIO|{}]\n", fmt::join(kListed, "|")),
                                     .taken = line.named({"--gpu", "--gpus", "--simulate", "--markdown", "--html"}),
                                     .make = [&line, &word] { return list_command(line, word); }});
  line.choices[list->add_option("TOPIC", word)] = words(kListed);
  auto& info = line.keep<InfoCommand>();
  const auto info_command = [&line, &info] {
    finish_measuring(line, SamplingPolicy().budget);
    refuse_each_node(line);
    info.device = line.measuring.device;
    return info;
  };
  CLI::App* facts =
      line.add_command("info", "show GPU, link and its limit, driver, host and build", "",
                       {.usage = "  xferbench info [FLAGS]\n",
                        .taken = line.named({"--gpu", "--gpus", "--numa", "--simulate", "--markdown", "--html"}),
                        .make = info_command});
  valued(facts->add_option("--json", line.measuring.files.json, "write it as JSON; without FILE to standard output"),
         "[FILE]", "-");
  line.add_command("help", "show the flags of a scenario or a command", "",
                   {.usage = "  xferbench help [SCENARIO|COMMAND]\n",
                    .make = [&line, &word] { return help_command(line, word); }})
      ->add_option("TOPIC", word);
  line.add_command("version", "show version and build", "",
                   {.usage = "  xferbench version\n", .make = [] { return VersionCommand{}; }});
  CLI::App* completion = line.add_command(
      "completion", "print a shell script that completes commands and flags", "",
      {.usage = "  xferbench completion bash|zsh|fish\n", .make = [&word] { return completion_command(word); }});
  line.choices[completion->add_option("SHELL", word)] = words(kShells);
  line.add_command("man", "print all help as a manual page", "",
                   {.usage = "  xferbench man | man -l -\n", .make = [&line] { return TextCommand{manual(line)}; }});
}

}  // namespace

void add_commands(CommandLine& line) {
  for (const auto& add : {add_compare, add_report, add_check, add_expect, add_calibrate, add_validate, add_explain,
                          add_soak, add_information}) {
    add(line);
  }
}

}  // namespace xferbench::cli
