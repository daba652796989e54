// All commands that are no scenario: their flags, and how values of the flags become a command.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cli/command_flags.hpp"
#include "cli/completion.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "results/calibration.hpp"

namespace xferbench::cli {

namespace {

CLI::Option* add_annotations(CommandLine& line, CLI::App& app, Annotations& target) {
  const Axis axis{.name = "annotations",
                  .kind = AxisKind::choice,
                  .help = "notes for a CI system on standard error: github: a line for each thing that is wrong",
                  .choices = {"github"}};
  return line.add_value(app, axis, "SYSTEM", [&target](const Value&) { target = Annotations::github; });
}

void add_files(CLI::App& app, std::vector<std::string>& target) { app.add_option("FILES", target)->type_name("FILES"); }

void add_written_file(CLI::App& app, std::string& target) {
  valued(app.add_option("-o,--output", target, "the file to write; - is standard output [-]"), "FILE");
}

void refuse_several_inputs(const char* command, const std::vector<std::string>& files) {
  if (std::ranges::count(files, "-") > 1) {
    throw UsageError(fmt::format("{}: only one file can be - (standard input)", command));
  }
}

// --- compare --------------------------------------------------------------------------------------------------------

constexpr const char* kCompareUsage =
    R"(  xferbench compare BASE NEW [NEW]...                two results files; several NEW are several processes
  xferbench compare --base FILES --new FILES         several processes a side
  xferbench compare --across FILES                   different machines side by side
)";

constexpr const char* kCompareFooter = R"(Examples:
  xferbench --json base.json                         before a change ...
  xferbench --json new.json                          ... after it ...
  xferbench compare base.json new.json               ... and what it did
  xferbench compare --base main-*.json --new pr-*.json --markdown comment.md --annotations github
  xferbench --suite ci --repeat 7 --json now.json --spread spread.json
  xferbench compare base.json new.json --spread spread.json     single processes, judged with what is known here
  xferbench compare base.json new.json --metric bandwidth --only 'memcpy/dir=h2d*'
  xferbench compare --across a100.json h100.json h200.json

Verdicts:
  regressed, improved      significant over all cases, and the whole 95 % interval of new/base is beyond the threshold
  changed                  the same of a number of which it is not known whether more is better
  same                     the whole interval lies within the threshold
  inconclusive             neither; the line beneath says why
  missing, new             only base has a number, or only new

Exit codes:
  0 nothing regressed   1 a case regressed, or fails that did not   2 usage, or a file that cannot be read or compared
  4 too little data: most cases could not show a slow-down of twice the threshold, for too few processes or too much noise;
    or no case has a number on both sides; with --strict also where a case is inconclusive, changed or missing
)";

/// `files`: words without a flag.
Command compare_command(CompareCommand c, const std::vector<std::string>& files) {
  if (!c.across.empty()) {
    // A list of files takes every word that follows it, so all other words stand before it.
    c.across.insert(c.across.begin(), files.begin(), files.end());
    if (c.across.size() < 2) throw UsageError("--across needs at least two files");
  } else if (!c.base.empty()) {
    if (!files.empty()) {
      throw UsageError(fmt::format("compare: '{}' belongs to no side; write it after --base or --new", files[0]));
    }
  } else if (files.size() < 2) {
    throw UsageError(
        fmt::format("compare needs two results files, as in xferbench compare base.json new.json; {} "
                    "(see xferbench compare --help)",
                    files.empty() ? "there is none" : "there is one"));
  } else {
    c.base = {files.front()};
    c.next.assign(files.begin() + 1, files.end());
  }
  std::vector<std::string> inputs;
  for (const auto* some : {&c.base, &c.next, &c.across}) inputs.insert(inputs.end(), some->begin(), some->end());
  refuse_several_inputs("compare", inputs);
  return c;
}

