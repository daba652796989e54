// Command `version`: prints version, build and optional libraries.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "app/commands.hpp"
#include "app/fleet/rank_session.hpp"
#include "core/printable.hpp"
#include "device/features.hpp"
#include "device/host.hpp"
#include "ranks/mpi_plugin.hpp"
#include "results/output_file.hpp"
#include "version.hpp"
#include "words/machine.hpp"

namespace xferbench::app {

namespace {

std::string or_else(std::string_view text, std::string_view otherwise) {
  return std::string(text.empty() ? otherwise : text);
}

std::string line(std::string_view name, const std::string& text) {
  return fmt::format("{:<13} {}\n", name, printable(text));
}

}  // namespace

/// Programs may parse the first line of the output (docs/stability.md); the other lines are for people. The command
/// does not use the GPU, so that it works even if the GPU is stuck or missing.
int perform(const cli::VersionCommand& /*command*/) {
  const std::string cuda = build::kCuda;
  std::string text = version_line() + "\n";
  text += line("commit", or_else(build::kGit, "unknown: not built in a git checkout"));
  text += line("CUDA", or_else(cuda, "not built: only simulated GPUs"));
  if (!cuda.empty()) text += line("architectures", or_else(build::kArchitectures, "unknown"));
  text += line("CUPTI", describe_cupti(build::kCupti));
  text += line("NVRTC", describe_nvrtc());
  // Under a launcher, a command that does not measure does not start MPI, because thousands of ranks may run it.
  text += line("MPI", launch_from_environment() ? "not checked under mpirun or srun" : describe_mpi());
  text += line("NUMA", describe_numa());
  write_standard_output(text);
  return 0;
}

}  // namespace xferbench::app
