#include "cli/texts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "core/units.hpp"

namespace xferbench::cli {

namespace {

const char* placeholder(AxisKind kind) {
  switch (kind) {
    case AxisKind::size: return "SIZES";
    case AxisKind::count: return "COUNTS";
    case AxisKind::real: return "NUMBERS";
    case AxisKind::choice: return "WORDS";
  }
  return "";
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
  if (axis.max > kBoundless) return fmt::format("{} or more", number(axis.min, axis.kind));
  return fmt::format("{} to {}", number(axis.min, axis.kind), number(axis.max, axis.kind));
}

}  // namespace

std::span<const Usage> usages() {
  static const std::vector<Usage> all{
      {"",
       "[SCENARIO]... [axis flags] [run flags]",
       "measure; without a scenario: overlap",
       Operand::scenarios,
       {},
       {},
       true},
      {"tune",
       "[SCENARIO] [axis flags] [run flags]",
       "the fastest configuration for what the flags fix",
       Operand::scenarios,
       {},
       {},
       true},
      {"compare", "BASE NEW...", "what changed between results files (compare --help)", Operand::files},
      {"check",
       "RESULTS --expect FILE|NAME",
       "whether results are within limits; exit code 1 if not",
       Operand::files,
       {},
       {"expect", "allow-simulated", "json", "markdown", "color", "quiet"}},
      {"list",
       "[SCENARIO]",
       "what can be run, with axes, units and defaults",
       Operand::scenarios,
       {},
       {"color", "quiet"}},
      {"info",
       "",
       "GPU, link and its limit, driver, host, build",
       Operand::nothing,
       {},
       {"gpu", "numa", "simulate", "color", "quiet"}},
      {"completion", "bash|zsh", "a script that completes commands and flags", Operand::words, {"bash", "zsh"}},
      {"man", "", "this help as a manual page (xferbench man | man -l -)", Operand::nothing},
  };
  return all;
}

std::string_view examples() {
  return R"(  xferbench --streams 8 --size 256M                  how close does this pipeline come to the limit?
  xferbench --streams 2,4,8 --chunks 4:128           every combination (4:128 doubles: 4, 8, 16, ... 128)
  xferbench --balance 0.5,1,2                        kernel half, once, twice as long as the H2D copy
  xferbench tune --size 64M                          which streams, chunks, strategy are best for 64 MiB?
  xferbench memcpy --dir h2d --size 4K:1G:x4         copies from 4 KiB to 1 GiB
  xferbench --simulate --streams 8                   no GPU at hand: a modelled one, marked as such
  xferbench --json results.json                      every sample, for scripts and CI
  xferbench --suite quick                            is this machine well? (quick, ci, full, or a file of your own)
  xferbench --suite ci --repeat 7 --json new.json    new-1.json to new-7.json, by a fresh process each
  xferbench --resume results.json                    go on where a run was stopped
  xferbench --streams 3 --timeline pipeline.json     what ran when: a chart, and a file for ui.perfetto.dev
)";
}

std::string_view value_grammar() {
  return R"(  sizes   4096, 4K, 256M, 1.5G, 4KiB, 1GiB are powers of 1024; KB, MB, GB are powers of 1000
  lists   1,2,4    ranges   4K:1G:x4 (times 4)   1:16:+1 (plus 1)   1:16 (doubling)
  words   h2d,d2h; all stands for every word that the axis knows
  Every axis takes lists and ranges; the cases are their product.
)";
}

std::string_view exit_codes() {
  return R"(  0 all well   1 a case failed; of compare a regression, of check a limit not kept
  2 usage, a file that cannot be read or written   3 no usable GPU   4 of compare --strict: something was not judged
  130 interrupted by Ctrl-C, 143 by SIGTERM (what was measured is written)
)";
}

FlagText text_of(const Axis& axis) {
  FlagText text;
  const std::string value =
      axis.implicit_value.empty() ? placeholder(axis.kind) : fmt::format("[{}]", placeholder(axis.kind));
  text.spelling = fmt::format("--{} {}", axis.name, value);
  text.help = axis.help;
  text.note = !axis.defaults.empty()        ? axis.defaults
              : axis.alternative_to.empty() ? ""
                                            : "instead of --" + axis.alternative_to;
  if (!axis.tuning.empty()) text.more.push_back("tune tries " + axis.tuning);
  text.more.push_back(legal(axis));
  if (!axis.only_with_axis.empty()) {
    text.more.back() += fmt::format("; only with --{} {}", axis.only_with_axis, fmt::join(axis.only_with_values, ","));
  }
  return text;
}

FlagText text_of(const RunFlag& flag) {
  const std::string space = flag.argument.empty() ? "" : " ";
  return {"--" + flag.axis.name + space + flag.argument, flag.axis.help, flag.axis.defaults, {}};
}

std::span<const FlagText> flags_of_every_command() {
  static const std::array<FlagText, 2> flags{{
      {"-h, --help", "this text; after a scenario, that scenario's", "", {}},
      {"--version", "version and build", "", {}},
  }};
  return flags;
}

}  // namespace xferbench::cli
