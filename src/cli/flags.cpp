#include "cli/flags.hpp"

#include <array>

namespace xferbench::cli {

std::span<const RunFlag> run_flags() {
  static const std::array<RunFlag, 23> flags{{
      {{.name = "gpu", .defaults = "0", .help = "number of the GPU, as CUDA counts them", .min = 0, .max = 1023}, "N"},
      {{.name = "numa",
        .kind = AxisKind::choice,
        .defaults = "local",
        .help = "NUMA node to run on and take memory from; local is the GPU's, none leaves it to the system",
        .choices = {"local", "none"}},
       "N|local|none"},
      {{.name = "simulate", .kind = AxisKind::choice, .help = "use a modelled GPU instead of a real one"}, "[PROFILE]"},
      {{.name = "suite", .kind = AxisKind::choice, .help = "run the cases of a suite: quick, ci, full, or a file's"},
       "NAME|FILE"},
      {{.name = "json", .kind = AxisKind::choice, .help = "write all results and samples; - is standard output"},
       "FILE"},
      {{.name = "csv",
        .kind = AxisKind::choice,
        .help = "write one row for each number, for spreadsheets, R, pandas; - is standard output"},
       "FILE"},
      {{.name = "markdown", .kind = AxisKind::choice, .help = "write the tables as Markdown; - is standard output"},
       "FILE"},
      {{.name = "resume",
        .kind = AxisKind::choice,
        .help = "go on with the cases that are missing in this results file"},
       "FILE"},
      {{.name = "timeline",
        .kind = AxisKind::choice,
        .help = "watch one more pass; draw it, and write it for ui.perfetto.dev; - is standard output"},
       "FILE"},
      {{.name = "ci",
        .kind = AxisKind::real,
        .defaults = "1",
        .help = "sample until the median's 95 % interval is within +- this many percent",
        .min = 0.001,
        .max = 100},
       "PCT"},
      {{.name = "budget",
        .kind = AxisKind::real,
        .defaults = "3",
        .help = "seconds of warm-up and sampling per case, at most; for tune of all cases, and then 6",
        .min = 0.001,
        .max = 86400},
       "SECONDS"},
      {{.name = "min-samples", .defaults = "10", .help = "samples to take even beyond the budget", .max = 1e6}, "N"},
      {{.name = "max-samples", .defaults = "1000", .help = "samples after which to stop", .max = 1e6}, "N"},
      {{.name = "turns",
        .defaults = "1",
        .help = "go through all cases so many times, so that drift spreads evenly; a suite may say another number",
        .max = 100},
       "N"},
      {{.name = "repeat",
        .defaults = "1",
        .help = "do all of it in so many fresh processes, for compare; FILE.json becomes FILE-1.json and so on",
        .max = 1000},
       "N"},
      {{.name = "memory-limit",
        .kind = AxisKind::size,
        .help = "for tune: leave out what needs more device memory than this"},
       "SIZE"},
      {{.name = "exhaustive", .help = "for tune: measure every configuration, however long it takes"}, ""},
      {{.name = "seed", .defaults = "1", .help = "seed of the payload", .min = 0}, "N"},
      {{.name = "color",
        .kind = AxisKind::choice,
        .defaults = "auto",
        .help = "colours in tables (NO_COLOR is respected)",
        .choices = {"auto", "always", "never"}},
       "WHEN"},
      {{.name = "progress",
        .kind = AxisKind::choice,
        .defaults = "auto",
        .help = "auto: on a terminal; plain: one line for each case",
        .choices = {"auto", "plain", "never"}},
       "WHEN"},
      {{.name = "no-verify", .help = "do not check results before and after timing"}, ""},
      {{.name = "dry-run", .help = "print the cases and touch no device"}, ""},
      {{.name = "quiet", .help = "no progress and no warnings on standard error"}, ""},
  }};
  return flags;
}

std::span<const RunFlag> check_flags() {
  static const std::array<RunFlag, 2> flags{{
      {{.name = "expect",
        .kind = AxisKind::choice,
        .help = "what to expect: a file of limits, or the name of one that comes with xferbench"},
       "FILE|NAME"},
      {{.name = "allow-simulated", .help = "check simulated results, too"}, ""},
  }};
  return flags;
}

}  // namespace xferbench::cli
