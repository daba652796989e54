// A stand-in for a profiled CUDA program, for machines without a GPU. It prints, takes its time, and leaves the
// recording that the injection library would. Each step copies 4 MiB from pageable memory, runs a kernel and waits.
//   made_program [--steps N] [--range NAME] [--uuid GPU-...] [--exit-code N] [--full]
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>

#include "recording/recording.hpp"
#include "recording/recording_request.hpp"
#include "recording/recording_writer.hpp"

namespace {

using namespace xferbench;
using namespace xferbench::recording;

constexpr Time kMicrosecond = 1000;
constexpr std::uint32_t kThread = 1;

Time now() {
  return static_cast<Time>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

/// The command line's flags with their values or defaults; a flag without a value has an empty one.
std::map<std::string, std::string> flags_of(int argc, char** argv) {
  std::map<std::string, std::string> flags{
      {"--steps", "20"}, {"--range", ""}, {"--uuid", "GPU-made"}, {"--exit-code", "0"}};
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const bool takes_value = flags.contains(flag);
    flags[flag] = takes_value && i + 1 < argc ? argv[++i] : "";
  }
  return flags;
}

void write_step(RecordingWriter& file, Time begin, std::uint32_t number) {
  const Time copied = begin + 400 * kMicrosecond;
  const Time done = begin + 600 * kMicrosecond;
  const std::uint32_t first = 3 * number + 1;
  const auto call = [&](const char* name, Time from, Time to, std::uint32_t correlation) {
    file.add(Type::call,
             Call{.begin = from, .end = to, .name = file.name(name), .thread = kThread, .correlation = correlation});
  };
  const auto on = [&](Time from, Time to, std::uint32_t correlation) {
    return OnDevice{.begin = from, .end = to, .correlation = correlation, .context = 1, .stream = 7};
  };
  call("cudaMemcpyAsync", begin, copied, first);
  call("cudaLaunchKernel", copied, copied + 5 * kMicrosecond, first + 1);
  call("cudaStreamSynchronize", copied + 5 * kMicrosecond, done, first + 2);
  file.add(Type::copy, Copy{.on = on(begin + 5 * kMicrosecond, copied, first),
                            .bytes = 4U << 20U,
                            .kind = CopyKind::h2d,
                            .source = Memory::pageable,
                            .destination = Memory::device,
                            .channel = Channel::copy_engine,
                            .asynchronous = 1});
  file.add(
      Type::kernel,
      Kernel{.on = on(copied + 5 * kMicrosecond, done, first + 1), .name = file.name("work"), .grid = 1, .block = 1});
  file.add(Type::synchronization, Synchronization{.begin = copied + 5 * kMicrosecond,
                                                  .end = done,
                                                  .correlation = first + 2,
                                                  .context = 1,
                                                  .stream = 7,
                                                  .kind = SyncKind::stream});
}

}  // namespace

int main(int argc, char** argv) {
  const Time begun = now();
  auto flags = flags_of(argc, argv);
  const auto steps = static_cast<std::uint32_t>(std::stoul(flags["--steps"]));
  const auto request = recording_request(&std::getenv);
  const bool watched = request && !request->only_ranges;
  RecordingWriter file(request ? request->folder : "", static_cast<std::uint32_t>(getpid()));
  file.add(Type::process, Process{.pid = static_cast<std::uint32_t>(getpid()),
                                  .begin = begun,
                                  .loaded = begun,
                                  .command = file.name("made_program"),
                                  .tool = file.name("test")});
  if (watched) {
    file.add(Type::device, Device{.name = file.name("Made GPU"), .uuid = file.name(flags["--uuid"])});
    file.add(Type::stream, Stream{.context = 1, .stream = 7, .flag = StreamFlag::blocking});
  }
  for (std::uint32_t i = 0; i < steps; ++i) {
    const Time begin = now();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (watched) write_step(file, begin, i);
  }
  if (!flags["--range"].empty()) {
    file.add(Type::range, Range{.begin = begun, .end = now(), .name = file.name(flags["--range"]), .thread = kThread});
  }
  file.end({.time = now(), .reason = flags.contains("--full") ? EndReason::max_records : EndReason::exit});
  return std::stoi(flags["--exit-code"]);
}
