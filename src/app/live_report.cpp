#include "app/live_report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
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

std::size_t samples_of(const Result& result) {
  std::size_t samples = 0;
  for (const Measurement& m : result.measurements) samples += m.samples.size();
  return samples;
}

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

Result without_loss(const Result& before, const Result& now) {
  if (samples_of(now) >= samples_of(before) || (now.status == Status::ok && ran_to_its_end(now))) return now;
  Result kept = before;
  if (now.status != Status::failed) return kept;
  kept.status = now.status;
  kept.reason = now.reason;
  return kept;
}

LiveReport::LiveReport(Report report, const cli::OutputFiles& files, ToText to_markdown,
                       std::optional<Continued> continued)
    : report_(std::move(report)) {
  std::vector<cli::NamedFile> opened;
  const auto add = [&](const char* flag, ResultsFile file, Writer writer) {
    outputs_.push_back({std::move(file), std::move(writer), follows(flag), std::nullopt});
    opened.push_back({flag, outputs_.back().file.target()});
  };
  const auto open = [&](const char* flag, const std::optional<std::string>& path, Writer writer) {
    if (path) add(flag, ResultsFile(*path, Previous::kept), std::move(writer));
  };
  const auto at_once = [](ToText to_text) -> Writer {
    return [to_text = std::move(to_text)](const Report& r, const Sink& sink) { sink(to_text(r)); };
  };
  if (continued) {
    for (auto& [index, result] : continued->known) insert(index, std::move(result));
    add("json", std::move(continued->json), write_json);
  } else {
    open("json", files.json, write_json);
  }
  open("csv", files.csv, at_once([](const Report& r) { return to_csv(r, descriptors()); }));
  open("markdown", files.markdown, at_once(std::move(to_markdown)));
  open("timeline", files.timeline, at_once(to_chrome_trace));
  open("openmetrics", files.openmetrics, at_once([](const Report& r) { return to_openmetrics(r, descriptors()); }));
  cli::refuse_shared_files(opened);  // once more, as "-" and /dev/stdout are the same
  for (Output& output : outputs_) {
    if (output.follows && !output.file.exists()) write(output, &ResultsFile::update);
  }
  rethrow();
}

bool LiveReport::owns_standard_output() const {
  return std::ranges::any_of(outputs_, [](const Output& output) { return output.file.is_standard_output(); });
}

bool LiveReport::has_file() const {
  return std::ranges::any_of(outputs_, [](const Output& output) { return !output.file.is_standard_output(); });
}

void LiveReport::insert(std::size_t index, Result result) {
  const auto place = std::ranges::lower_bound(indexes_, index);
  const auto at = report_.results.begin() + (place - indexes_.begin());
  if (place != indexes_.end() && *place == index) {
    *at = without_loss(*at, result);
  } else {
    report_.results.insert(at, std::move(result));
    indexes_.insert(place, index);
  }
}

std::vector<std::string> LiveReport::put(std::size_t index, const Result& result) {
  const std::lock_guard lock(mutex_);
  wait_if_abandoned();
  insert(index, result);
  return update();
}

std::vector<std::string> LiveReport::put(KnownResults results) {
  const std::lock_guard lock(mutex_);
  wait_if_abandoned();
  for (auto& [index, result] : results) insert(index, std::move(result));
  return update();
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
  return update();
}

std::vector<std::string> LiveReport::update() {
  // After Ctrl-C every case that is left is skipped at once, and finish() writes them all: a file for each would keep
  // the user waiting for minutes.
  if (interrupted() != 0 || Clock::now() < next_update_) return {};
  const auto begun = Clock::now();
  std::vector<std::string> news;
  for (Output& output : outputs_) {
    if (!output.follows) continue;
    const bool was_well = !output.error;
    write(output, &ResultsFile::update);
    if (was_well && output.error) {
      news.push_back(fmt::format("{}; the run goes on, and tries again after each case", output.error->what()));
    } else if (!was_well && !output.error) {
      news.push_back(fmt::format("{} is written again, nothing is missing", output.file.path()));
    }
  }
  // The files grow with every case: at most a tenth of the time may go into rewriting them.
  next_update_ = Clock::now() + 9 * (Clock::now() - begun);
  return news;
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
    if (!is_known || result.status == Status::failed) insert(index, result);
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
}

void LiveReport::write(Output& output, void (ResultsFile::*how)(const TextWriter&)) {
  try {
    (output.file.*how)([&](const Sink& sink) { output.writer(report_, sink); });
    output.error.reset();
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
