#include "cli/pages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "core/units.hpp"
#include "device/open.hpp"

namespace xferbench::cli {

namespace {

constexpr std::size_t kPageWidth = 120;
constexpr std::size_t kWidestTag = 26;

/// Broken at blanks.
std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width) lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  return lines;
}

std::string laid_out(const Section& section, std::size_t tag_width) {
  std::string text = fmt::format("\n{}:\n", section.title);
  for (const Entry& entry : section.entries) {
    std::string tag = entry.tag;
    for (const std::string& paragraph : entry.lines) {
      for (const std::string& line : wrapped(paragraph, kPageWidth - tag_width - 3)) {
        text += fmt::format("  {:<{}} {}\n", std::exchange(tag, ""), tag_width, line);
      }
    }
  }
  return text;
}

std::string laid_out(const std::vector<Section>& sections) {
  std::size_t width = 0;
  for (const Section& section : sections) {
    for (const Entry& entry : section.entries) width = std::max(width, std::min(entry.tag.size(), kWidestTag));
  }
  std::string text;
  for (const Section& section : sections) text += laid_out(section, width);
  return text;
}

std::string number(double value, AxisKind kind) {
  if (kind == AxisKind::real) return fmt::format("{}", value);
  const auto whole = static_cast<std::uint64_t>(value);
  return kind == AxisKind::size ? format_size_exact(whole) : fmt::format("{}", whole);
}

/// "h2d, d2h, d2d" or "1 to 1024": what the axis allows.
std::string legal(const Axis& axis) {
  constexpr double kBoundless = 1e17;
  if (axis.kind == AxisKind::choice) return fmt::format("{}", fmt::join(axis.choices, ", "));
  if (axis.kind == AxisKind::gpus) {
    const std::string numbers =
        axis.joined_by == '\0' ? "the number of a GPU" : fmt::format("numbers of GPUs joined by {}", axis.joined_by);
    return fmt::format("{}, or {}", numbers, fmt::join(axis.choices, ", "));
  }
  if (!axis.example.empty()) return fmt::format("as in {}", axis.example);
  if (axis.max > kBoundless) return fmt::format("{} or more", number(axis.min, axis.kind));
  return fmt::format("{} to {}", number(axis.min, axis.kind), number(axis.max, axis.kind));
}

std::string beside_text(MetricDeclaration::Beside beside) {
  switch (beside) {
    case MetricDeclaration::Beside::interval: return "half-width of the 95 % interval";
    case MetricDeclaration::Beside::clock: return "the clock, where it differs between cases,";
    case MetricDeclaration::Beside::p90: return "90th percentile";
    case MetricDeclaration::Beside::p99: return "99th percentile";
  }
  return "";
}

/// " [bandwidth: GB/s, higher is better]": its name in files, where that is not its heading, its unit, which way is
/// better.
std::string fact_of(const MetricDeclaration& m) {
  std::string fact = m.kind == MetricDeclaration::Kind::label ? "a word" : m.unit == "1" ? "a ratio" : m.unit;
  if (m.better != Better::neither) fact += fmt::format(", {} is better", to_text(m.better));
  return fmt::format(" [{}{}]", m.heading.empty() || m.heading == m.name ? "" : m.name + ": ", fact);
}

}  // namespace

std::string to_text(const Page& page) {
  // The program's own page begins with what it is for.
  const std::string title = page.name == "xferbench" ? page.summary : page.name + ": " + page.summary;
  const std::string text = title + "\n\nUsage:\n" + page.usage + laid_out(page.sections);
  return page.footer.empty() ? text : text + "\n" + page.footer;
}

std::string placeholder(const Axis& axis) {
  const std::string word = axis.kind == AxisKind::size    ? "SIZES"
                           : axis.kind == AxisKind::count ? "COUNTS"
                           : axis.kind == AxisKind::real  ? "NUMBERS"
                           : axis.kind == AxisKind::gpus  ? "GPUS"
                           : axis.kind == AxisKind::text  ? "TEXTS"
                           : axis.kind == AxisKind::file  ? "FILES"
                                                          : "WORDS";
  return axis.implicit_value.empty() ? word : "[" + word + "]";
}

