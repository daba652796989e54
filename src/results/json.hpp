// The results file, version 1 (docs/results-schema.json is the contract): written, and read back. One list of fields
// for each record serves both.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/result.hpp"
#include "results/sink.hpp"

namespace xferbench {

/// A measurement is on one line, and so is what is declared of a metric. What is unknown is absent; metrics that JSON
/// cannot hold (NaN, infinities) are absent, too.
void write_json(const Report& report, const Sink& sink);
/// The same as one text.
std::string to_json(const Report& report);

/// What docs/results-schema.json says.
std::string results_schema();

/// The text of a result, where it is somewhere else than in memory.
using TextOfResult = std::function<std::optional<std::string>(const Result& result)>;
/// The same with results that are texts already, as they stand in such a file.
void write_json(const Report& report, const Sink& sink, const TextOfResult& text_of);

/// A results file that has not come to its end is all that comes before its results, these with kBetweenResults between
/// them, and kEndOfUnfinished, which is not written: a journal (results/journal.hpp).
std::string beginning_of_json(const Report& report);
std::string text_in_file(const Result& result);
inline constexpr std::string_view kBeforeResult = "\n  ";
inline constexpr std::string_view kEndOfResult = "\n  }";  ///< with which the text of each ends, and nothing else in it
inline constexpr std::string_view kBetweenResults = ",";
inline constexpr std::string_view kEndOfUnfinished = "\n ]\n}\n";
/// Such a text again. Its case is that of a file, whose parameters are of no axes.
Result parse_result_in_file(std::string_view text, std::string_view name);

/// Reads a results file, which may be packed with xz; "-" is standard input. One that is not complete is read with its
/// journal, where there is one; where that is damaged, what is lost is told. Identities of results are unique. Fields
/// that it does not know are ignored, since the format may grow. Throws InputError with one line: the file, the line in
/// it, the place (results[3].measurements[0].samples[2]), what was found and what was expected. Several files may be
/// read at once, by a thread each.
Report read_report(const std::string& path);

/// A results file with what its journal has, and what is to be known of that before it is written over.
struct StoredReport {
  Report report;
  bool journal_is_of_another_run = false;  ///< then it is none of this file's
  std::string damage{};  ///< the journal, the place in it and what was found there; nothing behind that was read
};
StoredReport read_stored(const std::string& path);

/// The same of a text; `name` is what messages call it.
Report parse_report(std::string_view text, std::string_view name);

/// One result, from process to process: all that a file holds of it, and which of its measurements are auxiliary.
/// Its case is that of a file, whose parameters are of no axes.
std::string to_json(const Result& result);
Result parse_result(std::string_view text, std::string_view name);

/// Who a rank is, likewise.
std::string to_json(const RankPlace& rank);
RankPlace parse_rank(std::string_view text, std::string_view name);

/// What `xferbench info` says of this machine and this program.
struct MachineFacts {
  Tool tool = this_tool();
  std::optional<Environment> environment{};  ///< as results have it; absent where there is no GPU
  std::string no_gpu{};                      ///< why there is none
  std::optional<Environment::Host> host{};   ///< where there is no environment that has it
  std::vector<Metric> limits{};              ///< "link" (to the GPU), "link_d2h", "link_both", "memory"
  Labels profiles{};                         ///< that can be simulated, each with what it is
};

/// "xferbench-info/1"; what is unknown is absent.
std::string to_json(const MachineFacts& facts);

namespace json {
struct Shape;
extern const Shape kInterval;         ///< [low, high]
extern const Shape kToolLine;         ///< of a Tool
extern const Shape kEnvironmentLine;  ///< of an Environment
extern const Shape kHealthLine;       ///< of a Health
// From process to process.
extern const Shape kSentResult;   ///< of a Result; says which measurements are auxiliary
extern const Shape kSentRank;     ///< of a RankPlace
extern const Shape kSentNumbers;  ///< of ranks, or as many as there are ranks: std::vector<int>
extern const Shape kSentTexts;    ///< Labels with any names
}  // namespace json

}  // namespace xferbench
