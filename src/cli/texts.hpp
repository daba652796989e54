// The texts that help, man page and completion are made of, each written once. Pure functions and constants.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/flags.hpp"
#include "core/axis.hpp"

namespace xferbench::cli {

inline constexpr std::string_view kSummary =
    "xferbench measures how fast data reaches the GPU, is worked on and comes back, beside the limit of this machine.";

/// What may follow a command.
enum class Operand { scenarios, files, words, nothing };

/// A way to call the program.
struct Usage {
  std::string name;  ///< of the command; empty: a run
  std::string arguments;
  std::string help;
  Operand operand = Operand::nothing;
  std::vector<std::string> words{};  ///< for Operand::words
  std::vector<std::string> flags{};  ///< without dashes, of run_flags() and check_flags()
  bool all_run_flags = false;        ///< and the axes' flags; instead of `flags`
};

/// Every way to call the program, in the order in which help shows them.
std::span<const Usage> usages();

/// Lines of examples, values and exit codes, as help shows them below a title.
std::string_view examples();
std::string_view value_grammar();
std::string_view exit_codes();

/// What help says of a flag.
struct FlagText {
  std::string spelling;  ///< "--size SIZES"
  std::string help;
  std::string note;               ///< its default; may be empty
  std::vector<std::string> more;  ///< sentences for those who want to know all
};
FlagText text_of(const Axis& axis);
FlagText text_of(const RunFlag& flag);
/// -h, --help and --version.
std::span<const FlagText> flags_of_every_command();

}  // namespace xferbench::cli