std::string what_it_needs(const Axis& axis) {
  const std::string flag = "--" + axis.only_with_axis;
  return axis.only_with_values.empty() ? flag : fmt::format("{} {}", flag, fmt::join(axis.only_with_values, ","));
}

std::string description_of(const Axis& axis) {
  std::string text = axis.help;
  if (!axis.defaults.empty()) {
    text += " [" + axis.defaults + "]";
  } else if (!axis.alternative_to.empty()) {
    text += " [instead of --" + axis.alternative_to + "]";
  }
  if (!axis.tuning.empty()) text += "\ntune tries " + axis.tuning + (axis.tuned_without ? " and the default" : "");
  text += "\n" + legal(axis);
  if (!axis.only_with_axis.empty()) {
    text += fmt::format("; only with {}", what_it_needs(axis));
  }
  return text;
}

std::string explain_results(const ScenarioDescriptor& scenario) {
  Section columns{"Columns", {}};
  std::set<std::string> told;  // a measurement and the metric made of it may have one name
  for (const Column& column : columns_of(scenario.metrics)) {
    const MetricDeclaration& of = *column.of;
    told.insert(of.name);
    columns.entries.push_back(
        {column.header(), {column.beside ? beside_text(*column.beside) + " of " + of.name : of.help + fact_of(of)}});
  }
  // Where only one case ran, a table of what was measured follows: its rows are measurements.
  Section rows{"Rows of what was measured", {}};
  Section others{"In results files only", {}};
  for (const MetricDeclaration& metric : scenario.metrics) {
    if (!told.insert(metric.name).second) continue;
    Section& place = metric.kind == MetricDeclaration::Kind::measurement ? rows : others;
    place.entries.push_back({metric.name, {metric.help + fact_of(metric)}});
  }
  std::vector<Section> sections{columns, rows, others};
  std::erase_if(sections, [](const Section& section) { return section.entries.empty(); });
  return laid_out(sections);
}

std::string_view program_usage() {
  return R"(  xferbench [FLAGS]                               overlap, the pipeline
  xferbench [FLAGS] SCENARIO [FLAGS] ...          each with its own flags; those before them hold for all
  mpirun -n 8 xferbench ...                       the same on many GPUs and nodes, and the slow one named
  xferbench COMMAND ...
)";
}

std::string_view compare_usage() {
  return R"(  xferbench compare BASE NEW [NEW]...                two results files; several NEW are several processes
  xferbench compare --base FILES --new FILES         several processes a side
  xferbench compare --across FILES                   different machines side by side
)";
}

std::string_view compare_footer() {
  return R"(Examples:
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
  4 most cases could not have shown a slow-down of twice the threshold: too few processes, or too much noise;
    or no case has a number on both sides; with --strict also where a case is inconclusive, changed or missing
)";
}

std::string_view explain_usage() {
  return R"(  xferbench explain [FLAGS] -- PROGRAM [ARGUMENTS]   runs the program, watches it, and explains what it did
  xferbench explain [FLAGS] FOLDER                   explains a recording that was kept, on any machine
)";
}

std::string_view explain_footer() {
  return R"(Examples:
  xferbench explain -- ./my_app input.dat
  xferbench explain --range steps --runs 3 -- python3 train.py      one NVTX range of it, the median of three runs
  xferbench explain --json e.json --timeline t.json -- ./my_app     for scripts/report, and for ui.perfetto.dev
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
}

std::string_view check_footer() {
  return R"(Examples:
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
}

std::string_view expect_footer() {
  return R"(Examples:
  xferbench --suite ci --repeat 3 --json good.json                  three processes: good-1.json to good-3.json
  xferbench expect good-1.json good-2.json good-3.json -o mine.json
  xferbench check new.json --expect mine.json                       exit code 1 where a case is slower than the limit
  xferbench expect good.json --assume-spread 1 -o mine.json         of one run, whose spread nobody knows

Each case gets a limit for its headline, beyond the worst of these runs by a margin that comes from their spread: 95 of
100 further runs that are as good keep all limits. More runs make it narrower. docs/check.md tells how.
)";
}

