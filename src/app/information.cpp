// Commands that measure nothing: machine information, lists, help, completion, the GPU probe and cuFile.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "app/commands.hpp"
#include "app/data_files.hpp"
#include "app/files.hpp"
#include "app/session.hpp"
#include "check/expectations.hpp"
#include "core/error.hpp"
#include "core/standard_error.hpp"
#include "device/cufile.hpp"
#include "device/host.hpp"
#include "device/open.hpp"
#include "ranks/gpu_probe.hpp"
#include "ranks/mpi_plugin.hpp"
#include "results/json.hpp"
#include "results/output_file.hpp"
#include "results/suite_file.hpp"
#include "scenarios/scenarios.hpp"
#include "scenarios/storage/cufile_server.hpp"
#include "words/information.hpp"
#include "words/machine.hpp"

namespace xferbench::app {

namespace {

/// Opens the requested GPUs; without a request, all GPUs, or only the first one if not all can be used.
std::unique_ptr<Machine> open_to_describe(const cli::DeviceChoice& choice) {
  if (choice.gpu || choice.gpus) return open_machine(choice, gpus_for(choice, {}));
  try {
    return open_machine(choice, {.numbers = {}});
  } catch (const NoDeviceError& error) {
    std::unique_ptr<Machine> with_first = open_machine(choice, GpuSelection{});
    tell(fmt::format("warning: only GPU 0 is shown: {}", error.what()));
    return with_first;
  }
}

/// Collects the facts about the machine. A missing GPU is not an error, unless the user asked for a GPU by its number.
MachineFacts facts_of(const cli::DeviceChoice& choice) {
  MachineFacts facts;
  facts.profiles = simulated_profiles();
  try {
    facts.environment = open_to_describe(choice)->device().capabilities().environment;
    facts.limits = limits_of(facts.environment->gpu);
  } catch (const NoDeviceError& error) {
    if (choice.gpu || choice.gpus) throw;
    facts.no_gpu = error.what();
    facts.host = describe_host();
  }
  return facts;
}

Choices scenario_choices() {
  Choices list{.below = "For flags and columns of a scenario: xferbench list SCENARIO"};
  for (const ScenarioDescriptor* scenario : descriptors()) {
    list.entries.emplace_back(scenario->name, scenario->summary + (list.entries.empty() ? " (the default)" : ""));
  }
  return list;
}

Choices suite_choices() {
  return {.title = "Suites for --suite:",
          .entries = described_data("suites", [](const std::string& path) { return read_suite(path).description; }),
          .none = "No suites are installed"};
}

Choices expectation_choices() {
  const auto describe = [](const std::string& path) { return check::read_expectations(path).description; };
  return {.title = "Expectations for check --expect:",
          .entries = described_data("expectations", describe),
          .none = "No expectations are installed"};
}

Document listed(const cli::ListCommand& command) {
  using Of = cli::ListCommand::Of;
  switch (command.of) {
    case Of::everything: break;
    case Of::scenarios: return document_of({scenario_choices()});
    case Of::suites: return document_of({suite_choices()});
    case Of::expectations: return document_of({expectation_choices()});
    case Of::profiles: return document_of({{.title = "Profiles for --simulate:", .entries = simulated_profiles()}});
    case Of::gpus: return document_of_gpus(facts_of(command.device));
  }
  return document_of({scenario_choices(), suite_choices()});
}

}  // namespace

int perform(const cli::InfoCommand& command) {
  JudgementFiles files(command.files, {});
  const MachineFacts facts = facts_of(command.device);
  files.write({.document = [&] { return document_of(facts); },
               .style = style_of(command.show),
               .json = [&] { return to_json(facts); }});
  return 0;
}

int perform(const cli::ListCommand& command) {
  JudgementFiles files(command.files, {});
  files.write({.document = [&] { return listed(command); }, .style = style_of(command.show)});
  return 0;
}

int perform(const cli::HelpCommand& command) {
  const std::size_t columns = columns_of_terminal();
  write_standard_output(columns == 0 ? to_text(command.page) : to_text(command.page, columns));
  return 0;
}

int perform(const cli::TextCommand& command) {
  write_standard_output(command.text);
  return 0;
}

int perform(const cli::CompleteCommand& command) {
  const cli::DataNames names{.expectations = data_names("expectations"), .suites = data_names("suites")};
  write_standard_output(cli::complete(command.words, scenarios(), names));
  return 0;
}

int perform(const cli::GpuProbeCommand& command) {
  // If MPI hangs, the parent process ends this process. SIGALRM does so if the parent has gone.
  alarm(static_cast<unsigned>(kGpuProbeTimeout));
  const std::unique_ptr<Machine> machine = open_gpus({.numbers = {command.gpu}});
  // Open the GPU before starting MPI, in the same order as a run does, so that MPI finds the GPU in use.
  const std::unique_ptr<Communicator> alone = start_mpi();
  const std::string reason = try_gpu_memory(*alone, machine->device(), kGpuProbeTimeout);
  if (!reason.empty()) write_standard_output(reason + "\n");
  return static_cast<int>(reason.empty() ? ExitCode::ok : ExitCode::failed);
}

int perform(const cli::CufileCommand& command) { serve_cufile(cufile_memory_on_gpu(command.gpu), cufile_places()); }

}  // namespace xferbench::app
