// Deadline, which ends a process whose start hangs and names the step.
#include "app/fleet/deadline.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace xferbench::app {
namespace {

void wait(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

TEST(DeadlineDeathTest, NamesTheStepThatHangs) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        Deadline deadline("rank 3 on host a");
        deadline.begin("opening the GPU", 30);
        deadline.begin("starting MPI", 0.2);
        wait(30);
      },
      testing::ExitedWithCode(1),
      "rank 3 on host a: starting MPI did not end within 0.2 s; raise --timeout to wait longer");
}

TEST(Deadline, LetsGoWhoIsInTime) {
  Deadline deadline("rank 3 on host a");
  wait(0.1);
  for (int step = 0; step < 4; ++step) {
    deadline.begin("a short step", 5);
    wait(0.06);
  }
}

}  // namespace
}  // namespace xferbench::app
