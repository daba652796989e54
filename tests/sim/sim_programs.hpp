// Programs on a simulated machine, each with a fault of its transfers and with that fault mended, recorded while they
// run: what is explained of the slow one is held against what the mended one takes.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "explain/costs.hpp"
#include "explain/explanation.hpp"
#include "kernels/delay.hpp"
#include "recording/recording_request.hpp"
#include "results/recording_file.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

/// A simulated H200, as programs use it. Its copies cost each other no more than their rates, and its engines go on
/// with any stream at once: explain does not know of these costs, which would be in the truth and in no prediction.
class ProgramMachine {
 public:
  /// Recorded as it is asked for; where no folder is named, not at all.
  explicit ProgramMachine(const RecordingRequest& request, std::string_view of_profile = "h200",
                          std::vector<int> gpus = {0});

  [[nodiscard]] Machine& machine() { return machine_; }
  [[nodiscard]] Device& device() { return machine_.device(); }
  Stream stream(StreamKind kind = StreamKind::nonblocking) { return device().make_stream(kind); }
  /// Memory that lasts as long as the machine.
  HostView host(HostMemory kind, std::size_t bytes);
  DeviceView gpu(std::size_t bytes);
  /// The program does something of its own.
  void work(double seconds) {
    machine_.host().work({.seconds = seconds}, [] {});
  }
  /// The program moves bytes from one place of the host's memory to another.
  void gather(std::uint64_t bytes) {
    machine_.host().work({.bytes_copied = bytes}, [] {});
  }
  /// The stretch that is timed and explained: a range of that name.
  void steps(const std::function<void()>& body);

  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  sim::Profile profile_;
  sim::SimMachine machine_;
  std::vector<HostBuffer> host_;
  std::vector<DeviceBuffer> gpu_;
  double seconds_ = 0;
};

/// Sets up what it needs and does its work in ProgramMachine::steps().
using SimProgram = std::function<void(ProgramMachine&)>;

struct SimPrograms {
  std::string name;
  std::vector<explain::FindingKind> faults;  ///< that the mended version has not; the first is the largest
  SimProgram slow;
  SimProgram mended;
  double off;  ///< what is predicted of the mended version is so much more than what that takes, as a share
};

/// One for each fault that the simulated machine can have. It has no managed memory, and every copy runs as fast as the
/// machine can.
const std::vector<SimPrograms>& sim_programs();

struct RecordedProgram {
  Recording recording;
  double seconds = 0;  ///< of the steps, by the virtual clock
};
/// Whatever folder is asked for, it is a temporary one.
RecordedProgram recorded(const SimProgram& program, RecordingRequest request = {}, std::string_view of_profile = "h200",
                         std::vector<int> gpus = {0});

/// What the steps take where nobody records.
double unrecorded_seconds(const SimProgram& program);

/// What the simulated H200 takes for what programs ask of it, from its profile.
explain::Costs simulated_costs();

inline void launch(StreamView stream, double seconds) { stream.launch(kernels::Delay(seconds)); }
inline Copy copy_in(const DeviceView& to, const HostView& from, std::size_t at, std::size_t bytes) {
  return {to.data + at, from.data + at, bytes, Direction::h2d};
}
inline Copy copy_out(const HostView& to, const DeviceView& from, std::size_t at, std::size_t bytes) {
  return {to.data + at, from.data + at, bytes, Direction::d2h};
}

}  // namespace xferbench::test
