#include "cli/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "core/printable.hpp"
#include "core/standard_error.hpp"
#include "core/units.hpp"

namespace xferbench::cli {

namespace {

std::string duration(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  return seconds < 6000 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.0f} h", seconds / 3600);
}

/// Returns the text of `--progress plain` for a finished case: its headline (main measurement) or why it has none.
std::string outcome(const Result& result, const Measurement* headline) {
  if (result.status != Status::ok) return fmt::format("{}: {}", to_text(result.status), result.reason);
  if (headline == nullptr) return "ok";
  const auto width = relative_half_width(*headline);
  const std::string median = headline->unit == "s" ? format_seconds(headline->median)
                                                   : fmt::format("{:.4g} {}", headline->median, headline->unit);
  return fmt::format("{}{}, {} samples", median, width ? " ±" + format_percent(*width) : "", headline->samples.size());
}

}  // namespace

Progress::Progress(ProgressMode mode, std::size_t cases, std::size_t turns)
    : on_terminal_(mode == ProgressMode::automatic && is_able_terminal(STDERR_FILENO)),
      plain_(mode == ProgressMode::plain),
      cases_(cases),
      turns_(turns),
      begun_(std::chrono::steady_clock::now()) {}

void Progress::begin(std::size_t index, std::size_t turn, const Case& config) {
  turns_done_ = turn * cases_ + index;
  where_ = turns_ == 1 ? fmt::format("[{}/{}]", index + 1, cases_)
                       : fmt::format("[{}/{}, pass {} of {}]", index + 1, cases_, turn + 1, turns_);
  key_ = config.key();
  show(fmt::format("{} {}{}", where_, time_left(), key_));
}

void Progress::sampled(const SamplingProgress& progress) {
  if (!due()) return;
  if (progress.samples == 0) return show(fmt::format("{} {}warming up: {}", where_, time_left(), key_));
  const std::string width = progress.widest_half_width ? ", ±" + format_percent(*progress.widest_half_width) : "";
  show(fmt::format("{} {}{} samples{}: {}", where_, time_left(), progress.samples, width, key_));
}

void Progress::done(std::size_t index, const Result& result, const Measurement* headline) {
  const bool to_be_continued = std::ranges::any_of(
      result.measurements, [](const Measurement& m) { return m.stop == Stop::interrupted && !m.samples.empty(); });
  if (!plain_ || to_be_continued) return;
  show_line(fmt::format("[{}/{}] {}: {}", index + 1, cases_, result.config.key(), outcome(result, headline)));
}

void Progress::tuning(const TuneProgress& progress) {
  if (!due()) return;
  const std::string best = progress.best ? ", best so far " + format_seconds(*progress.best) : "";
  const std::string text =
      progress.confirming ? fmt::format("tuning: confirming the best of {}{}", progress.measured, best)
                          : fmt::format("tuning: measured {} of at most {}{}", progress.measured, progress.most, best);
  if (plain_) show_line(text);
  show(text);
}

std::string Progress::time_left() const {
  constexpr double kTooEarly = 1;  // seconds of measuring before the remaining time is estimated
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begun_;
  if (turns_done_ == 0 || spent.count() < kTooEarly) return "";
  const auto left = static_cast<double>(cases_ * turns_ - turns_done_) / static_cast<double>(turns_done_);
  return fmt::format("about {} left, ", duration(spent.count() * left));
}

bool Progress::due() {
  const auto between = std::chrono::milliseconds(plain_ ? 1000 : 100);
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < between) return false;
  last_ = now;
  return true;
}

void Progress::show(const std::string& text) {
  if (!on_terminal_) return;
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  show_progress("\r\x1b[K" + printable(text).substr(0, (known ? size.ws_col : 80U) - 1));
  shown_ = true;
}

void Progress::tell(const std::vector<std::string>& news) {
  if (news.empty()) return;
  clear();
  for (const std::string& one : news) xferbench::tell(one);
}

void Progress::clear() noexcept {
  if (!shown_) return;
  show_progress("\r\x1b[K");
  shown_ = false;
}

}  // namespace xferbench::cli
