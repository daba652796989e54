// The program graph of a recording has a size proportional to the recording, whatever its streams and events.
#include <gtest/gtest.h>

#include <cstddef>

#include "explain/program.hpp"
#include "explain/replay.hpp"
#include "unit/explain_fixture.hpp"

namespace xferbench::explain {
namespace {

using recording::StreamFlag;

std::vector<std::uint32_t> streams(SyntheticRecording& m, std::size_t count, StreamFlag flag) {
  std::vector<std::uint32_t> made;
  for (std::size_t i = 0; i < count; ++i) made.push_back(m.stream(flag));
  return made;
}

/// One stream runs kernels; the others only wait for each other's events and record them.
Recording events(std::size_t steps, std::size_t count) {
  return whole([=](SyntheticRecording& m) {
    const std::vector<std::uint32_t> s = streams(m, count, StreamFlag::non_blocking);
    for (std::size_t step = 0; step < steps; ++step) {
      m.kernel("work", 1e-6, s[0]);
      for (std::size_t i = 0; i < count; ++i) {
        m.record(s[i], s[i]);
        m.make_wait(s[(i + 1) % count], s[i]);
      }
    }
    m.wait_device();
  });
}

/// All worker streams wait for one stream, which then waits for all of them.
Recording forks_and_joins(std::size_t steps, std::size_t count) {
  return whole([=](SyntheticRecording& m) {
    const std::vector<std::uint32_t> s = streams(m, count, StreamFlag::non_blocking);
    for (std::size_t step = 0; step < steps; ++step) {
      for (std::size_t i = 1; i < count; ++i) {
        m.kernel("work", 1e-6, s[i]);
        m.record(s[i], s[i]);
        m.make_wait(s[0], s[i]);
      }
      m.record(s[0], s[0]);
      for (std::size_t i = 1; i < count; ++i) m.make_wait(s[i], s[0]);
    }
    m.wait_device();
  });
}

Recording beside_legacy(std::size_t steps, std::size_t count) {
  return whole([=](SyntheticRecording& m) {
    const std::uint32_t legacy = m.stream(StreamFlag::legacy);
    const std::vector<std::uint32_t> s = streams(m, count, StreamFlag::blocking);
    for (std::size_t step = 0; step < steps; ++step) {
      m.kernel("work", 1e-6, s[step % count]);
      m.kernel("legacy", 1e-6, legacy);
      m.wait(legacy);
    }
  });
}

Recording device_waits(std::size_t steps, std::size_t count) {
  return whole([=](SyntheticRecording& m) {
    const std::vector<std::uint32_t> s = streams(m, count, StreamFlag::non_blocking);
    for (const std::uint32_t stream : s) m.kernel("work", 1e-6, stream);
    for (std::size_t step = 0; step < steps; ++step) {
      m.kernel("work", 1e-6, s[step % count]);
      m.wait_device();
    }
  });
}

/// Checks that the graph has at most four dependencies per record, and that its replay takes the recorded time.
void expect_few_edges(const Recording& r) {
  const Program program = program_of(r, window_of(r, std::nullopt), SyntheticRecording::costs());
  std::size_t edges = 0;
  for (const Operation& o : program.operations) edges += o.after.size();
  for (const HostCall& call : program.calls) edges += call.waits_for.size();
  const std::size_t records = r.calls.size() + r.kernels.size() + r.events.size() + r.synchronizations.size();
  EXPECT_LE(edges, 4 * records);
  EXPECT_LE(program.operations.size(), r.kernels.size() + records);
  EXPECT_NEAR(replay(program).seconds, program.seconds, 0.03 * program.seconds);
}

TEST(ExplainGrowth, StreamsThatOnlyWaitForEventsAndRecordThem) {
  expect_few_edges(events(100, 5));
  expect_few_edges(events(20, 40));
}
TEST(ExplainGrowth, ForksAndJoinsOfManyStreams) { expect_few_edges(forks_and_joins(10, 100)); }
TEST(ExplainGrowth, BlockingStreamsBesideTheLegacyOne) { expect_few_edges(beside_legacy(600, 200)); }
TEST(ExplainGrowth, WaitsForADeviceOfManyStreams) { expect_few_edges(device_waits(600, 200)); }

}  // namespace
}  // namespace xferbench::explain
