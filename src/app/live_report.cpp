#include "app/live_report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "app/session.hpp"
#include "core/interrupt.hpp"
#include "paper/writers.hpp"
#include "report/formats/formats.hpp"
#include "report/run/run_report.hpp"
#include "report/trace/timeline.hpp"
#include "results/json.hpp"

namespace xferbench::app {

namespace {

/// Returns whether the file of this flag is updated after each case. A timeline is not, because it is long. OpenMetrics
/// and the files of --format are not, because other programs would lose the previous run's numbers during this run.
bool follows(std::string_view flag) {
  return flag != "timeline" && flag != "openmetrics" && !flag.starts_with("format ");
}

/// Returns whether every case was either measured completely, in all passes over the cases, or skipped for a permanent
/// reason, and at least one case was measured.
bool is_complete(const Report& report) {
  const auto skipped = [](const Result& r) { return r.status == Status::skipped; };
  const auto missing = [&](const Result& r) {
    return skipped(r) ? r.reason == kNotBegun || r.reason == kDeviceLost : !ran_to_its_end(r);
  };
  return interrupted() == 0 && std::ranges::none_of(report.results, missing) &&
         !std::ranges::all_of(report.results, skipped);
}

/// Runs `action` and returns its error instead of throwing it, so that other files are written. `what` begins the
/// message.
template <class Action, class What>
std::optional<OutputError> error_of(const Action& action, const What& what) {
  try {
    action();
    return std::nullopt;
  } catch (const OutputError& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return OutputError(what() + ": out of memory");
  }
}

/// Returns whether the result is written only by finish(). After Ctrl-C all remaining cases are skipped at once, and
/// writing the files after each of them would keep the user waiting for minutes.
bool written_at_end(const Result& result) { return interrupted() != 0 && result.status == Status::skipped; }

/// Returns the earliest time for the next write after one that lasted from `begun` to `ended`. Writing then takes at
/// most a tenth of the time.
LiveClock::time_point next_after(LiveClock::time_point begun, LiveClock::time_point ended) {
  return ended + 9 * (ended - begun);
}

bool keeps_all_samples(const Result& before, const Result& now) {
  return samples_of(now) >= samples_of(before) || (now.status == Status::ok && ran_to_its_end(now));
}

}  // namespace

Result keep_more_samples(const Result& before, const Result& now) {
  if (keeps_all_samples(before, now)) return now;
  Result kept = before;
  if (now.status != Status::failed) return kept;
  kept.status = now.status;
  kept.reason = now.reason;
  return kept;
}

// --- Results --------------------------------------------------------------------------------------------------------

std::size_t Record::place_of(std::size_t index) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(indexes_, index) - indexes_.begin());
}

bool Record::has(std::size_t index) const { return std::ranges::binary_search(indexes_, index); }

std::vector<std::string> Record::insert(std::size_t index, Result result) {
  if (!needs_samples_) result.release_samples();
  const bool is_news = !written_at_end(result);
  std::vector<std::string> lost;
  const std::size_t place = place_of(index);
  if (!has(index)) {
    // Reserve first: if the memory is exhausted here, the results and their indexes must still match.
    if (indexes_.size() == indexes_.capacity()) indexes_.reserve(2 * indexes_.size() + 1);
    report.results.insert(report.results.begin() + static_cast<std::ptrdiff_t>(place), std::move(result));
    indexes_.insert(indexes_.begin() + static_cast<std::ptrdiff_t>(place), index);
  } else if (Result& before = report.results[place]; keeps_all_samples(before, result)) {
    before = std::move(result);
  } else if (result.status == Status::failed) {
    lost = mark_failed(before, std::move(result), index);
  }
  ++changes_;
  if (journal_ && is_news) unsaved_.insert(index);
  return lost;
}

void Record::replace(std::vector<Result> results) {
  report.results = std::move(results);
  changes_ += report.results.size();
}

