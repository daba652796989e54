// Exercises src/ranks under a launcher, for tests/fleet/test_ranks.py:
//   ranks_check places          prints this rank's place as a line of JSON
//   ranks_check talk            checks the results of every kind of communication
//   ranks_check silent SECONDS  rank 1 never answers; the others time out after SECONDS
//   ranks_check start           starts and ends
//   ranks_check load            only loads the plug-in, and prints an error
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "ranks/launcher.hpp"
#include "ranks/mpi_plugin.hpp"
#include "ranks/timed_collectives.hpp"

namespace {

using namespace xferbench;

const Timeout kTimeout{.seconds = 20};

struct WrongError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void expect(bool holds, const std::string& what) {
  if (!holds) throw WrongError("wrong: " + what);
}

/// Writes the line with one call, so that lines of several ranks do not mix.
void say(const std::string& line) {
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

int places(const Communicator& ranks) {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const std::optional<Launch> launch = launch_of([](const char* name) { return std::getenv(name); });
  say(fmt::format(R"({{"rank": {}, "size": {}, "local_rank": {}, "local_size": {}, "library": "{}", "host": "{}", )"
                  R"("launcher": "{}", "launched": [{}, {}, {}]}})",
                  ranks.rank(), ranks.size(), ranks.local_rank(), ranks.local_size(), ranks.library(), host.data(),
                  launch ? launch->launcher : "", launch ? launch->rank.value_or(-1) : -1,
                  launch ? launch->size.value_or(-1) : -1, launch ? launch->local_rank.value_or(-1) : -1));
  return 0;
}

std::vector<std::byte> message(int from, int to, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>(31 * i + 7 * static_cast<std::size_t>(from) + static_cast<std::size_t>(to));
  }
  return bytes;
}

/// Each rank sends to the next one and receives from the one before.
void talk_in_a_ring(Communicator& ranks) {
  const int next = (ranks.rank() + 1) % ranks.size();
  const int before = (ranks.rank() + ranks.size() - 1) % ranks.size();
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{4097}, std::size_t{1'000'003}}) {
    const std::vector<std::byte> given = message(ranks.rank(), next, size);
    std::vector<std::byte> got(size);
    const PendingPtr receiving = ranks.receive(before, 7, got);
    const PendingPtr sending = ranks.send(next, 7, given);
    wait_for(*receiving, kTimeout, "a message");
    wait_for(*sending, kTimeout, "a message");
    expect(got == message(before, ranks.rank(), size), fmt::format("a message of {} bytes", size));
  }
}

/// Texts of different lengths; long ones are gathered in parts.
std::string text_of(int rank, std::size_t factor) {
  return std::string(factor * static_cast<std::size_t>(rank % 3), static_cast<char>('a' + rank));
}

void talk_by_texts(Communicator& ranks) {
  for (const std::size_t factor : {std::size_t{0}, std::size_t{5}, std::size_t{100'000}}) {
    for (const std::size_t at_once : {std::size_t{64}, std::size_t{70'001}, kMostAtOnce}) {
      if (factor > 1000 * at_once) continue;  // would be thousands of parts
      const auto texts = gather(ranks, text_of(ranks.rank(), factor), kTimeout, "texts", at_once);
      expect(texts.size() == (ranks.rank() == 0 ? static_cast<std::size_t>(ranks.size()) : 0), "the number of texts");
      for (std::size_t i = 0; i < texts.size(); ++i) {
        expect(texts[i] == text_of(static_cast<int>(i), factor), fmt::format("the text of rank {}", i));
      }
    }
    const int root = ranks.size() - 1;
    const std::string mine = ranks.rank() == root ? text_of(2, factor) : "another";
    expect(broadcast(ranks, mine, root, kTimeout, "a text") == text_of(2, factor), "the text for all");
  }
}

void talk_by_numbers(Communicator& ranks) {
  const double rank = ranks.rank();
  const double size = ranks.size();
  std::vector<double> values{rank, -rank, 0.5};
  all_reduce(ranks, values, Reduction::sum, kTimeout, "sums");
  expect(values == std::vector<double>{size * (size - 1) / 2, -size * (size - 1) / 2, size / 2}, "the sums");
  values = {rank, -rank, 0.5};
  all_reduce(ranks, values, Reduction::max, kTimeout, "the largest");
  expect(values == std::vector<double>{size - 1, 0, 0.5}, "the largest");
}

int talk(Communicator& ranks) {
  talk_in_a_ring(ranks);
  talk_by_texts(ranks);
  talk_by_numbers(ranks);
  barrier(ranks, kTimeout, "the end");
  say(fmt::format("rank {}: right", ranks.rank()));
  return 0;
}

int silent(Communicator& ranks, double seconds) {
  barrier(ranks, kTimeout, "the start");
  if (ranks.rank() == 1) {
    while (true) pause();
  }
  const auto begin = std::chrono::steady_clock::now();
  try {
    barrier(ranks, {.seconds = seconds}, "the case");
  } catch (const RankTimeoutError& error) {
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
    say(fmt::format(R"({{"rank": {}, "waited": {:.3f}, "said": "{}"}})", ranks.rank(), waited.count(), error.what()));
    // A real program writes its file now. The other ranks must time out too before the launcher kills all.
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    return 1;
  }
  throw WrongError("rank 1 answered");
}

double number_of(std::string_view text) {
  double found = 0;
  std::from_chars(text.data(), text.data() + text.size(), found);
  return found;
}

int check(std::span<char*> arguments) {
  const std::string_view what = arguments.size() > 1 ? arguments[1] : "";
  const std::unique_ptr<Communicator> ranks = start_mpi();
  if (what == "places") return places(*ranks);
  if (what == "talk") return talk(*ranks);
  if (what == "silent" && arguments.size() > 2) return silent(*ranks, number_of(arguments[2]));
  if (what == "start") barrier(*ranks, kTimeout, "all");
  return what == "start" || what == "load" ? 0 : 2;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    xferbench::install_interrupt_handlers(xferbench::HangUp::ends);
    return check(std::span(arguments, static_cast<std::size_t>(count)));
  } catch (const xferbench::UsageError& error) {
    std::fprintf(stderr, "usage: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
