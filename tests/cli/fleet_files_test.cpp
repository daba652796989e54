// Results files of mpirun and srun, read by each command that takes results. They are made from one simulated run.

#include "cli/support.hpp"

namespace xferbench::test {
namespace {

/// Copies the results of one process to `ranks` ranks, two ranks on each host.
Json as_fleet(const Json& single, int ranks) {
  Json fleet = single;
  fleet["results"] = Json::array();
  fleet["fleet"] = {{"mpi", "Open MPI 4.1.4"},  {"clocks_off_by", 1e-6},  {"missing", Json::array()},
                    {"flagged", Json::array()}, {"notes", Json::array()}, {"ranks", Json::array()}};
  for (int rank = 0; rank < ranks; ++rank) {
    Json environment = single["environment"];
    environment["gpu"]["uuid"] = "GPU-" + std::to_string(rank);
    fleet["fleet"]["ranks"].push_back({{"rank", rank},
                                       {"node", rank / 2},
                                       {"local_rank", rank % 2},
                                       {"host", "node" + std::to_string(rank / 2)},
                                       {"environment", environment}});
    for (Json result : single["results"]) {
      result["fleet"] = {{"rank", rank},       {"pace", "all"},    {"round", 1},      {"path", "link"},
                         {"clocks_off_by", 0}, {"void_passes", 0}, {"late_passes", 0}};
      fleet["results"].push_back(result);
    }
  }
  return fleet;
}

class FleetFiles : public testing::Test {
 protected:
  FleetFiles() {
    expect_success(xferbench({"--simulate", "memcpy", "--dir", "h2d,d2h", "--host", "pinned", "--size", "1M",
                              "--max-samples", "10", "--json", path("single.json"), "--quiet"}));
    single = read_json(path("single.json"));
    write_file(path("fleet.json"), as_fleet(single, 4).dump());
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  Json single;

 private:
  TemporaryFolder folder_;
};

TEST_F(FleetFiles, AreValid) { expect_valid_results(path("fleet.json")); }

TEST_F(FleetFiles, AreComparedRankByRank) {
  const Json found =
      parse_json(xferbench({"compare", path("fleet.json"), path("fleet.json"), "--quiet", "--json", "-"}).out);
  EXPECT_EQ(found["matched_by"], "uuid");
  EXPECT_EQ(found["summary"]["same"], 8);
  EXPECT_TRUE(contains(found["cases"][0]["key"], " pace=all gpu=GPU-0")) << found["cases"][0];
  const Json by_rank = parse_json(
      xferbench({"compare", path("fleet.json"), path("fleet.json"), "--match", "rank", "--quiet", "--json", "-"}).out);
  EXPECT_EQ(by_rank["matched_by"], "rank");
  EXPECT_TRUE(contains(by_rank["cases"][0]["key"], " pace=all rank=0")) << by_rank["cases"][0];
}

TEST_F(FleetFiles, MissRanksThatAreOnlyInBase) {
  write_file(path("fewer.json"), as_fleet(single, 3).dump());
  const Json found =
      parse_json(xferbench({"compare", path("fleet.json"), path("fewer.json"), "--quiet", "--json", "-"}).out);
  EXPECT_EQ(found["summary"]["missing"], 2);
  EXPECT_EQ(found["summary"]["same"], 6);
}

TEST_F(FleetFiles, AreMatchedByWhatThereIs) {
  expect_refusal(xferbench({"compare", path("fleet.json"), path("fleet.json"), "--match", "host"}), 2, "--match");
  expect_refusal(xferbench({"compare", path("single.json"), path("single.json"), "--match", "rank"}), 2, "--match");
  expect_refusal(xferbench({"compare", path("fleet.json"), path("single.json")}), 2, "4 ranks");
}

TEST_F(FleetFiles, AreNotResumedByOneProcess) {
  expect_refusal(xferbench({"--resume", path("fleet.json")}), 2, "--resume");
}

}  // namespace
}  // namespace xferbench::test