/// Marks a stored result as failed and keeps its earlier samples. Returns a message if they are unreadable.
std::vector<std::string> Record::mark_failed(Result& known, Result result, std::size_t index) {
  std::string lost;
  try {
    Result before = known;
    // Samples that were dropped from memory can only be in the journal.
    if (known.has_released_samples() && journal_ && journal_->has(index)) {
      before = journal_->result(index);
      before.config = known.config;  // restores each AxisKind, which files do not store
    }
    known = keep_more_samples(before, result);
    return {};
  } catch (const std::bad_alloc&) {
    lost = "out of memory";
  } catch (const std::runtime_error& error) {  // reading the journal or parsing its content failed
    lost = error.what();
  }
  known = std::move(result);
  return {fmt::format("{}; the samples of {} from before it failed are lost", lost, known.config.key())};
}

void Record::write(LiveFile& file, void (ResultsFile::*how)(const TextWriter&)) const {
  std::uint64_t bytes = 0;
  const auto counted = [&](const Sink& sink) {
    file.writer(report, [&](std::string_view piece) {
      bytes += piece.size();
      sink(piece);
    });
  };
  file.error = error_of([&] { (file.file.*how)(counted); }, [&] { return "cannot write " + file.file.path(); });
  if (file.error) return;
  file.bytes = bytes;
  file.changes = changes_;
}

void Record::write_json_to(const Report& whole, const Sink& sink) const {
  write_json(whole, sink, [this](const Result& result) -> std::optional<std::string> {
    if (!result.has_released_samples()) return std::nullopt;
    return journal_->text(indexes_[static_cast<std::size_t>(&result - report.results.data())]);
  });
}

// --- The journal ----------------------------------------------------------------------------------------------------

void Record::allow_journal(LiveFile& json) {
  json_ = &json;
  journal_.emplace(*json.file.ordinary());
}

bool Record::has_whole_journal() const {
  return journal_ && journal_->has_begun() && !journal_error_ && !has_changed_journal();
}

std::string Record::measured_again() const {
  return fmt::format("--resume {} measures the lost cases again", json_->file.path());
}

void Record::begin_journal() {
  journal_->begin(report, indexes_);
  unsaved_.clear();
  for (Result& result : report.results) result.release_samples();
}

void Record::append_to_journal() {
  while (!unsaved_.empty()) {
    const std::size_t index = *unsaved_.begin();
    Result& result = report.results[place_of(index)];
    journal_->append(index, result);
    result.release_samples();
    unsaved_.erase(index);
  }
}

/// Returns whether results must go to a journal: the file is too large to be written after each case, or cases end
/// faster than it can be written. A journal must not begin before this run has written the file. Until then, a journal
/// next to the file belongs to the previous run.
bool Record::needs_journal() const {
  constexpr std::size_t kMany = 64;
  if (!journal_ || journal_->has_begun()) return journal_.has_value();
  const bool is_ours = json_->bytes > 0;
  return is_ours && (!json_->is_small() || changes_ - json_->changes >= kMany);
}

std::vector<std::string> Record::keep_journal() {
  if (!needs_journal()) return {};
  const auto begun = now_();
  const bool may_take_time = begun >= next_journal_;
  const auto go_on = [&] {
    if (journal_->has_begun()) {
      append_to_journal();
      if (journal_->needs_compaction()) begin_journal();
    } else if (may_take_time) {
      begin_journal();
    }
    if (may_take_time) journal_->synchronize();
  };
  const auto error =
      error_of(go_on, [&] { return fmt::format("no journal {}{}", json_->file.path(), kJournalEnding); });
  if (may_take_time) next_journal_ = next_after(begun, now_());
  const bool is_news = error && !journal_error_;
  if (error || journal_->has_begun()) journal_error_ = error;
  if (!is_news) return {};
  const std::string how =
      has_changed_journal()
          ? measured_again()
          : fmt::format("rewrites the whole file from time to time, for at most a tenth of the time{}",
                        journal_->has_begun() ? ", which needs disk space besides the file and its journal" : "");
  return {fmt::format("{}; the run continues, and {}", error->what(), how)};
}