std::string_view calibrate_footer() {
  return R"(Examples:
  xferbench calibrate -o mine.json                                  measures this machine (suite calibrate), some 30 s
  xferbench --simulate mine.json --size 1G --streams 1:8            and asks what-if of it, on any machine
  xferbench --suite calibrate --repeat 3 --json c.json && xferbench calibrate c-1.json c-2.json c-3.json -o mine.json
  xferbench overlap --simulate results.json                         a profile made of results on the way

Each number of the profile has its interval and its source, a results file and what of it, under sources. What is
measured is kept beside the profile, as mine.results.json, or in --json FILE. What is not measured is as in --base.
docs/calibrate.md tells how each number follows, and how right such profiles are.
)";
}

std::string_view soak_usage() {
  return R"(  xferbench soak [--for DURATION] [FLAGS]
  xferbench soak --resume FILE [--for DURATION]
)";
}

std::string_view soak_footer() {
  return R"(Exit codes: 0 all is well; 1 a byte was wrong, a rate fell below the floor, a GPU was lost, told of a critical error
(Xid) or of a memory error that could not be corrected; 130 after Ctrl-C, with the verdict so far.

Examples:
  xferbench soak --for 8h --gpus all --json soak.jsonl          overnight, on all GPUs; the file grows by a line a minute
  xferbench soak --resume soak.jsonl                            goes on after a crash or Ctrl-C
  xferbench soak --for 20m --load h2d,d2h,both                  the link alone
  xferbench soak --for 7d --interval 5m --openmetrics /var/lib/node_exporter/textfile/xferbench.prom
)";
}

std::string_view validate_footer() {
  return R"(Examples:
  xferbench validate other-sizes.json --simulate mine.json          errors, by size and strategy
  xferbench validate grid-*.json --simulate h200 --markdown validation.md

  bias, median error   median of predicted / measured - 1 of each case's headline, with its sign and without
  regret               how much longer the one takes that is predicted to be the fastest than the one that is
  covered              cases whose interval meets what the profile predicts between the ends of its own intervals
)";
}

std::string_view short_examples() {
  return R"(Examples:
  xferbench --streams 8 --size 256M                  how close does this pipeline come to the limit?
  xferbench tune --size 64M --json best.json         which streams, chunks, strategy are best for 64 MiB?
  xferbench explain -- ./my_app args                 what do my program's transfers cost it, and what would help?
  xferbench compare base.json new.json               what became slower?
  xferbench --simulate                               no GPU at hand: a modelled one, marked as such

More: xferbench help run (flags of every run, values, exit codes), help memcpy, help tune, ...
)";
}

std::string_view tune_examples() {
  return R"(Examples:
  xferbench tune --size 64M                          which streams, chunks, strategy are best for 64 MiB?
  xferbench tune --size 4G --memory-limit 1G         with at most 1 GiB of device memory
  xferbench tune smem --intensity 48                 of another scenario; its flags: xferbench tune smem --help
)";
}

std::string_view value_grammar() {
  return R"(  sizes   4096, 4K, 256M, 1.5G, 4KiB, 1GiB are powers of 1024; KB, MB, GB are powers of 1000
  lists   1,2,4    ranges   4K:1G:x4 (times 4)   1:16:+1 (plus 1)   1:16 (doubling)
  words   h2d,d2h; all stands for every word that the flag knows
  Every flag of a scenario takes lists and ranges; the cases are their product.
)";
}

std::string_view exit_codes() {
  return R"(  0 all well   1 a case failed; of compare a regression, of check a limit not kept
  2 usage, a file that cannot be read or written   3 no usable GPU   4 of compare: it could not have found what it is for
  5 nothing was measured   6 the GPU does not answer   130 Ctrl-C, 143 SIGTERM (what was measured is written)
)";
}

std::string profile_lines() {
  std::string text;
  const auto add = [&text](std::string_view name, std::string_view description) {
    text += fmt::format("  {:<24} {}\n", name, description);
  };
  for (const auto& [name, description] : simulated_profiles()) add(name, description);
  add("FILE", "a profile file, which changes one of them; a / is in its path, or it ends in .json");
  return text;
}

}  // namespace xferbench::cli
