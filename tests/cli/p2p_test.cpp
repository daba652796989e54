// Copies between GPUs, as users ask for them.
#include <gtest/gtest.h>

#include "cli/support.hpp"

namespace xferbench::test {
namespace {

Arguments p2p(Arguments more) {
  Arguments all{"p2p", "--budget", "0.01", "--max-samples", "6"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(PeerToPeer, HasARowForEachPairAndAMatrix) {
  const Outcome o = xferbench({"p2p", "--simulate", "h200-x2", "--access", "peer,staged", "--size", "64M,256M"});
  expect_success(o);
  expect_golden("p2p.txt", o.out);
}

TEST(PeerToPeer, OfOneGpuMeasuresNothingAndSaysWhy) {
  for (const Arguments& gpus : {Arguments{"--simulate", "h200"}, {"--simulate", "h200-x2", "--gpus", "1"}}) {
    const Outcome o = xferbench(p2p(gpus));
    EXPECT_EQ(o.exit_code, 5);
    EXPECT_TRUE(contains(o.out + o.err, "this run has one")) << o.out << o.err;
  }
}

TEST(PeerToPeer, AGpuThatIsMissingIsSkippedBesideThoseThatAreThere) {
  const TemporaryFolder folder;
  const Outcome o = xferbench(p2p({"--simulate", "h200-x2", "--pairs", "0-1,0-9", "--dir", "write", "--size", "1M",
                                   "--gpus", "0,1", "--json", folder / "r.json"}));
  EXPECT_EQ(o.exit_code, 0) << o.err;
  const Json results = read_json(folder / "r.json")["results"];
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0]["status"], "ok");
  EXPECT_EQ(results[0]["params"]["from"], "0");
  EXPECT_EQ(results[1]["status"], "skipped");
  EXPECT_TRUE(contains(results[1]["reason"], "GPUs 0, 1 only"));
  expect_valid_results(folder / "r.json");
}

TEST(PeerToPeer, ADryRunKnowsNoMachineAndLeavesItsPairsOpen) {
  const Outcome o = xferbench({"p2p", "--dry-run", "--dir", "write,read"});
  expect_success(o);
  EXPECT_EQ(lines(o.out), (Arguments{"p2p/pairs=all/op=copy/dir=write/engine=ce/access=peer/size=256MiB",
                                     "p2p/pairs=all/op=copy/dir=read/engine=ce/access=peer/size=256MiB"}));
}

TEST(PeerToPeer, AGpuWithoutAWayToItselfIsAMistake) {
  expect_refusal(xferbench({"p2p", "--simulate", "h200-x2", "--from", "1", "--to", "1"}), 2, "no way to itself");
  expect_refusal(xferbench({"p2p", "--simulate", "h200-x2", "--pairs", "0"}), 2, "--pairs 0-1");
}

TEST(PeerToPeer, IsGoneOnWithWhereItStopped) {
  const TemporaryFolder folder;
  const std::string file = folder / "r.json";
  expect_success(xferbench(p2p({"--simulate", "h200-x2", "--size", "1M", "--json", file})));
  const Outcome o = xferbench({"--resume", file, "--quiet"});
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_EQ(read_json(file)["results"].size(), 6U) << "the same cases again, and none of them";
}

}  // namespace
}  // namespace xferbench::test
