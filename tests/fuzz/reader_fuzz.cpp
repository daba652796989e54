// Feeds the reader of results files with what nobody should have written: valid files, damaged at random. Each must be
// read, or refused by an InputError of one line; whatever is read is also compared with the file it was made from. Any
// other end (another exception, a sanitizer's report, a hang) is a bug of the program.
//
//   reader_fuzz [--iterations N | --seconds S] [--seed N]
//
// The same seed makes the same files. A failure names its iteration and leaves the text in reader_fuzz_failure.json.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <limits>
#include <optional>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "compare/compare.hpp"
#include "core/error.hpp"
#include "measure/statistics.hpp"
#include "report/compare/compare_report.hpp"
#include "results/json.hpp"
#include "unit/report_fixture.hpp"

namespace xferbench {
namespace {

// --- Valid files ----------------------------------------------------------------------------------------------------

Result a_result(const std::string& dir, std::uint64_t size, std::size_t samples) {
  Result r(test::copy_case(dir, "pinned", size));
  Measurement m;
  m.name = "copy";
  for (std::size_t i = 0; i < samples; ++i) m.samples.push_back(1e-3 + 1e-5 * static_cast<double>(i * 7 % 5));
  statistics::summarise(m);
  r.measurements = {m, m};
  r.measurements[1].name = "call";
  r.add("bandwidth", 95.25, "GB/s");
  r.labels = {{"limited_by", "link"}};
  r.warnings = {"a \"warning\" \\ with \xC3\xA9 and \n a line's end"};
  return r;
}

std::vector<std::string> valid_files() {
  std::vector<std::string> files;
  Report report = test::real_report();
  files.push_back(to_json(report));
  report.environment.gpu.pcie = {5, 8, "nvml", 5, 16, true};
  report.environment.gpu.ecc = true;
  report.environment.host = {"Some CPU", 64, 1ULL << 40, "6.1", 0, 1, "local", "note"};
  report.environment.variables = {{"CUDA_MODULE_LOADING", "EAGER"}};
  Result failed(test::copy_case("d2d", "", 1));
  failed.status = Status::failed;
  failed.reason = "wrong byte";
  report.results = {a_result("h2d", 4096, 12), a_result("d2h", 8192, 1), failed};
  report.findings = {{"copy", "fit", {{"dir", "h2d"}}, {{"latency", 2e-6, "s"}}, ""}, {"copy", "note", {}, {}, "text"}};
  files.push_back(to_json(report));
  report.environment.backend = "simulated";
  report.environment.profile = "h200";
  report.results = {a_result("h2d", 1, 120)};
  files.push_back(to_json(report));
  return files;
}

// --- Damage ---------------------------------------------------------------------------------------------------------

/// What to put into a file: names and values that it knows, and what no file should have.
const std::vector<std::string>& words() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> found{"\"\\x\"", "\xFF\xFE", "\xF4\x90\x80\x80", "\xEF\xBB\xBF"};
    std::istringstream text(R"(
        "schema" "xferbench/1" "xferbench/2" "complete" "results" "key" "samples" "n" "min" "median" "max" "ci95" "p90"
        "clock" "unit" "stop" "warmup" "outliers" "flags" "metrics" "value" "labels" "params" "status" "ok" "failed"
        "skipped" "environment" "gpu" "pcie" "host" "variables" "s" { } [ ] , : " \ null true false NaN Infinity
        -Infinity 1e999 -1 1e-999 18446744073709551616 -9223372036854775809 0.1e308 1e308 5e-324 00 1. "\ud800"
        "\udc00\ud800" "\u0000")");
    for (std::string word; text >> word;) found.push_back(word);
    return found;
  }();
  return all;
}

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  /// The file with one to eight damages.
  std::string damaged(std::string text, const std::string& other) {
    const std::size_t damages = 1 + below(1 + below(8));  // more often few: those may still be read
    for (std::size_t i = 0; i < damages; ++i) damage(text, other);
    return text;
  }

  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : static_cast<std::size_t>(random_() % limit); }

 private:
  struct Span {
    std::size_t begin;
    std::size_t size;
  };

  Span span(const std::string& text, std::size_t longest) {
    const std::size_t begin = below(text.size() + 1);
    return {begin, std::min(below(longest) + 1, text.size() - begin)};
  }

  /// What stands between two characters that end a token.
  Span token(const std::string& text) {
    constexpr const char* kEnds = ",:{}[]\n";
    const std::size_t begin = text.find_first_not_of(kEnds, below(text.size() + 1));
    if (begin == std::string::npos) return {text.size(), 0};
    const std::size_t end = std::min(text.find_first_of(kEnds, begin), text.size());
    return {begin, end - begin};
  }

  void damage(std::string& text, const std::string& other) {
    switch (below(11)) {
      case 0: text.resize(below(text.size() + 1)); return;
      case 1: return flip(text);
      case 2: return remove(text, span(text, 64));
      case 3: return duplicate(text, span(text, 512));
      case 4: return remove(text, token(text));
      case 5: return swap_tokens(text);
      case 6: return insert(text, words()[below(words().size())]);
      case 7: return replace_token(text, words()[below(words().size())]);
      case 8: return replace_token(text, number());
      case 9: return nest(text);
      default: return splice(text, other);
    }
  }

  void flip(std::string& text) {
    if (text.empty()) return;
    char& c = text[below(text.size())];
    c = static_cast<char>(static_cast<unsigned char>(c) ^ (1U << below(8)));
  }
  static void remove(std::string& text, Span s) { text.erase(s.begin, s.size); }
  void duplicate(std::string& text, Span s) {
    const std::string copy = text.substr(s.begin, s.size);
    text.insert(below(2) == 0 ? s.begin : below(text.size() + 1), copy);
  }
  void insert(std::string& text, std::string_view word) { text.insert(below(text.size() + 1), word); }
  void replace_token(std::string& text, std::string_view word) {
    const Span s = token(text);
    text.replace(s.begin, s.size, word);
  }
  void swap_tokens(std::string& text) {
    const Span a = token(text);
    const std::string first = text.substr(a.begin, a.size);
    const Span b = token(text);
    const std::string second = text.substr(b.begin, b.size);
    text.replace(b.begin, b.size, first);
    if (a.begin + a.size <= text.size()) text.replace(a.begin, a.size, second);
  }
  void nest(std::string& text) {
    const bool object = below(2) == 0;
    std::string deep;
    for (std::size_t i = below(300); i > 0; --i) deep += object ? "{\"a\":" : "[";
    insert(text, deep);
  }
  void splice(std::string& text, const std::string& other) {
    const Span s = span(other, 2048);
    text.insert(below(text.size() + 1), other.substr(s.begin, s.size));
  }
  std::string number() {
    std::string digits = below(3) == 0 ? "-" : "";
    for (std::size_t i = below(40) + 1; i > 0; --i) digits += static_cast<char>('0' + below(10));
    if (below(2) == 0) digits += fmt::format(".{}", below(1'000'000));
    if (below(2) == 0) digits += fmt::format("e{}{}", below(2) == 0 ? "-" : "", below(500));
    return digits;
  }

  std::mt19937_64 random_;
};

