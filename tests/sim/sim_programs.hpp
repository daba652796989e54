// Programs for the simulated machine, each with one fault in its transfers and without it. Recordings of the slow
// version test whether explain predicts the time of the fixed one.
#pragma once

#include "explain/costs.hpp"
#include "explain/explanation.hpp"
#include "kernels/delay.hpp"
#include "recording/recording_request.hpp"
#include "results/recording_file.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

/// A simulated H200. Contention has no overheads and engines switch streams at no cost: explain does not model these
/// costs.
class ProgramMachine {
 public:
  /// Records as requested; without a folder in the request, not at all.
  explicit ProgramMachine(const RecordingRequest& request, std::string_view of_profile = "h200",
                          std::vector<int> gpus = {0});

  [[nodiscard]] Machine& machine() { return machine_; }
  [[nodiscard]] Device& device() { return machine_.device(); }
  Stream stream(StreamKind kind = StreamKind::nonblocking) { return device().make_stream(kind); }
  /// Memory that lives as long as the machine.
  HostView host(HostMemory kind, std::size_t bytes);
  DeviceView gpu(std::size_t bytes);
  /// Host work of the program, in virtual seconds.
  void work(double seconds) {
    machine_.host().work({.seconds = seconds}, [] {});
  }
  /// The host copies bytes within its memory.
  void gather(std::uint64_t bytes) {
    machine_.host().work({.bytes_copied = bytes}, [] {});
  }
  /// Runs the timed and explained part of the program, as a range called "steps".
  void steps(const std::function<void()>& body);

  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  sim::Profile profile_;
  sim::SimMachine machine_;
  std::vector<HostBuffer> host_;
  std::vector<DeviceBuffer> gpu_;
  double seconds_ = 0;
};

/// A program sets up its memory and then calls ProgramMachine::steps().
using SimProgram = std::function<void(ProgramMachine&)>;

struct SimPrograms {
  std::string name;
  std::vector<explain::FindingKind> faults;  ///< which the fixed version does not have; the largest is first
  SimProgram slow;
  SimProgram fixed;
  double off;  ///< relative: by how much the predicted time of the fixed version exceeds its real time
};

/// One for each fault that the simulated machine can show. Managed memory and slow copies cannot be simulated.
const std::vector<SimPrograms>& sim_programs();

struct RecordedProgram {
  Recording recording;
  double seconds = 0;  ///< virtual time of the steps
};
/// Records into a temporary folder, whatever folder the request names.
RecordedProgram recorded(const SimProgram& program, RecordingRequest request = {}, std::string_view of_profile = "h200",
                         std::vector<int> gpus = {0});

/// Seconds of the steps without recording.
double unrecorded_seconds(const SimProgram& program);

/// explain's costs for the simulated H200, from its profile.
explain::Costs simulated_costs();

inline void launch(StreamView stream, double seconds) { stream.launch(kernels::Delay(seconds)); }
inline Copy copy_in(const DeviceView& to, const HostView& from, std::size_t at, std::size_t bytes) {
  return {to.data + at, from.data + at, bytes, Direction::h2d};
}
inline Copy copy_out(const HostView& to, const DeviceView& from, std::size_t at, std::size_t bytes) {
  return {to.data + at, from.data + at, bytes, Direction::d2h};
}

}  // namespace xferbench::test