void Record::end_journal() {
  if (!journal_ || !journal_->has_begun()) return;
  if (!json_->error) return journal_->remove();
  const auto last_try = [this] {  // append the results that could not be appended before
    append_to_journal();
    journal_->synchronize();
  };
  static_cast<void>(error_of(last_try, [] { return std::string(); }));
  const std::string& file = json_->file.path();
  if (has_changed_journal()) {
    json_->error = OutputError(fmt::format("{}; {}", json_->error->what(), measured_again()));
    return;
  }
  const std::string has = unsaved_.empty() ? "all results" : fmt::format("all results but {}", unsaved_.size());
  json_->error = OutputError(fmt::format("{}; {}{} contains {}: free disk space, then --resume {} writes a new {}",
                                         json_->error->what(), file, kJournalEnding, has, file, file));
}

// --- The run --------------------------------------------------------------------------------------------------------

LiveReport::LiveReport(Report report, const cli::OutputFiles& files, const ToDocument& document,
                       std::optional<ResumedRun> continued, WriteMode write_mode, Now now)
    : now_(now), record_(std::move(report), now) {
  std::vector<cli::NamedFile> opened;
  const auto add = [&](const std::string& flag, ResultsFile file, Writer writer) {
    files_.push_back({std::move(file), std::move(writer), follows(flag)});
    opened.push_back({flag, files_.back().file.target()});
  };
  const auto open = [&](const std::string& flag, const std::optional<std::string>& path, Writer writer) {
    if (path) add(flag, ResultsFile(*path, Previous::kept), std::move(writer));
  };
  const auto at_once = [](auto to_text) -> Writer {
    return [to_text](const Report& r, const Sink& sink) { sink(to_text(r)); };
  };
  const Writer json = [this](const Report& r, const Sink& sink) { record_.write_json_to(r, sink); };
  if (continued) {
    for (auto& [index, result] : continued->known) static_cast<void>(record_.insert(index, std::move(result)));
    add("json", std::move(continued->json), json);
  } else {
    open("json", files.json, json);
  }
  if (!files_.empty()) json_ = &files_.back();
  open("csv", files.csv, [](const Report& r, const Sink& sink) { write_csv(r, descriptors(), sink); });
  open("markdown", files.markdown, at_once([document](const Report& r) { return to_markdown(document(r)); }));
  open("html", files.html, at_once([document](const Report& r) { return to_html(document(r)); }));
  open("timeline", files.timeline, at_once(to_chrome_trace));
  open("openmetrics", files.openmetrics, at_once([](const Report& r) { return to_openmetrics(r, descriptors()); }));
  for (const auto& [format, path] : files.formats) {
    open(cli::flag_of_format(format), path,
         at_once([format = format](const Report& r) { return to_format(format, r, descriptors()).text; }));
  }
  cli::refuse_shared_files(opened);  // checks again with resolved paths, because "-" and /dev/stdout are the same file
  for (LiveFile& file : files_) {
    if (file.follows && !file.file.exists()) record_.write(file, &ResultsFile::update);
  }
  rethrow();
  if (write_mode == WriteMode::rewrite_all || record_.report.fleet) return;
  if (json_ == nullptr && !files.html) record_.forget_samples();
  if (json_ == nullptr || json_->file.ordinary() == nullptr) return;
  record_.allow_journal(*json_);
  // Start a new journal that contains the results of the previous run's journal and replaces that journal.
  if (continued && json_->file.ordinary()->has_journal()) record_.begin_journal();
}

bool LiveReport::owns_standard_output() const {
  return std::ranges::any_of(files_, [](const LiveFile& file) { return file.file.is_standard_output(); });
}

bool LiveReport::has_file() const {
  return std::ranges::any_of(files_, [](const LiveFile& file) { return !file.file.is_standard_output(); });
}

std::unique_lock<std::mutex> LiveReport::locked() {
  std::unique_lock lock(mutex_);
  while (abandoned_) pause();
  return lock;
}

std::vector<std::string> LiveReport::put(std::size_t index, const Result& result) {
  KnownResults one;
  one.emplace_back(index, result);
  return put(std::move(one));
}

