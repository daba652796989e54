// What every command keeps to that reads files and writes files: nothing that it reads is lost, nothing is read twice.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "cli/command.hpp"
#include "results/output_file.hpp"

namespace xferbench::app {

/// Throws UsageError if a file that is to be written is one of those that the command reads, by whatever name. "-" is
/// standard input and standard output.
void refuse_to_overwrite(std::span<const std::string> inputs, std::span<const cli::NamedFile> outputs);

/// Throws UsageError if two of the files that stand for different processes are the same.
void refuse_same_twice(std::span<const std::string> files);

/// The files of a command that judges results or recordings; unless one of them is standard output, the table goes
/// there.
class JudgementFiles {
 public:
  using Text = std::function<std::string()>;

  /// Throws OutputError or UsageError before anything is read, so that no work is lost to a typo.
  JudgementFiles(const cli::OutputFiles& files, std::span<const std::string> inputs);

  [[nodiscard]] bool shows_table() const;
  void write(const Text& json, const Text& markdown, const Text& table, const TextWriter& timeline = {});

 private:
  std::optional<ResultsFile> json_;
  std::optional<ResultsFile> markdown_;
  std::optional<ResultsFile> timeline_;
};

}  // namespace xferbench::app
