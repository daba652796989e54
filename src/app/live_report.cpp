#include "app/live_report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "app/session.hpp"
#include "core/interrupt.hpp"
#include "report/run/run_report.hpp"
#include "report/trace/timeline.hpp"
#include "results/json.hpp"
#include "run/runner.hpp"

namespace xferbench::app {

namespace {

/// Whether the file is to have each case as soon as that has ended. Not a timeline, which is long; nor what monitoring
/// reads, where numbers of the run before would be gone while this one goes on.
bool follows(std::string_view flag) { return flag != "timeline" && flag != "openmetrics"; }

/// Whether every case has had its chance, in all turns, and one of them has used it.
bool is_complete(const Report& report) {
  const auto skipped = [](const Result& r) { return r.status == Status::skipped; };
  const auto missing = [&](const Result& r) {
    return skipped(r) ? r.reason == kNotBegun || r.reason == kDeviceLost : !ran_to_its_end(r);
  };
  return interrupted() == 0 && std::ranges::none_of(report.results, missing) &&
         !std::ranges::all_of(report.results, skipped);
}

}  // namespace

namespace {

/// The files grow with every case: at most a tenth of the time may go into what is done to them beside that.
std::chrono::steady_clock::time_point next_after(std::chrono::steady_clock::time_point begun) {
  const auto now = std::chrono::steady_clock::now();
  return now + 9 * (now - begun);
}

/// After Ctrl-C every case that is left is skipped at once, and finish() writes them all: a file for each would keep
/// the user waiting for minutes.
bool waits_for_the_end(const Result& result) { return interrupted() != 0 && result.status == Status::skipped; }

bool loses_nothing(const Result& before, const Result& now) {
  return samples_of(now) >= samples_of(before) || (now.status == Status::ok && ran_to_its_end(now));
}

}  // namespace

Result without_loss(const Result& before, const Result& now) {
  if (loses_nothing(before, now)) return now;
  Result kept = before;
  if (now.status != Status::failed) return kept;
  kept.status = now.status;
  kept.reason = now.reason;
  return kept;
}

LiveReport::LiveReport(Report report, const cli::OutputFiles& files, ToText to_markdown,
                       std::optional<Continued> continued, Growth growth)
    : report_(std::move(report)) {
  std::vector<cli::NamedFile> opened;
  const auto add = [&](const char* flag, ResultsFile file, Writer writer) {
    outputs_.push_back({std::move(file), std::move(writer), follows(flag)});
    opened.push_back({flag, outputs_.back().file.target()});
  };
  const auto open = [&](const char* flag, const std::optional<std::string>& path, Writer writer) {
    if (path) add(flag, ResultsFile(*path, Previous::kept), std::move(writer));
  };
  const auto at_once = [](ToText to_text) -> Writer {
    return [to_text = std::move(to_text)](const Report& r, const Sink& sink) { sink(to_text(r)); };
  };
  const Writer json = [this](const Report& r, const Sink& sink) { write_json_to(r, sink); };
  if (continued) {
    for (auto& [index, result] : continued->known) static_cast<void>(insert(index, std::move(result)));
    add("json", std::move(continued->json), json);
  } else {
    open("json", files.json, json);
  }
  if (!outputs_.empty()) json_ = &outputs_.back();
  open("csv", files.csv, [](const Report& r, const Sink& sink) { write_csv(r, descriptors(), sink); });
  open("markdown", files.markdown, at_once(std::move(to_markdown)));
  open("timeline", files.timeline, at_once(to_chrome_trace));
  open("openmetrics", files.openmetrics, at_once([](const Report& r) { return to_openmetrics(r, descriptors()); }));
  cli::refuse_shared_files(opened);  // once more, as "-" and /dev/stdout are the same
  for (Output& output : outputs_) {
    if (output.follows && !output.file.exists()) write(output, &ResultsFile::update);
  }
  rethrow();
  if (growth == Growth::as_a_whole || report_.fleet) return;
  needs_samples_ = json_ != nullptr;
  if (json_ == nullptr || json_->file.ordinary() == nullptr) return;
  journal_.emplace(*json_->file.ordinary());
  // What the run had left there goes into the new one, which takes its place.
  if (continued && json_->file.ordinary()->has_journal()) begin_journal();
}

bool LiveReport::owns_standard_output() const {
  return std::ranges::any_of(outputs_, [](const Output& output) { return output.file.is_standard_output(); });
}

bool LiveReport::has_file() const {
  return std::ranges::any_of(outputs_, [](const Output& output) { return !output.file.is_standard_output(); });
}

std::vector<std::string> LiveReport::insert(std::size_t index, Result result) {
  if (!needs_samples_) result.put_samples_away();
  const bool is_news = !waits_for_the_end(result);
  std::vector<std::string> lost;
  const auto found = std::ranges::lower_bound(indexes_, index);
  const auto place = static_cast<std::size_t>(found - indexes_.begin());
  if (found == indexes_.end() || *found != index) {
    // Whoever runs out of memory here still has an index for each result.
    if (indexes_.size() == indexes_.capacity()) indexes_.reserve(2 * indexes_.size() + 1);
    report_.results.insert(report_.results.begin() + static_cast<std::ptrdiff_t>(place), std::move(result));
    indexes_.insert(indexes_.begin() + static_cast<std::ptrdiff_t>(place), index);
  } else if (Result& before = report_.results[place]; loses_nothing(before, result)) {
    before = std::move(result);
  } else if (result.status == Status::failed) {
    lost = let_fail(place, std::move(result));
  }
  ++changes_;
  if (journal_ && is_news) news_.insert(index);
  return lost;
}

/// With the samples that it had; where they cannot be read any more it has failed nevertheless.
std::vector<std::string> LiveReport::let_fail(std::size_t place, Result result) {
  Result& known = report_.results[place];
  std::string lost;
  try {
    known = without_loss(with_samples(place), result);
    return {};
  } catch (const std::bad_alloc&) {
    lost = "out of memory";
  } catch (const std::runtime_error& error) {  // the journal's, and what is in it
    lost = error.what();
  }
  known = std::move(result);
  return {fmt::format("{}; the samples that {} had before it failed are lost", lost, known.config.key())};
}

/// A result as it was before its samples were put away; where no file has them, they are gone.
Result LiveReport::with_samples(std::size_t place) const {
  const Result& known = report_.results[place];
  if (!known.has_samples_put_away() || !journal_ || !journal_->has(indexes_[place])) return known;
  Result whole = journal_->result(indexes_[place]);
  whole.config = known.config;  // the file's has no kinds
  return whole;
}

std::vector<std::string> LiveReport::put(std::size_t index, const Result& result) {
  KnownResults one;
  one.emplace_back(index, result);
  return put(std::move(one));
}

std::vector<std::string> LiveReport::put(KnownResults results) {
  const std::lock_guard lock(mutex_);
  wait_if_abandoned();
  const bool waits =
      interrupted() != 0 && std::ranges::all_of(results, waits_for_the_end, &KnownResults::value_type::second);
  std::vector<std::string> news;
  for (auto& [index, result] : results) std::ranges::move(insert(index, std::move(result)), std::back_inserter(news));
  if (!waits) std::ranges::move(update(), std::back_inserter(news));
  return news;
}

void LiveReport::edit(const std::function<void(Report&)>& change) {
  const std::lock_guard lock(mutex_);
  wait_if_abandoned();
  change(report_);
}

std::vector<std::string> LiveReport::replace(std::vector<Result> results) {
  const std::lock_guard lock(mutex_);
  wait_if_abandoned();
  report_.results = std::move(results);
  changes_ += report_.results.size();
  return interrupted() == 0 ? update() : std::vector<std::string>();
}

std::vector<std::string> LiveReport::update() {
  std::vector<std::string> news = keep_journal();
  // What is measured after Ctrl-C is the last of it: nothing comes that could be written with it.
  if (Clock::now() < next_update_ && interrupted() == 0) return news;
  const auto begun = Clock::now();
  for (Output& output : outputs_) {
    if (!output.follows || !is_due(output)) continue;
    const bool was_well = !output.error;
    write(output, &ResultsFile::update);
    if (was_well && output.error) {
      news.push_back(fmt::format("{}; {}", output.error->what(), what_now(output)));
    } else if (!was_well && !output.error) {
      news.push_back(fmt::format("{} is written again, nothing is missing", output.file.path()));
    }
  }
  next_update_ = next_after(begun);
  return news;
}

// --- The journal ----------------------------------------------------------------------------------------------------

bool LiveReport::Output::is_small() const {
  constexpr std::uint64_t kSmall = 256 << 10;
  return bytes < kSmall;
}

/// So that all states together are not more than three times the last one.
bool LiveReport::is_due(const Output& output) const {
  const bool has_no_journal = &output == json_ && !has_whole_journal();
  const bool has_grown = changes_ - output.changes >= report_.results.size() / 3;
  return has_no_journal || has_grown || output.is_small() || output.error;
}

/// Of a file that could not be written.
std::string LiveReport::what_now(const Output& output) const {
  const std::string goes_on = "the run goes on, and tries again after each case";
  if (&output == json_ && has_changed_journal()) return "the run goes on, and " + measured_again();
  if (&output != json_ || !has_whole_journal()) return goes_on;
  const std::string& file = output.file.path();
  return fmt::format("{}{} has each result, and a new {} needs room beside both: {}", file, kJournalEnding, file,
                     goes_on);
}

bool LiveReport::has_whole_journal() const {
  return journal_ && journal_->has_begun() && !journal_error_ && !has_changed_journal();
}

/// Then no whole file can be written: what other programs took from the journal is nowhere else.
bool LiveReport::has_changed_journal() const { return journal_ && journal_->is_changed(); }

std::string LiveReport::measured_again() const {
  return fmt::format("--resume {} measures again what it lost", json_->file.path());
}

void LiveReport::begin_journal() {
  journal_->begin(report_, indexes_);
  news_.clear();
  for (Result& result : report_.results) result.put_samples_away();
}

void LiveReport::put_news_into_journal() {
  while (!news_.empty()) {
    const std::size_t index = *news_.begin();
    const auto place = static_cast<std::size_t>(std::ranges::lower_bound(indexes_, index) - indexes_.begin());
    journal_->append(index, report_.results[place]);
    report_.results[place].put_samples_away();
    news_.erase(index);
  }
}

/// The file would have to be large to be written whole, or cases end faster than it can be written. Not before the file
/// is this run's: until then a journal beside it is that of the run before, or would be taken for one of a run that has
/// ended.
bool LiveReport::needs_journal() const {
  constexpr std::size_t kMany = 64;
  if (!journal_ || journal_->has_begun()) return journal_.has_value();
  const bool is_ours = json_->bytes > 0;
  return is_ours && (!json_->is_small() || changes_ - json_->changes >= kMany);
}

std::vector<std::string> LiveReport::keep_journal() {
  if (!needs_journal()) return {};
  const auto begun = Clock::now();
  const bool may_take_time = begun >= next_journal_;
  std::optional<OutputError> error;
  try {
    if (journal_->has_begun()) {
      put_news_into_journal();
      if (journal_->is_mostly_old()) begin_journal();
    } else if (may_take_time) {
      begin_journal();
    }
    if (may_take_time) journal_->synchronize();
  } catch (const OutputError& thrown) {
    error = thrown;
  } catch (const std::bad_alloc&) {
    error = OutputError(fmt::format("no journal {}{}: out of memory", json_->file.path(), kJournalEnding));
  }
  if (may_take_time) next_journal_ = next_after(begun);
  const bool is_news = error && !journal_error_;
  if (error || journal_->has_begun()) journal_error_ = error;
  if (!is_news) return {};
  const std::string how = has_changed_journal()
                              ? measured_again()
                              : fmt::format("writes the whole file as often as a tenth of the time allows{}",
                                            journal_->has_begun() ? ", which needs room beside both" : "");
  return {fmt::format("{}; the run goes on, and {}", error->what(), how)};
}

std::optional<std::string> LiveReport::text_of(const Result& result) const {
  if (!result.has_samples_put_away()) return std::nullopt;
  return journal_->text(indexes_[static_cast<std::size_t>(&result - report_.results.data())]);
}

void LiveReport::write_json_to(const Report& report, const Sink& sink) const {
  write_json(report, sink, [this](const Result& result) { return text_of(result); });
}

void LiveReport::finish(std::vector<Finding> findings, bool cut_off) {
  const std::lock_guard lock(mutex_);
  wait_if_abandoned();
  report_.complete = !cut_off && is_complete(report_);
  report_.findings = std::move(findings);
  write_all_the_last_time();
}

bool LiveReport::abandon(const KnownResults& last) {
  constexpr std::chrono::seconds kPatience{10};
  constexpr std::chrono::milliseconds kBetweenTries{5};
  std::unique_lock lock(mutex_, std::defer_lock);
  // Not a timed mutex: ThreadSanitizer does not see that one locked (pthread_mutex_clocklock).
  for (const auto end = Clock::now() + kPatience; !lock.try_lock();) {
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(kBetweenTries);
  }
  abandoned_ = true;
  for (const auto& [index, result] : last) {
    const bool is_known = std::ranges::binary_search(indexes_, index);
    try {
      if (!is_known || result.status == Status::failed) static_cast<void>(insert(index, result));
    } catch (const std::bad_alloc&) {  // what was measured can be written without it
    }
  }
  report_.complete = false;
  write_all_the_last_time();
  return true;
}

void LiveReport::wait_if_abandoned() const {
  while (abandoned_) pause();
}

void LiveReport::write_all_the_last_time() {
  for (Output& output : outputs_) write(output, &ResultsFile::finish);
  if (!journal_ || !journal_->has_begun()) return;
  if (!json_->error) return journal_->remove();
  try {  // what it could not take before
    put_news_into_journal();
    journal_->synchronize();
  } catch (const OutputError&) {
  } catch (const std::bad_alloc&) {
  }
  if (has_changed_journal()) {
    json_->error = OutputError(fmt::format("{}; {}", json_->error->what(), measured_again()));
    return;
  }
  const std::string has =
      news_.empty() ? "what was measured" : fmt::format("what was measured but for {} results", news_.size());
  json_->error = OutputError(fmt::format(
      "{}; {}{} has {}: --resume {} writes it once it can, for which a new {} needs room beside both",
      json_->error->what(), json_->file.path(), kJournalEnding, has, json_->file.path(), json_->file.path()));
}

void LiveReport::write(Output& output, void (ResultsFile::*how)(const TextWriter&)) {
  try {
    std::uint64_t bytes = 0;
    (output.file.*how)([&](const Sink& sink) {
      output.writer(report_, [&](std::string_view piece) {
        bytes += piece.size();
        sink(piece);
      });
    });
    output.error.reset();
    output.bytes = bytes;
    output.changes = changes_;
  } catch (const OutputError& error) {
    output.error = error;
  } catch (const std::bad_alloc&) {
    output.error = OutputError(fmt::format("cannot write {}: out of memory", output.file.path()));
  }
}

void LiveReport::rethrow() const {
  for (const Output& output : outputs_) {
    if (output.error) throw OutputError(*output.error);
  }
}

}  // namespace xferbench::app
