// Time and memory of explaining a long recording: explain_scale --records 1000000
//
// Writes the recording of a training loop (copies, launches, kernels, waits), reads and explains it, and prints seconds
// and memory. Exit code 1 if nothing could be explained.
#include <fmt/format.h>
#include <sys/resource.h>

#include <charconv>
#include <chrono>
#include <string>
#include <string_view>

#include "core/units.hpp"
#include "explain/explain.hpp"
#include "results/recording_file.hpp"
#include "support/files.hpp"
#include "support/synthetic_recording.hpp"

namespace xferbench {
namespace {

std::size_t records_of(const Recording& r) {
  return r.calls.size() + r.copies.size() + r.kernels.size() + r.synchronizations.size();
}

/// Each step has a copy, eight kernels and a result that the host waits for.
Recording training(std::size_t records) {
  SyntheticRecording m;
  const std::uint32_t stream = m.stream(recording::StreamFlag::legacy);
  constexpr std::size_t kRecordsOfStep = 24;
  for (std::size_t step = 0; step < records / kRecordsOfStep + 1; ++step) {
    m.copy(recording::CopyKind::h2d, recording::Memory::pageable, MiB, stream);
    m.wait(stream);
    for (int layer = 0; layer < 8; ++layer) {
      m.work(4e-6);
      m.kernel("layer", 9e-6, stream);
    }
    m.copy(recording::CopyKind::d2h, recording::Memory::pageable, 4, stream);
    m.wait(stream);
  }
  return m.finish();
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

int run(std::size_t records) {
  const test::TemporaryFolder folder;
  const std::string file = write_recording(training(records), folder.path());
  const auto begin = std::chrono::steady_clock::now();
  const Recording read = read_recording(file);
  const double reading = seconds_since(begin);
  const std::size_t there = records_of(read);
  const auto told = explain::explain(read, SyntheticRecording::costs(), {}, std::nullopt, {});
  const double all = seconds_since(begin);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print("{} records: read in {:.2f} s, explained in {:.2f} s, {} MiB at most, {} findings\n", there, reading, all,
             usage.ru_maxrss / 1024, told.findings.size());
  return told.findings.size() >= 2 && told.gains_unavailable.empty() ? 0 : 1;
}

}  // namespace
}  // namespace xferbench

int main(int argc, char** argv) {
  std::size_t records = 20'000;
  const std::string_view text = argc == 3 && std::string_view(argv[1]) == "--records" ? argv[2] : "";
  if (argc != 1 && std::from_chars(text.data(), text.data() + text.size(), records).ec != std::errc()) {
    fmt::print(stderr, "usage: explain_scale [--records N]\n");
    return 2;
  }
  return xferbench::run(records);
}
