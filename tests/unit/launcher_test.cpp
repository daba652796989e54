// Detection of MPI and Slurm launchers from their environment variables, before MPI is loaded.
#include "ranks/launcher.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

namespace xferbench {
namespace {

using Environ = std::map<std::string, std::string>;

std::optional<Launch> launched_with(const Environ& variables) {
  return launch_of([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

/// Such as "Open MPI 3 of 8, 1 of its node"; "-" for an unknown number, "none" without a launcher.
std::string in_words(const std::optional<Launch>& launch) {
  if (!launch) return "none";
  const auto shown = [](const std::optional<int>& number) { return number ? std::to_string(*number) : "-"; };
  return launch->launcher + " " + shown(launch->rank) + " of " + shown(launch->size) + ", " +
         shown(launch->local_rank) + " of its node";
}

std::string launch_in_words(const Environ& variables) { return in_words(launched_with(variables)); }

const Environ kOpenMpi{
    {"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "8"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}};

/// Variables that srun sets for a step.
const Environ kStep{{"SLURM_JOB_ID", "77"}, {"SLURM_STEP_ID", "0"},         {"SLURM_PROCID", "5"},
                    {"SLURM_NTASKS", "16"}, {"SLURM_STEP_NUM_TASKS", "16"}, {"SLURM_LOCALID", "1"}};

Environ operator+(Environ all, const Environ& more) {
  for (const auto& [name, value] : more) all[name] = value;
  return all;
}

TEST(Launcher, NoneWithoutItsVariables) {
  EXPECT_EQ(launch_in_words({}), "none");
  EXPECT_EQ(launch_in_words({{"PATH", "/usr/bin"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}}), "none");
}

TEST(Launcher, MpirunAndItsLike) {
  EXPECT_EQ(launch_in_words(kOpenMpi), "Open MPI 3 of 8, 1 of its node");
  EXPECT_EQ(
      launch_in_words({{"MV2_COMM_WORLD_RANK", "0"}, {"MV2_COMM_WORLD_SIZE", "4"}, {"MV2_COMM_WORLD_LOCAL_RANK", "0"}}),
      "MVAPICH 0 of 4, 0 of its node");
  EXPECT_EQ(launch_in_words({{"PMI_RANK", "2"}, {"PMI_SIZE", "4"}, {"MPI_LOCALRANKID", "0"}}),
            "Hydra 2 of 4, 0 of its node");
  EXPECT_EQ(launch_in_words({{"PMI_RANK", "2"}, {"PMI_SIZE", "4"}}), "PMI 2 of 4, - of its node");
  EXPECT_EQ(launch_in_words({{"PMIX_RANK", "2"}, {"PMIX_NAMESPACE", "prterun-node0-12@1"}}),
            "PMIx 2 of -, - of its node");
  EXPECT_EQ(launch_in_words({{"PMIX_RANK", "2"}}), "none");
}

TEST(Launcher, OneRankIsALaunchOfMpirun) {
  EXPECT_EQ(launch_in_words({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}}),
            "Open MPI 0 of 1, - of its node");
}

TEST(Launcher, WhatIsNoNumberIsIgnored) {
  for (const char* wrong : {"", "x", "3x", " 3", "-1", "+3", "3.0", "99999999999"}) {
    EXPECT_EQ(launch_in_words(kOpenMpi + Environ{{"OMPI_COMM_WORLD_RANK", wrong}}), "none") << wrong;
    EXPECT_EQ(launch_in_words(kOpenMpi + Environ{{"OMPI_COMM_WORLD_SIZE", wrong}}), "none") << wrong;
    EXPECT_EQ(launch_in_words(kOpenMpi + Environ{{"OMPI_COMM_WORLD_LOCAL_RANK", wrong}}),
              "Open MPI 3 of 8, - of its node")
        << wrong;
  }
  EXPECT_EQ(launch_in_words(kOpenMpi + Environ{{"OMPI_COMM_WORLD_RANK", "8"}}), "none") << "there is no such rank";
}

TEST(Launcher, AStepOfSlurmIsOneAndAnAllocationIsNot) {
  EXPECT_EQ(launch_in_words(kStep), "Slurm 5 of 16, 1 of its node");
  const Environ allocation{{"SLURM_JOB_ID", "77"}, {"SLURM_NTASKS", "16"}, {"SLURM_NNODES", "2"}};
  EXPECT_EQ(launch_in_words(allocation), "none") << "salloc";
  EXPECT_EQ(launch_in_words(allocation + Environ{{"SLURM_PROCID", "0"}, {"SLURM_LOCALID", "0"}}), "none") << "sbatch";
  EXPECT_EQ(launch_in_words(kStep + Environ{{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}}), "none")
      << "srun --pty bash";
}

TEST(Launcher, StepsOfSlurmsOwnAreNone) {
  // sbatch called within a step passes the variables of that step to its script, with a step id of Slurm's own (batch,
  // extern or interactive step).
  for (const char* own : {"4294967290", "4294967291", "4294967294"}) {
    EXPECT_EQ(launch_in_words(kStep + Environ{{"SLURM_STEP_ID", own}}), "none") << own;
  }
}

TEST(Launcher, SlurmIsNamedWhereItSpeaksPmi) {
  EXPECT_EQ(launch_in_words(kStep + Environ{{"PMIX_RANK", "5"}, {"PMIX_NAMESPACE", "slurm.pmix.77.0"}}),
            "Slurm 5 of 16, 1 of its node");
  EXPECT_EQ(launch_in_words(kStep + Environ{{"PMI_RANK", "5"}, {"PMI_SIZE", "16"}}), "Slurm 5 of 16, 1 of its node");
  EXPECT_EQ(launch_in_words({{"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "slurm.pmix.77.0"}}), "PMIx 0 of -, - of its node");
  const Environ shell{{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}, {"SLURM_LOCALID", "0"}};
  EXPECT_EQ(launch_in_words(kStep + shell + Environ{{"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "slurm.pmix.77.0"}}),
            "PMIx 0 of 1, - of its node")
      << "srun --pty bash, where PMIx is the default";
}

TEST(Launcher, MpirunInsideAnAllocationIsMpirun) {
  // mpirun's daemons, one per node, are a step of Slurm. The ranks inherit its variables.
  const Environ daemons = kStep + Environ{{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}};
  EXPECT_EQ(launch_in_words(daemons + kOpenMpi), "Open MPI 3 of 8, 1 of its node");
  EXPECT_EQ(launch_in_words(daemons + Environ{{"PMI_RANK", "9"}, {"PMI_SIZE", "16"}, {"MPI_LOCALRANKID", "1"}}),
            "Hydra 9 of 16, 1 of its node");
  EXPECT_EQ(launch_in_words(daemons + Environ{{"PMIX_RANK", "9"}, {"PMIX_NAMESPACE", "prterun-node0-12@1"}}),
            "PMIx 9 of -, - of its node");
}

}  // namespace
}  // namespace xferbench
