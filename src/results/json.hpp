// Writes and reads the results file, version 1 (docs/results-schema.json is the contract). One list of fields for each
// record serves writing and reading.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/result.hpp"
#include "results/sink.hpp"

namespace xferbench {

/// Writes each measurement and each metric declaration on one line. Unknown values are absent, and so are metrics that
/// JSON cannot express (NaN, infinities).
void write_json(const Report& report, const Sink& sink);
/// Returns what write_json() writes.
std::string to_json(const Report& report);

/// Returns the contents of docs/results-schema.json.
std::string results_schema();

/// A function that returns the JSON text of a result whose samples are only in a file; nothing for other results.
using TextOfResult = std::function<std::optional<std::string>(const Result& result)>;
/// Like write_json() above, but copies the JSON text of each result for which `text_of` returns one.
void write_json(const Report& report, const Sink& sink, const TextOfResult& text_of);

/// The parts of a journal (results/journal.hpp), which is an unfinished results file: the text before the results, and
/// results with kBetweenResults between them. Readers add kEndOfUnfinished, which no journal contains.
std::string beginning_of_json(const Report& report);
std::string text_in_file(const Result& result);
inline constexpr std::string_view kBeforeResult = "\n  ";
inline constexpr std::string_view kEndOfResult = "\n  }";  ///< end of each result's text; occurs nowhere else in it
inline constexpr std::string_view kBetweenResults = ",";
inline constexpr std::string_view kEndOfUnfinished = "\n ]\n}\n";
/// Parses what text_in_file() returns. The parameters of the parsed case refer to no Axis.
Result parse_result_in_file(std::string_view text, std::string_view name);

/// Reads a results file, which may be compressed with xz; "-" is standard input. Adds the results of the journal if the
/// file is incomplete; prints a warning if the journal is damaged. No two results have the same identity. Unknown
/// fields are ignored, since the format may grow. Throws InputError with one line: the file, the line in it, the place
/// (results[3].measurements[0].samples[2]), what was found and what was expected. May be called from several threads at
/// once.
Report read_report(const std::string& path);

/// The contents of a results file and its journal, and warnings for a caller that will overwrite these files.
struct StoredReport {
  Report report;
  bool journal_is_of_another_run = false;  ///< the journal was ignored, because it is of another run
  std::string damage{};                    ///< where and how the journal is damaged; nothing after that place was read
};
StoredReport read_stored(const std::string& path);

/// Parses the text of a results file; `name` is used in messages.
Report parse_report(std::string_view text, std::string_view name);

/// Write and parse one result, to send it to another process. The text also has Measurement::auxiliary, which files
/// lack. The parameters of the parsed case refer to no Axis.
std::string to_json(const Result& result);
Result parse_result(std::string_view text, std::string_view name);

/// The facts that `xferbench info` shows about this machine and program.
struct MachineFacts {
  Tool tool = this_tool();
  std::optional<Environment> environment{};  ///< the machine, as in results files; absent without a GPU
  std::string no_gpu{};                      ///< why there is no GPU
  std::optional<Environment::Host> host{};   ///< the host; absent if `environment` is present, which contains it
  std::vector<Metric> limits{};  ///< measured limits: "link" (to the GPU), "link_d2h", "link_both", "memory"
  Labels profiles{};             ///< device profiles that can be simulated, with descriptions
};

/// Returns JSON in the format "xferbench-info/1"; unknown values are absent.
std::string to_json(const MachineFacts& facts);

namespace json {
struct Codec;
extern const Codec kInterval;  ///< shape of an Interval: [low, high]
extern const Codec kToolLine;
extern const Codec kEnvironmentLine;
extern const Codec kHealthLine;
// For messages between processes.
extern const Codec kSentResult;   ///< shape of a Result; says which measurements are auxiliary
extern const Codec kSentRank;     ///< shape of a RankPlace
extern const Codec kSentNumbers;  ///< shape of a list of integers, such as rank numbers: std::vector<int>
extern const Codec kSentTexts;    ///< shape of Labels with arbitrary names
}  // namespace json

}  // namespace xferbench
