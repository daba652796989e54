#include "cli/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

#include "core/units.hpp"

namespace xferbench::cli {

namespace {

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

Progress::Progress(bool wanted, std::size_t cases) : active_(wanted && isatty(STDERR_FILENO) == 1), cases_(cases) {}

void Progress::begin(std::size_t index, const Case& config) {
  current_ = fmt::format("[{}/{}] {}", index + 1, cases_, config.key());
  show(current_);
}

void Progress::sampled(const SamplingProgress& progress) {
  if (!due()) return;
  if (progress.samples == 0) return show(current_ + "  warming up");
  const std::string width = progress.widest_half_width ? ", +-" + format_percent(*progress.widest_half_width) : "";
  show(fmt::format("{}  {} samples{}", current_, progress.samples, width));
}

void Progress::tuning(const TuneProgress& progress) {
  if (!due()) return;
  const std::string best = progress.best ? ", best so far " + format_seconds(*progress.best) : "";
  show(progress.confirming
           ? fmt::format("tuning: measuring the best of {} again{}", progress.measured, best)
           : fmt::format("tuning: measured {} of at most {}{}", progress.measured, progress.most, best));
}

bool Progress::due() {
  constexpr auto kBetween = std::chrono::milliseconds(100);
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < kBetween) return false;
  last_ = now;
  return true;
}

void Progress::show(const std::string& text) {
  if (!active_) return;
  fmt::print(stderr, "\r\x1b[K{}", text.substr(0, terminal_width() - 1));
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace xferbench::cli