void add_compare(CommandLine& line) {
  auto& compare = line.keep<CompareCommand>();
  auto& files = line.keep<std::vector<std::string>>();
  CLI::App& app =
      *line.add_command("compare", "what changed between results files", kCompareFooter,
                        {.usage = kCompareUsage,
                         .taken = line.named({"--json", "--markdown", "--html", "--color", "--quiet", "--wide"}),
                         .make = [&compare, &files] { return compare_command(compare, files); }});
  add_files(app, files);
  const auto add_side = [&app](const char* flag, std::vector<std::string>& target, const char* help) {
    return valued(app.add_option(flag, target, help), "FILES");
  };
  CLI::Option* base =
      add_side("--base", compare.base, "several processes of the base: the medians of the files are the samples");
  CLI::Option* next = add_side("--new", compare.next, "the same of what is compared with it");
  CLI::Option* across = add_side("--across", compare.across, "side by side: a column for each file, the best marked");
  base->needs(next);
  next->needs(base);
  compare::Options& options = compare.options;
  valued(app.add_option("--metric", options.metric,
                        "a measurement or metric; else the time that a run's table shows first"),
         "NAME");
  valued(
      app.add_option("--only", options.only, "cases whose keys match: * is anything, ? one character; may be repeated"),
      "PATTERN")
      ->allow_extra_args(false);
  CLI::Option* threshold =
      line.add_share(app, {.name = "threshold", .help = "changes within it do not matter", .min = 0, .max = 99.999},
                     options.threshold);
  CLI::Option* assumed =
      line.add_share(app,
                     {.name = "assume-spread",
                      .help = "how far processes are taken to lie apart where nothing is known; 0: nothing is taken",
                      .min = 0,
                      .max = 100},
                     options.assumed_spread);
  CLI::Option* spread =
      add_file(app, "--spread", "how far processes lie apart on this machine: a file of --repeat N --spread FILE",
               compare.spread);
  CLI::Option* strict =
      app.add_flag("--strict", options.strict, "exit code 4 where a case is inconclusive, changed or missing");
  CLI::Option* bootstrap =
      app.add_flag("--bootstrap", options.bootstrap, "judge by the ratio of medians and its bootstrap interval");
  app.add_flag("--allow-simulated", options.allow_simulated,
               "compare simulated with real times, or different profiles");
  const Axis match{.name = "match",
                   .kind = AxisKind::choice,
                   .help = "which ranks of mpirun or srun are compared; else by UUID where GPUs have any",
                   .choices = words(texts_of(compare::Match{}))};
  line.add_value(app, match, "WHAT",
                 into_enumerator<std::optional<compare::Match>, compare::Match>(match.choices, options.match));
  CLI::Option* all = app.add_flag("--all", compare.all, "list every case, however many there are");
  CLI::Option* annotations = add_annotations(line, app, compare.annotations);
  for (CLI::Option* judging : {base, next, threshold, strict, bootstrap, all, spread, assumed, annotations}) {
    line.contradict(across, judging, "--across shows files side by side and judges nothing");
  }
}

// --- report ---------------------------------------------------------------------------------------------------------

constexpr const char* kReportUsage = R"(  xferbench report FILE... [--html PAGE] [--markdown FILE] [FLAGS]
  xferbench report --base FILES --new FILES [FLAGS]
  xferbench report --trend FILES [FLAGS]
)";

