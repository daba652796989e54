#include "results/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/error.hpp"
#include "core/lists.hpp"
#include "results/file_io.hpp"
#include "results/json.hpp"

namespace xferbench {

std::size_t samples_of(const Result& result) {
  return total_of(result.measurements, [](const Measurement& m) { return m.samples.size(); });
}

namespace {

/// Returns a sort key: of two results of a case, the one with the larger key has more information.
auto rank_of(const Result& result) {
  const bool is_measured = result.status == Status::ok && ran_to_its_end(result);
  return std::tuple(is_measured, samples_of(result), result.status == Status::failed);
}

/// Reads up to `bytes` bytes; fewer if the file ends or cannot be read.
std::string read_at(int file, std::uint64_t at, std::size_t bytes) {
  std::string text(bytes, '\0');
  static_cast<void>(file_io::read_at(file, at, text));
  return text;
}

/// Returns the offset after the last occurrence of `what`; 0 if there is none.
std::uint64_t end_of_last(int file, std::uint64_t size, std::string_view what) {
  constexpr std::uint64_t kPiece = 1 << 16;
  for (std::uint64_t end = size; end > 0;) {
    const std::uint64_t begin = end > kPiece ? end - kPiece : 0;
    // Also read some bytes of the next piece, since an occurrence may span both.
    const std::string piece = read_at(file, begin, static_cast<std::size_t>(std::min(end + what.size(), size) - begin));
    const std::size_t found = piece.rfind(what);
    if (found != std::string::npos) return begin + found + what.size();
    end = begin;
  }
  return 0;
}

/// Returns the offset at which the list of results begins; 0 if it is not found.
std::uint64_t end_of_beginning(int file, std::uint64_t size) {
  constexpr std::string_view kResults = "\n \"results\": [";
  constexpr std::uint64_t kPiece = 1 << 18;
  for (std::uint64_t at = 0; at < size; at += kPiece) {
    // Also read some bytes of the next piece, since the text may span both.
    const std::string piece = read_at(file, at, static_cast<std::size_t>(kPiece + kResults.size()));
    const std::size_t found = piece.find(kResults);
    if (found != std::string::npos) return at + found + kResults.size();
  }
  return 0;
}

}  // namespace

std::string journal_of(const std::string& results_file) {
  return follow_links(results_file).string() + std::string(kJournalEnding);
}

AdjacentJournal::AdjacentJournal(const std::string& results_file)
    : path_(journal_of(results_file)), file_(open(path_.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)) {}

std::optional<ValidPrefix> AdjacentJournal::valid_prefix() const {
  struct stat status {};
  if (!file_ || fstat(file(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (read_at(file(), 0, kJournalBegins.size()) != kJournalBegins) return std::nullopt;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const std::uint64_t beginning = end_of_beginning(file(), size);
  const std::uint64_t results = end_of_last(file(), size, kEndOfResult);
  return ValidPrefix{.beginning = beginning, .whole = beginning > 0 ? std::max(beginning, results) : 0};
}

bool is_same_run(const Report& a, const Report& b) {
  const auto identity = [](const Report& r) {
    return std::tie(r.started_at, r.command, r.environment.backend, r.environment.gpu.name, r.environment.gpu.uuid);
  };
  return identity(a) == identity(b);
}

void apply_entry(Report& report, std::vector<Result> more) {
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < report.results.size(); ++i) places.emplace(report.results[i].identity(), i);
  for (Result& result : more) {
    const auto [at, is_new] = places.try_emplace(result.identity(), report.results.size());
    if (is_new) {
      report.results.push_back(std::move(result));
    } else if (Result& known = report.results[at->second]; rank_of(result) >= rank_of(known)) {
      known = std::move(result);
    }
  }
}

void Journal::begin(const Report& report, std::span<const std::size_t> cases) {
  std::vector<Entry> entries(cases.empty() ? 0 : cases.back() + 1);
  std::uint64_t at = 0;
  Descriptor made = results_file_.put_journal([&](const Sink& sink) {
    const std::string beginning = beginning_of_json(report);
    sink(beginning);
    at = beginning.size();
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const Result& result = report.results[i];
      std::string piece = (i == 0 ? "" : std::string(kBetweenResults)) + std::string(kBeforeResult);
      const std::size_t before = piece.size();
      piece += result.has_released_samples() ? text(cases[i]) : text_in_file(result);
      sink(piece);
      entries[cases[i]] = {at + before, piece.size() - before};
      at += piece.size();
    }
  });
  file_ = std::move(made);
  entries_ = std::move(entries);
  end_ = at;
  old_ = 0;
  is_empty_ = cases.empty();
}

void Journal::append(std::size_t number, const Result& result) {
  std::string piece = (is_empty_ ? "" : std::string(kBetweenResults)) + std::string(kBeforeResult);
  const std::size_t before = piece.size();
  piece += text_in_file(result);
  if (const int error = file_io::write_at(file_.number(), end_, piece); error != 0) {
    // If this fails, the partial result stays in the file until the next result overwrites it.
    static_cast<void>(ftruncate(file_.number(), static_cast<off_t>(end_)));
    throw OutputError(fmt::format("cannot write {}: {}", path(), std::strerror(error)));
  }
  if (number >= entries_.size()) entries_.resize(number + 1);
  old_ += entries_[number].bytes;
  entries_[number] = {end_ + before, piece.size() - before};
  end_ += piece.size();
  is_empty_ = false;
}

void Journal::synchronize() const {
  if (const int error = file_io::synchronize(file_.number()); error != 0) {
    throw OutputError(fmt::format("cannot write {}: {}", path(), std::strerror(error)));
  }
}

std::string Journal::text(std::size_t number) const {
  const Entry& entry = entries_.at(number);
  std::string text = read_at(file_.number(), entry.begin, static_cast<std::size_t>(entry.bytes));
  if (text.size() == entry.bytes && text.starts_with('{') && text.ends_with(kEndOfResult)) return text;
  is_changed_ = true;
  throw OutputError(fmt::format("{} has been changed by another program", path()));
}

Result Journal::result(std::size_t number) const { return parse_result_in_file(text(number), path()); }

bool Journal::needs_compaction() const {
  constexpr std::uint64_t kLittle = 1 << 20;
  return old_ > end_ / 2 + kLittle;
}

void Journal::remove() {
  if (!has_begun()) return;
  results_file_.remove_journal();
  file_ = Descriptor();
}

}  // namespace xferbench