std::vector<std::string> LiveReport::put(KnownResults results) {
  const auto lock = locked();
  const bool waits =
      interrupted() != 0 && std::ranges::all_of(results, written_at_end, &KnownResults::value_type::second);
  std::vector<std::string> news;
  for (auto& [index, result] : results) {
    std::ranges::move(record_.insert(index, std::move(result)), std::back_inserter(news));
  }
  if (!waits) std::ranges::move(update(), std::back_inserter(news));
  return news;
}

void LiveReport::edit(const std::function<void(Report&)>& change) {
  const auto lock = locked();
  change(record_.report);
}

std::vector<std::string> LiveReport::replace(std::vector<Result> results) {
  const auto lock = locked();
  record_.replace(std::move(results));
  return interrupted() == 0 ? update() : std::vector<std::string>();
}

// --- Writing --------------------------------------------------------------------------------------------------------

std::vector<std::string> LiveReport::update() {
  std::vector<std::string> news = record_.keep_journal();
  // After Ctrl-C write at once: this is the last result, so no later write would include it.
  if (now_() < next_update_ && interrupted() == 0) return news;
  const auto begun = now_();
  for (LiveFile& file : files_) {
    if (!file.follows || !is_due(file)) continue;
    const bool was_well = !file.error;
    record_.write(file, &ResultsFile::update);
    if (was_well && file.error) {
      news.push_back(fmt::format("{}; {}", file.error->what(), recovery_hint(file)));
    } else if (!was_well && !file.error) {
      news.push_back(fmt::format("{} can be written again; no result is missing", file.file.path()));
    }
  }
  next_update_ = next_after(begun, now_());
  return news;
}

/// Returns whether to write the file now. A large file waits until a third of its results are new, so that all writes
/// together have at most three times the size of the last one.
bool LiveReport::is_due(const LiveFile& file) const {
  const bool has_no_journal = &file == json_ && !record_.has_whole_journal();
  const bool has_grown = record_.changes() - file.changes >= record_.report.results.size() / 3;
  return has_no_journal || has_grown || file.is_small() || file.error;
}

/// Returns the part of an error message that says what happens next to a file that could not be written.
std::string LiveReport::recovery_hint(const LiveFile& file) const {
  const std::string goes_on = "the run continues, and tries again after each case";
  if (&file == json_ && record_.has_changed_journal()) return "the run continues, and " + record_.measured_again();
  if (&file != json_ || !record_.has_whole_journal()) return goes_on;
  const std::string& path = file.file.path();
  return fmt::format("{}{} contains every result; a new {} needs disk space besides both: {}", path, kJournalEnding,
                     path, goes_on);
}

void LiveReport::write_final() {
  for (LiveFile& file : files_) record_.write(file, &ResultsFile::finish);
  record_.end_journal();
}

// --- The end --------------------------------------------------------------------------------------------------------

void LiveReport::finish(std::vector<Finding> findings, bool cut_off) {
  const auto lock = locked();
  record_.report.complete = !cut_off && is_complete(record_.report);
  record_.report.findings = std::move(findings);
  write_final();
}

bool LiveReport::abandon(const KnownResults& last) {
  constexpr std::chrono::seconds kTimeout{10};
  constexpr std::chrono::milliseconds kBetweenTries{5};
  std::unique_lock lock(mutex_, std::defer_lock);
  // Polls instead of using a timed mutex, because ThreadSanitizer does not see a timed lock (pthread_mutex_clocklock).
  for (const auto end = LiveClock::now() + kTimeout; !lock.try_lock();) {
    if (LiveClock::now() > end) return false;
    std::this_thread::sleep_for(kBetweenTries);
  }
  abandoned_ = true;
  for (const auto& [index, result] : last) {
    try {
      if (!record_.has(index) || result.status == Status::failed) static_cast<void>(record_.insert(index, result));
    } catch (const std::bad_alloc&) {  // out of memory: write the other results without this one
    }
  }
  record_.report.complete = false;
  write_final();
  return true;
}

void LiveReport::rethrow() const {
  for (const LiveFile& file : files_) {
    if (file.error) throw OutputError(*file.error);
  }
}

}  // namespace xferbench::app