constexpr const char* kReportFooter = R"(Examples:
  xferbench report results.json --html page.html                    one file: a run, of many ranks too, or a soak
  xferbench report base.json new.json --html page.html              two: what changed
  xferbench report a100.json h100.json h200.json --html page.html   more: side by side
  xferbench report --base main-*.json --new pr-*.json --html page.html   several processes a side
  xferbench report --trend nightly/*.json --html page.html          how numbers of one machine went, where they changed
  xferbench report results.json.xz                                  the tables, here; files may be packed with xz
  xferbench report explain.json --html page.html                    what explain --json found, by itself
  xferbench report results.json pipeline.json --html page.html      with timelines, which may stand alone

Files NAME-1.json, NAME-2.json ... of one command and machine, as --repeat writes them, are processes of one run.
A page is one file that needs no network. Without --html - or --markdown - the tables go to standard output.

Exit codes:
  0 all was shown, whatever it says   2 usage, or a file that cannot be read or shown
)";

void add_report(CommandLine& line) {
  auto& report = line.keep<ReportCommand>();
  const auto make = [&report] {
    if (!report.trend.empty()) {
      // A list of files takes every word that follows it, so all other words stand before it.
      report.trend.insert(report.trend.begin(), report.stored.begin(), report.stored.end());
      report.stored.clear();
    } else if (!report.base.empty() && !report.stored.empty()) {
      throw UsageError(
          fmt::format("report: '{}' belongs to no side; write it after --base or --new", report.stored.front()));
    } else if (report.base.empty() && report.stored.empty()) {
      throw UsageError(
          "report needs a file of results, a soak, an explanation or a timeline: "
          "xferbench report results.json --html page.html");
    }
    std::vector<std::string> inputs;
    for (const auto* some : {&report.stored, &report.base, &report.next, &report.trend}) {
      inputs.insert(inputs.end(), some->begin(), some->end());
    }
    refuse_several_inputs("report", inputs);
    return report;
  };
  CLI::App& app =
      *line.add_command("report", "what stored files say, as a page or as the tables of their commands", kReportFooter,
                        {.usage = kReportUsage,
                         .taken = line.named({"--markdown", "--html", "--details", "--color", "--quiet", "--wide"}),
                         .make = make});
  add_files(app, report.stored);
  const auto add_list = [&app](const char* flag, std::vector<std::string>& target, const char* help) {
    return valued(app.add_option(flag, target, help), "FILES");
  };
  CLI::Option* base = add_list("--base", report.base, "several processes of the base");
  CLI::Option* next = add_list("--new", report.next, "the same of what is compared with it");
  CLI::Option* trend = add_list("--trend", report.trend, "many runs of one machine: where their numbers changed");
  base->needs(next);
  next->needs(base);
  for (CLI::Option* side : {base, next}) line.contradict(trend, side, "a trend compares all runs with each other");
  app.add_flag("--allow-simulated", report.allow_simulated, "show simulated results beside real ones");
}

// --- check, expect --------------------------------------------------------------------------------------------------

constexpr const char* kCheckFooter = R"(Examples:
  xferbench --suite quick --json quick.json && xferbench check quick.json --expect h200
  xferbench check node-*.json --expect h200          a table for each, one summary, one exit code
  xferbench check new.json --expect mine.json --markdown comment.md
  xferbench check new.json --expect mine.json --junit check.xml     for CI servers: a test case for each expectation
  xferbench check new.json --expect mine.json --openmetrics /var/lib/prometheus/node-exporter/xferbench.prom
  xferbench expect good-*.json -o mine.json          limits of your own, from good runs; then check against them
  xferbench list expectations                        names that --expect knows

Columns:
  expected, found          the limit, and the number of the case that decides, in the limit's unit
  margin                   how far inside its limit the number is, of the limit; below 0 it is outside

Below the tables: what was not measured, each with the command that would.

Exit codes:
  0 every expectation that was measured holds   1 one does not, nothing was checked, or a run was cut off
  2 usage, or a file that cannot be read
)";

constexpr const char* kExpectFooter = R"(Examples:
  xferbench --suite ci --repeat 3 --json good.json                  three processes: good-1.json to good-3.json
  xferbench expect good-1.json good-2.json good-3.json -o mine.json
  xferbench check new.json --expect mine.json                       exit code 1 where a case is slower than the limit
  xferbench expect good.json --assume-spread 1 -o mine.json         of one run, whose spread nobody knows

Each case gets a limit for its headline, beyond the worst of these runs by a margin that comes from their spread: 95 of
100 further runs that are as good keep all limits. More runs make it narrower. docs/check.md tells how.
)";

Command check_command(CheckCommand c) {
  if (c.results.empty()) throw UsageError("check needs a results file: xferbench check results.json --expect h200");
  refuse_several_inputs("check", c.results);
  if (c.expect.empty()) {
    throw UsageError("check needs --expect: a file of limits, or the name of one that comes with xferbench, as h200");
  }
  return c;
}

Command expect_command(ExpectCommand c) {
  if (c.good.empty()) {
    throw UsageError("expect needs results of good runs: xferbench expect good-1.json good-2.json -o mine.json");
  }
  refuse_several_inputs("expect", c.good);
  return c;
}

void add_check(CommandLine& line) {
  auto& check = line.keep<CheckCommand>();
  CLI::App& app = *line.add_command(
      "check", "whether results are within limits; exit code 1 if not", kCheckFooter,
      {.usage = "  xferbench check RESULTS... --expect FILE|NAME [FLAGS]\n",
       .taken = line.named({"--json", "--markdown", "--html", "--openmetrics", "--color", "--quiet", "--wide"}),
       .make = [&check] { return check_command(check); }});
  add_files(app, check.results);
  valued(app.add_option("--expect", check.expect,
                        "what to expect: a file of limits, or the name of one that comes with xferbench"),
         "FILE|NAME");
  app.add_flag("--allow-simulated", check.allow_simulated, "check simulated results, too");
  add_file(app, "--junit", "write a test case for each expectation, as CI servers show them; - is standard output",
           line.measuring.files.junit);
  add_annotations(line, app, check.annotations);
}

void add_expect(CommandLine& line) {
  auto& expect = line.keep<ExpectCommand>();
  CLI::App& app = *line.add_command("expect", "limits for check, from runs that were good", kExpectFooter,
                                    {.usage = "  xferbench expect GOOD... [-o FILE] [FLAGS]\n",
                                     .taken = line.named({"--quiet"}),
                                     .make = [&expect] { return expect_command(expect); }});
  add_files(app, expect.good);
  add_written_file(app, expect.output);
  line.add_share(app,
                 {.name = "assume-spread",
                  .help = "how far runs spread (standard deviation) where the good ones say little of it",
                  .min = 0.01,
                  .max = 50},
                 expect.assumed_spread);
  app.add_flag("--allow-simulated", expect.allow_simulated, "take simulated runs, too");
  app.add_flag("--allow-doubtful", expect.allow_doubtful,
               "take runs that were cut off, have failed cases, or were not verified");
}

// --- calibrate, validate --------------------------------------------------------------------------------------------

constexpr const char* kCalibrateFooter = R"(Examples:
  xferbench calibrate -o mine.json                                  measures this machine (suite calibrate), some 30 s
  xferbench --simulate mine.json --size 1G --streams 1:8            and asks what-if of it, on any machine
  xferbench --suite calibrate --repeat 3 --json c.json && xferbench calibrate c-1.json c-2.json c-3.json -o mine.json
  xferbench overlap --simulate results.json                         a profile made of results on the way

Each number of the profile has its interval and its source, a results file and what of it, under sources. What is
measured is kept beside the profile, as mine.results.json, or in --json FILE. What is not measured is as in --base.
docs/calibrate.md tells how each number follows, and how right such profiles are.
)";

constexpr const char* kValidateFooter = R"(Examples:
  xferbench validate other-sizes.json --simulate mine.json          errors, by size and strategy
  xferbench validate grid-*.json --simulate h200 --markdown validation.md

  bias, median error   median of predicted / measured - 1 of each case's headline, with its sign and without
  regret               how much longer the one takes that is predicted to be the fastest than the one that is
  covered              cases whose interval meets what the profile predicts between the ends of its own intervals
)";

/// Checked before anything is measured: a profile of such a name would be refused when it is used.
void refuse_profile_name(const std::string& name) {
  if (is_built_in_profile(name)) {
    throw UsageError(
        fmt::format("--name {0}: that is a built-in profile; give this one a name of its own, as my-{0}", name));
  }
  if (name.size() > kLongestProfileWord) {
    throw UsageError(fmt::format("--name takes up to {} characters, and this has {}; give a shorter one",
                                 kLongestProfileWord, name.size()));
  }
}

Command calibrate_command(const CommandLine& line, CalibrateCommand c) {
  refuse_several_inputs("calibrate", c.results);
  refuse_profile_name(c.name);
  for (const auto& [flag, what] :
       {std::pair{"--gpu", "chooses what is measured"}, std::pair{"--numa", "chooses where it is measured"},
        std::pair{"--simulate", "chooses what is measured"}, std::pair{"--json", "keeps what is measured"}}) {
    if (c.results.empty() || !line.given(flag)) continue;
    throw UsageError(
        fmt::format("{} {}, and these results are measured already; leave it, or the files, out", flag, what));
  }
  c.json = line.measuring.files.json;
  if (c.json == "-") {
    throw UsageError("--json -: what calibrate measures is kept in a file, and not on standard output; name one");
  }
  if (c.json) refuse_shared_files(std::array{NamedFile{"json", *c.json}, NamedFile{"output", c.output}});
  c.device = line.measuring.device;
  return c;
}

Command validate_command(const CommandLine& line, ValidateCommand c) {
  if (c.results.empty()) {
    throw UsageError("validate needs results of a machine: xferbench validate held-out.json --simulate mine.json");
  }
  refuse_several_inputs("validate", c.results);
  if (!line.measuring.device.simulate) {
    throw UsageError(
        "validate needs --simulate: the profile that is to predict these results, as --simulate mine.json");
  }
  c.profile = *line.measuring.device.simulate;
  return c;
}

void add_calibrate(CommandLine& line) {
  auto& calibrate = line.keep<CalibrateCommand>();
  CLI::App& app = *line.add_command(
      "calibrate", "a profile for --simulate, from measurements of this machine or another", kCalibrateFooter,
      {.usage = "  xferbench calibrate [RESULTS...] [-o FILE] [FLAGS]\n",
       .taken = line.named({"--gpu", "--numa", "--simulate", "--json", "--quiet"}),
       .make = [&line, &calibrate] { return calibrate_command(line, calibrate); }});
  add_files(app, calibrate.results);
  add_written_file(app, calibrate.output);
  valued(app.add_option("--name", calibrate.name, "what tables call the profile [calibrated]"), "NAME");
  Axis base = profile_axis("base", "the built-in profile that has what is not measured");
  base.defaults = calibrate.base;
  line.add_value(app, base, "PROFILE", [&calibrate](const Value& v) { calibrate.base = std::get<std::string>(v); });
  app.add_flag("--allow-simulated", calibrate.allow_simulated, "take simulated results, too");
}

void add_validate(CommandLine& line) {
  auto& validate = line.keep<ValidateCommand>();
  CLI::App& app = *line.add_command(
      "validate", "how right a profile is about results that it was not made of", kValidateFooter,
      {.usage = "  xferbench validate RESULTS... --simulate PROFILE|FILE [FLAGS]\n",
       .taken = line.named({"--simulate", "--json", "--markdown", "--html", "--color", "--quiet", "--wide"}),
       .make = [&line, &validate] { return validate_command(line, validate); }});
  add_files(app, validate.results);
  app.add_flag("--allow-simulated", validate.allow_simulated, "predict simulated results, too");
}

// --- explain --------------------------------------------------------------------------------------------------------

constexpr const char* kExplainUsage =
    R"(  xferbench explain [FLAGS] -- PROGRAM [ARGUMENTS]   runs the program, watches it, and explains what it did
  xferbench explain [FLAGS] FOLDER                   explains a recording that was kept, on any machine
)";

constexpr const char* kExplainFooter = R"(Examples:
  xferbench explain -- ./my_app input.dat
  xferbench explain --range steps --runs 3 -- python3 train.py      one NVTX range of it, the median of three runs
  xferbench explain --json e.json --timeline t.json -- ./my_app     for report --html, and for ui.perfetto.dev
  xferbench explain --recording run1 -- ./my_app                    keeps what was recorded ...
  xferbench explain --mend pageable run1                            ... and asks for one thing alone
  xferbench explain --simulate -- xferbench --simulate              without a GPU

The program runs once by itself and once watched by CUPTI, unchanged; what it prints stays as it is, and this program's
answer comes after it on standard output. Ctrl-C ends the program, and what was recorded until then is explained; in its
unwatched run it ends both.

What its copies could reach is measured on the GPU that it used, in some seconds, and kept for 30 days
(~/.cache/xferbench); --simulate takes it from a modelled machine instead. Gains come from replaying what was recorded:
docs/explain.md tells how, and what each finding assumes.

Exit codes:
  0 the program was explained, whatever became of it   2 usage, a program that cannot be started, a damaged recording
  with --exit-code, the program's own
)";

Command explain_command(const CommandLine& line, ExplainCommand e) {
  e.program = line.program;
  if (e.program.empty() && e.folder.empty()) {
    throw UsageError("explain needs a program behind --, or a recording: xferbench explain -- ./my_app args");
  }
  if (!e.program.empty() && !e.folder.empty()) {
    throw UsageError(
        fmt::format("explain takes a program or a recording, and there are both ('{}' before --)", e.folder));
  }
  if (e.program.empty()) {
    for (const char* flag : {"--recording", "--runs", "--no-bare", "--from", "--for", "--max-records", "--stacks",
                             "--exit-code", "--measure-limits"}) {
      if (line.app.get_subcommand("explain")->get_option(flag)->count() == 0) continue;
      throw UsageError(fmt::format("{} is of a program that is run, and {} is read", flag, e.folder));
    }
  }
  e.simulate = line.measuring.device.simulate;
  return e;
}

void add_recording_flags(CommandLine& line, CLI::App& app, ExplainCommand& explain) {
  add_file(app, "--recording", "keep the recording in this new folder, to be read again: xferbench explain FOLDER",
           explain.recording, "FOLDER");
  const auto add_number = [&line, &app](Axis axis, const char* argument, auto& target) {
    return line.add_value(app, axis, argument, into(target));
  };
  CLI::Option* runs = add_number({.name = "runs",
                                  .defaults = "1",
                                  .help = "times that the program runs, once unwatched and once watched each time",
                                  .max = 1000},
                                 "N", explain.runs);
  CLI::Option* no_bare = app.add_flag_callback(
      "--no-bare", [&explain] { explain.bare = false; }, "run it only watched: what watching costs is not known then");
  add_file(app, "--range", "explain this NVTX range, from its first to its last; else the whole program", explain.range,
           "NAME");
  const auto seconds = [](const char* name, const char* help, double least) {
    return Axis{.name = name, .kind = AxisKind::time, .help = help, .min = least, .max = 1e6};
  };
  line.add_value(app, seconds("from", "start recording this long after a process has started", 0), "TIME",
                 [&explain](const Value& v) { explain.from = std::get<double>(v); });
  add_number(seconds("for", "record for this long", 1e-6), "TIME", explain.seconds);
  add_number({.name = "max-records", .defaults = "2000000", .help = "of each process, so many at most", .max = 1e9},
             "N", explain.max_records);
  app.add_flag("--stacks", explain.stacks, "record call stacks of the host, too: each call costs some us more");
  app.add_flag("--exit-code", explain.exit_code, "end with the program's exit code");
  line.contradict(runs, no_bare, "without unwatched runs there is nothing to compare watched ones with");
}

void add_explaining_flags(CommandLine& line, CLI::App& app, ExplainCommand& explain) {
  CLI::Option* limits =
      add_file(app, "--limits", "results of --suite limits that say what this machine can do", explain.limits);
  CLI::Option* measure =
      app.add_flag("--measure-limits", explain.measure_limits, "measure that anew, although it is known");
  app.add_flag("--all", explain.all, "tell what gains little, too, and of all processes");
  constexpr auto kKinds = texts_of(explain::FindingKind{});
  CLI::Option* mend = app.add_option_function<std::string>(
      "--mend",
      [&explain](const std::string& text) { explain.mended = enumerators<explain::FindingKind>(text, "mend"); },
      "tell the time with just these kinds of findings mended, such as pageable,result-wait");
  line.choices[valued(mend, "KIND,...")] = words(kKinds);
  line.contradict(limits, measure, "limits are read or measured");
}

void add_explain(CommandLine& line) {
  auto& explain = line.keep<ExplainCommand>();
  CLI::App& app = *line.add_command(
      "explain", "what the transfers of any CUDA program cost it, and what mending them gains", kExplainFooter,
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
    R"(Exit codes: 0 PASS; 1 FAIL: a wrong byte, a rate below the floor, a lost GPU, a critical error (Xid) or a memory error
that could not be corrected; 130 after Ctrl-C, with the verdict so far.

Examples:
  xferbench soak --for 8h --gpus all --json soak.jsonl          overnight, on all GPUs; the file grows by a line a minute
  xferbench soak --resume soak.jsonl                            goes on after a crash or Ctrl-C
  xferbench soak --for 20m --load h2d,d2h,both                  the link alone
  xferbench soak --for 7d --interval 5m --openmetrics /var/lib/node_exporter/textfile/xferbench.prom
)";

Command soak_command(const CommandLine& line, SoakCommand soak) {
  const CLI::App& app = *line.app.get_subcommand("soak");
  soak.arguments = line.measuring.arguments;
  soak.device = line.measuring.device;
  soak.settings.seed = line.measuring.seed;
  soak.resume = line.run.resume;
  soak.dry_run = line.measuring.dry_run;
  if (soak.settings.size % 4096 != 0) {
    throw UsageError(fmt::format("--size {} is no multiple of 4 KiB, which copies of a soak are",
                                 format_size_exact(soak.settings.size)));
  }
  if (soak.resume) {
    for (const char* flag : {"--interval", "--load", "--size", "--floor", "--gpu", "--gpus", "--numa", "--simulate",
                             "--seed", "--json", "--dry-run"}) {
      const CLI::Option* own = app.get_option_no_throw(flag);
      if ((own != nullptr ? own : line.app.get_option(flag))->count() == 0) continue;
      throw UsageError(fmt::format("--resume goes on with the soak that the file holds; leave {} out", flag));
    }
    if (soak.resume == "-") throw UsageError("--resume needs a file: a soak goes on in its own");
  }
  std::vector<NamedFile> files = line.measuring.files.named();
  if (soak.resume) files.push_back({"resume", *soak.resume});
  refuse_shared_files(files);
  return soak;
}

void add_soak(CommandLine& line) {
  auto& soak = line.keep<SoakCommand>();
  CLI::App& app = *line.add_command(
      "soak", "keep GPUs busy for hours, check every byte, watch rates, clocks and counters", kSoakFooter,
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
  add_time("for", "1h", "how long, as 20min or 8h", soak.seconds);
  add_time("interval", "60s", "time between two lines", soak.settings.interval);
  constexpr auto kLoads = texts_of(SoakLoad{});
  CLI::Option* load = app.add_option_function<std::string>(
      "--load",
      [&soak](const std::string& text) {
        soak.settings.loads = text == "all" ? std::vector<SoakLoad>() : enumerators<SoakLoad>(text, "load");
      },
      "what keeps them busy, in turns; p2p from each GPU to the next [all that the machine can carry]");
  line.choices[valued(load, "LOAD,...")] = words(kLoads);
  line.choices[load].emplace_back("all");
  line.add_value(
      app,
      {.name = "size",
       .kind = AxisKind::size,
       .defaults = "256MiB",
       .help = "of one copy; six times as much is taken of each GPU's memory, and of the host's for each GPU",
       .min = 4096,
       .max = 1e12},
      "SIZE", into(soak.settings.size));
  valued(app.add_option_function<std::string>(
             "--floor", [&soak](const std::string& text) { soak.settings.floor = parse_percent(text, "--floor"); },
             "a rate below this share of its first minutes' is told as a drop [90%]"),
         "PERCENT");
}

// --- list, info, help and others -------------------------------------------------------------------------------------

/// `word`: the word after the command, if it is no command or scenario.
Command list_command(const CommandLine& line, const std::string& word) {
  const auto after = line.words_after_command();
  if (after.size() > 1) throw UsageError("list takes one scenario at most");
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
        fmt::format("--{}: what a scenario has is told as help is, on standard output alone; of {} there "
                    "are pages",
                    files.front().flag, fmt::join(kListed, ", ")));
  }
  const Scenario& about = topic(line, after.empty() ? word : after.front()->get_name());
  HelpCommand help{page(line, *line.app.get_subcommand(name_of(about)))};
  help.page.results = results_of(described(about));
  return help;
}

/// `word`: as in list_command().
Command help_command(const CommandLine& line, const std::string& word) {
  const auto after = line.words_after_command();
  if (word == "help") return HelpCommand{page(line, *line.app.get_subcommand("help"))};
  if (!word.empty()) static_cast<void>(topic(line, word));
  if (after.size() > 1) {
    throw UsageError(fmt::format("help is of one thing at a time: xferbench help {}", after.front()->get_name()));
  }
  if (after.empty()) return HelpCommand{page(line, line.app)};
  const auto inner = after.front()->get_subcommands();  // of tune: a scenario
  return HelpCommand{page(line, inner.empty() ? *after.front() : *inner.front())};
}

Command completion_command(const std::string& word) {
  const Axis shell{.name = "completion", .kind = AxisKind::choice, .choices = words(kShells)};
  const Value chosen = parse_axis(shell, word, shell.name).front();
  return TextCommand{std::string(completion_script(std::get<std::string>(chosen)))};
}

void add_information(CommandLine& line) {
  auto& word = line.keep<std::string>();
  CLI::App* list = line.add_command("list", "what can be run, with flags, units and defaults", "",
                                    {.usage = fmt::format("  xferbench list [SCENARIO|{}]\n", fmt::join(kListed, "|")),
                                     .taken = line.named({"--gpu", "--gpus", "--simulate", "--markdown", "--html"}),
                                     .make = [&line, &word] { return list_command(line, word); }});
  line.choices[list->add_option("TOPIC", word)] = words(kListed);
  auto& info = line.keep<InfoCommand>();
  const auto info_command = [&line, &info] {
    finish_measuring(line, SamplingPolicy().budget);
    info.device = line.measuring.device;
    return info;
  };
  CLI::App* facts =
      line.add_command("info", "GPU, link and its limit, driver, host, build", "",
                       {.usage = "  xferbench info [FLAGS]\n",
                        .taken = line.named({"--gpu", "--gpus", "--numa", "--simulate", "--markdown", "--html"}),
                        .make = info_command});
  valued(facts->add_option("--json", line.measuring.files.json, "the same as JSON; without a file to standard output"),
         "[FILE]", "-");
  line.add_command("help", "the flags of a scenario or a command", "",
                   {.usage = "  xferbench help [SCENARIO|COMMAND]\n",
                    .make = [&line, &word] { return help_command(line, word); }})
      ->add_option("TOPIC", word);
  line.add_command("version", "version and build", "",
                   {.usage = "  xferbench version\n", .make = [] { return VersionCommand{}; }});
  CLI::App* completion = line.add_command(
      "completion", "a script that completes commands and flags", "",
      {.usage = "  xferbench completion bash|zsh|fish\n", .make = [&word] { return completion_command(word); }});
  line.choices[completion->add_option("SHELL", word)] = words(kShells);
  line.add_command("man", "all help as a manual page", "",
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
