// Copies between GPUs, as users ask for them.
#include <gtest/gtest.h>

#include "cli/support.hpp"

namespace xferbench::test {
namespace {

TEST(PeerToPeer, HasARowForEachPairAndAMatrix) {
  const Outcome o = xferbench({"p2p", "--simulate", "h200-x2", "--access", "peer,staged", "--size", "64M,256M"});
  expect_success(o);
  expect_golden("p2p.txt", o.out);
}

TEST(PeerToPeer, AGpuThatIsMissingIsSkippedBesideThoseThatAreThere) {
  const TemporaryFolder folder;
  const Outcome o = xferbench(few_samples("p2p", {"--simulate", "h200-x2", "--pairs", "0-1,0-9", "--dir", "write",
                                                  "--size", "1M", "--gpus", "0,1", "--json", folder / "r.json"}));
  EXPECT_EQ(o.exit_code, 0) << o.err;
  const Json results = read_json(folder / "r.json")["results"];
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0]["status"], "ok");
  EXPECT_EQ(results[0]["params"]["from"], "0");
  EXPECT_EQ(results[1]["status"], "skipped");
  EXPECT_TRUE(contains(results[1]["reason"], "GPUs 0, 1 only"));
  expect_valid_results(folder / "r.json");
}

TEST(PeerToPeer, AGpuWithoutAWayToItselfIsAMistake) {
  expect_refusal(xferbench({"p2p", "--simulate", "h200-x2", "--from", "1", "--to", "1"}), 2, "no way to itself");
  expect_refusal(xferbench({"p2p", "--simulate", "h200-x2", "--pairs", "0"}), 2, "--pairs 0-1");
}

}  // namespace
}  // namespace xferbench::test
