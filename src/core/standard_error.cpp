#include "core/standard_error.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "core/printable.hpp"

namespace xferbench {

namespace {

/// Writes directly to the descriptor, because after a failed write stdio keeps an error state and fmt::print throws.
void put(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// Writes the whole line in one call, so that lines of several processes do not mix.
void put_line(const char* front, std::string_view text, std::size_t longest = std::string::npos) noexcept {
  try {
    put(front + printable(shortened(text, longest)) + "\n");
  } catch (...) {
    put("xferbench: out of memory, and a message was lost\n");
  }
}

}  // namespace

bool is_able_terminal(int descriptor) {
  const char* set = std::getenv("TERM");
  const std::string_view kind = set != nullptr ? set : "";
  return isatty(descriptor) == 1 && !kind.empty() && kind != "dumb";
}

void tell(std::string_view text) noexcept {
  constexpr std::size_t kLongest = 2000;  // bytes; a message may quote user input of any length
  put_line("xferbench: ", text, kLongest);
}

void show_line(std::string_view text) noexcept { put_line("", text); }

void show_progress(std::string_view text) noexcept {
  pollfd terminal{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  if (poll(&terminal, 1, 0) == 1 && (terminal.revents & POLLOUT) != 0) put(text);
}

}  // namespace xferbench