// --- What must hold -------------------------------------------------------------------------------------------------

void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

void check_read(const Report& report) {
  for (const Result& result : report.results) {
    require(!result.config.key().empty(), "an empty key was read");
    for (const Measurement& m : result.measurements) {
      require(m.batch > 0, "a batch of 0 was read");
      require(!m.ci95 || m.ci95->low <= m.ci95->high, "an interval upside down was read");
      for (const double sample : m.samples) {
        require(std::isfinite(sample) && sample >= 0, "a sample that is no amount was read");
      }
    }
    for (const Metric& metric : result.metrics) require(std::isfinite(metric.value), "a metric that is no number");
  }
}

void check_message(const std::string& message) {
  require(!message.empty() && message.size() < 1000, "a message that is empty or very long");
  require(message.find('\n') == std::string::npos, "a message of several lines");
}

/// Compares with the valid file it was made from, in every form of output.
void check_compared(const std::string& valid, Report read) {
  const std::array<compare::NamedReport, 2> files{compare::NamedReport{"valid", parse_report(valid, "valid")},
                                                  {"damaged", std::move(read)}};
  const std::span<const compare::NamedReport> all(files);
  try {
    const auto comparison = compare::compare(all.first(1), all.last(1), {.allow_simulated = true});
    static_cast<void>(to_table(comparison, true, {true}));
    static_cast<void>(to_markdown(comparison));
    static_cast<void>(to_json(comparison));
    const auto across = compare::across(all, {.allow_simulated = true});
    static_cast<void>(to_table(across, Style{}));
    static_cast<void>(to_markdown(across));
    static_cast<void>(to_json(across));
  } catch (const UsageError& error) {
    check_message(error.what());
  }
}

/// Whether it was read.
bool check(const std::string& valid, const std::string& text) {
  std::optional<Report> read;
  try {
    read = parse_report(text, "f");
  } catch (const InputError& error) {
    check_message(error.what());
    return false;
  }
  check_read(*read);
  check_compared(valid, std::move(*read));
  return true;
}

struct Settings {
  std::uint64_t iterations = std::numeric_limits<std::uint64_t>::max();
  double seconds = std::numeric_limits<double>::infinity();
  std::uint64_t seed = 1;
};

Settings settings_of(const std::vector<std::string>& arguments) {
  Settings settings;
  bool bounded = false;
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    if (i + 1 == arguments.size()) throw UsageError(arguments[i] + " needs a number");
    const std::string& value = arguments[i + 1];
    bounded = bounded || arguments[i] != "--seed";
    if (arguments[i] == "--iterations") {
      settings.iterations = std::stoull(value);
    } else if (arguments[i] == "--seconds") {
      settings.seconds = std::stod(value);
    } else if (arguments[i] == "--seed") {
      settings.seed = std::stoull(value);
    } else {
      throw UsageError("unknown flag " + arguments[i] + "; there are --iterations, --seconds, --seed");
    }
  }
  if (!bounded) settings.iterations = 10'000;
  return settings;
}

int fuzz(const Settings& settings) {
  const std::vector<std::string> files = valid_files();
  Mutator mutator(settings.seed);
  const auto begin = std::chrono::steady_clock::now();
  const auto elapsed = [begin] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  std::uint64_t done = 0;
  std::uint64_t read = 0;
  for (; done < settings.iterations && elapsed() < settings.seconds; ++done) {
    const std::string& valid = files[mutator.below(files.size())];
    const std::string text = mutator.damaged(valid, files[mutator.below(files.size())]);
    try {
      read += check(valid, text) ? 1 : 0;
    } catch (const std::exception& error) {
      std::ofstream("reader_fuzz_failure.json", std::ios::binary) << text;
      fmt::print(stderr, "seed {}, iteration {}: {}; see reader_fuzz_failure.json\n", settings.seed, done,
                 error.what());
      return 1;
    }
  }
  fmt::print("{} damaged files in {:.1f} s, of which {} could be read; seed {}\n", done, elapsed(), read,
             settings.seed);
  return 0;
}

}  // namespace
}  // namespace xferbench

int main(int argc, char** argv) {
  try {
    return xferbench::fuzz(xferbench::settings_of({argv + 1, argv + argc}));
  } catch (const std::exception& error) {
    fmt::print(stderr, "reader_fuzz: {}\n", error.what());
    return 2;
  }
}
