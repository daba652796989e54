// Declares the flags that belong to the program and not to one scenario or command.
#include "cli/command_flags.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "core/error.hpp"

namespace xferbench::cli {

namespace {

/// Parses --simulate: the name of a built-in profile, or the path of a file, which is read later.
std::string profile_of(const Axis& axis, const std::string& text) {
  if (is_profile_file(text)) return text;
  try {
    const std::vector<Value> values = parse_axis(axis, text, flag_of(axis));
    if (values.size() == 1) return std::get<std::string>(values.front());
  } catch (const UsageError& error) {
    throw UsageError(
        fmt::format("{} (a profile file is recognised by a / in its path, or by .json at its end)", error.what()));
  }
  throw UsageError(fmt::format("--{} takes one value", axis.name));
}

/// Parses the value of --numa: "local", "none", "all" or the number of a NUMA node.
NumaPolicy numa_policy(const std::string& text) {
  const std::vector<std::string> words{"local", "none", "all"};
  constexpr std::size_t kMostDigits = 4;  // Linux has 1024 nodes at most
  const bool digits = !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  if (digits && text.size() <= kMostDigits) return {NumaPolicy::Kind::node, std::stoi(text)};
  if (text == "none") return {NumaPolicy::Kind::none};
  if (text == "local") return {NumaPolicy::Kind::local};
  if (text == "all") return {NumaPolicy::Kind::each};
  throw UsageError(fmt::format("--numa: '{}' is not {} or the number of a NUMA node{}", text, fmt::join(words, ", "),
                               suggestion(text, words)));
}

void add_device_flags(CommandLine& line, CLI::App& app) {
  app.option_defaults()->group(kDevice);
  DeviceChoice& device = line.measuring.device;
  CLI::Option* gpu = app.add_option_function<std::string>(
      "--gpu", [&device](const std::string& text) { device.gpu = one_gpu(text); },
      "number of the GPU, in CUDA's order, or its UUID or PCI address [0]");
  gpu->type_name("N|UUID|ADDRESS");
  CLI::Option* gpus = app.add_option_function<std::string>(
      "--gpus", [&device](const std::string& text) { device.gpus = gpu_selection(text); },
      "several GPUs: all, a number of them (2: the first two), or a list (0,3)");
  line.choices[gpus->type_name("all|N|N,N,...")] = {"all"};
  CLI::Option* numa = app.add_option_function<std::string>(
      "--numa", [&device](const std::string& text) { device.numa = numa_policy(text); },
      "NUMA node for threads and host memory; local: the GPU's node; none: the system decides; all: memcpy from each "
      "node [local]");
  line.choices[numa->type_name("N|local|none|all")] = {"local", "none", "all"};
  Axis profile = profile_axis(
      "simulate", "simulate a modelled machine; without a value: h200; --gpu and --gpus choose among its GPUs");
  profile.implicit_value = profile.choices.front();
  const CLI::callback_t read = [profile, &device](const CLI::results_t& texts) {
    device.simulate = profile_of(profile, texts.front());
    return true;
  };
  CLI::Option* option = app.add_option("--simulate", read, profile.help);
  line.choices[valued(option, "[PROFILE|FILE]", profile.implicit_value)] = profile.choices;
}

/// Reads the values of --format: NAME, for standard output, or NAME=FILE.
std::map<ReportFormat, std::string> formats_in(const std::vector<std::string>& texts) {
  std::map<ReportFormat, std::string> formats;
  for (const std::string& text : texts) {
    const std::size_t end = std::min(text.find('='), text.size());
    const std::vector<ReportFormat> named = enumerators<ReportFormat>(text.substr(0, end), "format");
    if (named.size() != 1) throw UsageError("--format takes one name; give --format again for another file");
    if (end + 1 == text.size()) throw UsageError(fmt::format("--format {} needs a file name", text));
    const std::string file = end < text.size() ? text.substr(end + 1) : "-";
    if (formats.emplace(named.front(), file).second) continue;
    throw UsageError(fmt::format("--{} is given more than once", flag_of_format(named.front())));
  }
  return formats;
}

void add_format(CommandLine& line, CLI::App& app) {
  const CLI::callback_t read = [&line](const CLI::results_t& texts) {
    line.measuring.files.formats = formats_in(texts);
    return true;
  };
  CLI::Option* format = app.add_option("--format", read,
                                       "write what other programs read: bmf (Bencher), github-smaller, github-bigger "
                                       "(github-action-benchmark: times, rates), nvbandwidth; may be repeated; without "
                                       "FILE to standard output");
  valued(format->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->allow_extra_args(false), "NAME[=FILE]");
  line.choices[format] = words(texts_of(ReportFormat{}));
}

void add_sampling_flags(CommandLine& line, CLI::App& app) {
  app.option_defaults()->group(kSampling);
  SamplingChoice& sampling = line.measuring.sampling;
  const SamplingPolicy defaults;
  line.add_value(app,
                 {.name = "ci",
                  .kind = AxisKind::real,
                  .defaults = fmt::format("{}", defaults.ci * 100),
                  .help = "sample until the 95 % confidence interval is within ± this many percent of the median",
                  .min = 0.001,
                  .max = 100},
                 "PERCENT", into(sampling.ci));
  line.add_value(app,
                 {.name = "budget",
                  .kind = AxisKind::time,
                  .defaults = fmt::format("{}s", defaults.budget),
                  .help = "time limit for warm-up and sampling of a case; with tune, for all cases of one work",
                  .min = 0.001,
                  .max = 86400},
                 "TIME", into(sampling.budget));
  const auto add_count = [&](const char* name, const char* help, std::size_t usual, auto& target) {
    line.add_value(app, {.name = name, .defaults = fmt::format("{}", usual), .help = help, .max = 1e6}, "N",
                   into(target));
  };
  add_count("min-samples", "least number of samples, even if they exceed the budget", defaults.min_samples,
            sampling.min_samples);
  add_count("max-samples", "largest number of samples", defaults.max_samples, sampling.max_samples);
  line.add_value(app, {.name = "seed", .defaults = "1", .help = "seed of the payload", .min = 0}, "N",
                 into(line.measuring.seed));
  app.add_flag_callback(
      "--no-verify", [&line] { line.measuring.verify = false; },
      "do not check the output data before and after timing");
  app.add_flag("--dry-run", line.measuring.dry_run, "print the cases without using a device");
}

void add_output_flags(CommandLine& line, CLI::App& app) {
  app.option_defaults()->group(kOutput);
  OutputFiles& files = line.measuring.files;
  Presentation& show = line.measuring.show;
  add_file(app, "--json", "write all results as JSON, with every sample of a run; - is standard output", files.json);
  add_file(app, "--csv", "write CSV, one row per number, for spreadsheets, R, pandas; - is standard output", files.csv);
  add_file(app, "--markdown", "write the tables as Markdown; - is standard output", files.markdown);
  add_file(app, "--html", "write the tables as one self-contained HTML page; - is standard output", files.html);
  add_file(app, "--openmetrics",
           "write the headline of each case, or each margin of check, for Prometheus and Grafana; - is standard output",
           files.openmetrics);
  add_format(line, app);
  const auto add_mode = [&line, &app](const char* name, const char* help, std::vector<std::string> words,
                                      auto& target) {
    const Axis axis{.name = name, .kind = AxisKind::choice, .defaults = "auto", .help = help, .choices = words};
    line.add_value(app, axis, "WHEN", into_enumerator(std::move(words), target));
  };
  add_mode("color", "colours in tables; auto respects NO_COLOR", {"auto", "always", "never"}, show.color);
  add_mode("progress", "auto: only on a terminal; plain: one line for each case", {"auto", "plain", "never"},
           show.progress);
  app.add_flag("--wide", show.wide,
               "show all columns, even if the terminal is too narrow or a matrix shows the numbers");
  app.add_flag("--quiet", show.quiet, "print no progress and no warnings on standard error");
}

void add_whole_run_flags(CommandLine& line, CLI::App& app) {
  app.option_defaults()->group(kWholeRuns);
  add_file(app, "--suite", "run the cases of a suite: quick, ci, full, gpus, or a file", line.run.suite, "NAME|FILE");
  add_file(app, "--resume", "continue a stopped run: measure the cases that this results file lacks", line.run.resume);
  line.add_value(
      app,
      {.name = "turns",
       .flag = "passes",
       .defaults = "1",
       .help = "measure all cases in this many passes, so that drift affects all alike; a suite may set it, too",
       .max = 100},
      "N", into(line.run.turns));
  CLI::Option* repeat = line.add_value(
      app,
      {.name = "repeat",
       .defaults = "1",
       .help = "repeat the run in this many new processes, for compare; FILE.json becomes FILE-1.json ...",
       .max = 1000},
      "N", into(line.run.repeat));
  CLI::Option* spread = add_file(
      app, "--spread", "with --repeat: store the spread between processes, for compare --spread", line.run.spread);
  spread->needs(repeat);
  add_file(app, "--timeline",
           "write a timeline of one extra pass, or of explain's program, for ui.perfetto.dev; - is standard output",
           line.measuring.files.timeline);
  app.add_flag("--details,--all-findings", line.measuring.show.details,
               "show every measurement of a single case, and all findings");
  // Hidden from help: gives a child process of --repeat or of a suite its number.
  line.add_value(app, {.name = "process", .max = 1000}, "N", into(line.run.process))->group("");
}

void add_fleet_flags(CommandLine& line, CLI::App& app) {
  app.option_defaults()->group(kFleets);
  FleetChoice& fleet = line.run.fleet;
  CLI::Option* pace = app.add_option_function<std::string>(
      "--concurrency,--pace", [&fleet](const std::string& text) { fleet.pace = paces(text); },
      "which ranks measure at the same time: all, those of one node, or one; several values show the cost of "
      "contention [all]");
  line.choices[pace->type_name("all|node|one,...")] = words(texts_of(RankConcurrency{}));
  line.add_share(app, {.name = "threshold", .help = "ignore ranks less than this slower than their peers", .max = 100},
                 fleet.threshold);
  line.add_value(app,
                 {.name = "timeout",
                  .kind = AxisKind::time,
                  .defaults = fmt::format("{}s", fleet.timeout),
                  .help = "how long a rank waits for another one that does not answer",
                  .min = 0.1,
                  .max = 86400},
                 "TIME", into(fleet.timeout));
  app.add_flag("--share-gpus", fleet.share_gpus, "let several ranks use one GPU, although they slow each other down");
  app.add_flag("--mpi", fleet.mpi, "start MPI although no known launcher (mpirun, srun) has started the program");
}

void add_contradictions(CommandLine& line, CLI::App& app) {
  constexpr std::array<std::array<const char*, 3>, 20> kContradictions{{
      {"--gpu", "--gpus", "--gpu chooses one GPU, --gpus several"},
      {"--json", "--dry-run", "a dry run has no results to write"},
      {"--csv", "--dry-run", "a dry run has no results to write"},
      {"--markdown", "--dry-run", "a dry run has no results to write"},
      {"--html", "--dry-run", "a dry run has no results to write"},
      {"--timeline", "--dry-run", "a dry run executes nothing"},
      {"--openmetrics", "--dry-run", "a dry run has no results to write"},
      {"--format", "--dry-run", "a dry run has no results to write"},
      {"--format", "--no-verify", "other programs take only verified numbers"},
      {"--progress", "--quiet", "a quiet run shows no progress"},
      {"--suite", "--timeline", "a timeline shows one command; run one of the suite's commands by itself"},
      {"--repeat", "--timeline", "a timeline shows one process; leave --repeat out"},
      {"--repeat", "--dry-run", "a dry run has no results to repeat"},
      {"--repeat", "--csv", "each process writes its own results, as JSON"},
      {"--repeat", "--markdown", "each process writes its own results, as JSON"},
      {"--repeat", "--html", "each process writes its own results, as JSON"},
      {"--repeat", "--openmetrics", "each process writes its own results, as JSON"},
      {"--repeat", "--format", "each process writes its own results, as JSON"},
      {"--repeat", "--details", "each process writes its own details, as JSON"},
      {"--details", "--dry-run", "a dry run measures nothing"},
  }};
  for (const auto& [one, other, why] : kContradictions)
    line.contradict(app.get_option(one), app.get_option(other), why);
}

}  // namespace

void add_program_flags(CommandLine& line) {
  for (const auto& add : {add_device_flags, add_sampling_flags, add_output_flags, add_whole_run_flags, add_fleet_flags,
                          add_contradictions}) {
    add(line, line.app);
  }
}

}  // namespace xferbench::cli
