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

TEST(PeerToPeer, AGpuWithoutAWayToItselfIsAMistake) {
  expect_refusal(xferbench({"p2p", "--simulate", "h200-x2", "--from", "1", "--to", "1"}), 2,
                 "cannot be a pair with itself");
  expect_refusal(xferbench({"p2p", "--simulate", "h200-x2", "--pairs", "0"}), 2, "--pairs 0-1");
}

}  // namespace
}  // namespace xferbench::test
