// --gpus: runs on several simulated GPUs, as a user calls them.

#include <utility>
#include <vector>

#include "cli/support.hpp"

namespace xferbench::test {
namespace {

using Gpus = std::vector<int>;

Arguments on_two(const std::string& scenario, Arguments more) {
  more.insert(more.end(), {"--simulate", "h200-x2"});
  return few_samples(scenario, std::move(more));
}

TEST(SeveralGpus, AreChosenByNumberByListOrAll) {
  const TemporaryFolder folder;
  const auto gpus_of = [&](const char* choice) {
    const auto file = folder / "r.json";
    std::filesystem::remove(file);
    const Outcome o = xferbench({"together", "--pattern", "h2d", "--group", "growing", "--size", "1M", "--simulate",
                                 "h200-x8", "--gpus", choice, "--max-samples", "6", "--json", file});
    EXPECT_EQ(o.exit_code, 0) << o.err;
    return read_json(file)["results"].back()["gpus"].get<Gpus>();
  };
  EXPECT_EQ(gpus_of("all"), (Gpus{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(gpus_of("3"), (Gpus{0, 1, 2}));
  EXPECT_EQ(gpus_of("6,1"), (Gpus{6, 1}));
}

TEST(SimulatedGpu, IsChosenByItsNumberWhateverTheCommand) {
  const TemporaryFolder folder;
  const auto file = folder / "r.json";
  const auto gpu_in = [](const std::string& path) { return read_json(path)["environment"]["gpu"]["index"].get<int>(); };
  const Arguments on_sixth{"--simulate", "h200-x8", "--gpu", "6", "--json", file};
  const auto expect_sixth = [&](const Outcome& o, const std::string& path) {
    EXPECT_EQ(o.exit_code, 0) << o.err;
    EXPECT_EQ(gpu_in(path), 6) << path;
  };
  expect_sixth(xferbench(few_samples("memcpy", on_sixth)), file);
  Json json = read_json(file);
  json["complete"] = false;
  json["results"].erase(json["results"].begin() + 1, json["results"].end());
  write_file(file, json.dump());
  expect_sixth(xferbench({"--resume", file, "--quiet"}), file);
  EXPECT_GT(read_json(file)["results"].size(), 1U);
  Arguments repeated = few_samples("memcpy", on_sixth);
  repeated.insert(repeated.end(), {"--repeat", "2"});
  expect_sixth(xferbench(repeated), folder / "r-2.json");
  Arguments suite = on_sixth;
  suite.insert(suite.end(), {"--suite", "quick", "--max-samples", "2", "--min-samples", "1"});
  expect_sixth(xferbench(suite), file);
  Arguments tune{"tune", "--size", "1M", "--budget", "0.1"};
  tune.insert(tune.end(), on_sixth.begin(), on_sixth.end());
  const Outcome tuned = xferbench(tune);
  expect_sixth(tuned, file);
  EXPECT_TRUE(contains(tuned.out, "--simulate h200-x8 --gpu 6")) << tuned.out;
  for (const char* command : {"info", "list"}) {
    const Outcome o = xferbench(
        {command, command == std::string("list") ? "gpus" : "--json=-", "--simulate", "h200-x8", "--gpu", "6"});
    expect_success(o);
    EXPECT_TRUE(contains(o.out, command == std::string("list") ? "GPU          6: " : "\"index\": 6")) << o.out;
  }
}

TEST(SimulatedGpu, ThatIsNotThereIsNoDevice) {
  for (const Arguments& command : {Arguments{"memcpy"}, {"info"}, {"list", "gpus"}, {"tune"}, {"--suite", "quick"}}) {
    Arguments words = command;
    words.insert(words.end(), {"--simulate", "h200-x2", "--gpu", "2"});
    expect_refusal(xferbench(words), 3, "there is no GPU 2: this machine has 2, numbered from 0");
  }
}

TEST(SeveralGpus, AreNamedWhereOnlyOneOfThemWasMeasured) {
  const auto said = [](Arguments command) {
    command.insert(command.end(), {"--size", "1M", "--simulate", "h200-x8", "--max-samples", "6", "--quiet"});
    const Outcome o = xferbench(command);
    EXPECT_EQ(o.exit_code, 0) << o.err;
    return o.out;
  };
  const std::string mixed = said({"--gpus", "3,5", "p2p", "--pairs", "3-5", "--dir", "write", "async", "--dir", "h2d"});
  EXPECT_TRUE(contains(mixed, "GPU 3 only")) << mixed;
  EXPECT_EQ(mixed.find("only"), mixed.rfind("only")) << "of async, not of p2p: " << mixed;
  EXPECT_TRUE(contains(said({"memcpy", "--gpu", "5"}), "NVIDIA H200 (GPU 5), "));
  EXPECT_FALSE(contains(said({"memcpy", "--gpu", "0"}), "GPU 0"));
}

TEST(SeveralGpus, AreNothingForWhatIsAboutOne) {
  for (const Arguments& command : {Arguments{"async"}, Arguments{"tune", "smem"}}) {
    Arguments words = command;
    words.insert(words.end(), {"--simulate", "h200-x2", "--gpus", "all"});
    const Outcome o = xferbench(words);
    EXPECT_EQ(o.exit_code, 2) << o.out;
    EXPECT_TRUE(contains(o.err, "--gpus") && contains(o.err, "p2p, together, multipath")) << o.err;
  }
}

TEST(SeveralGpus, AreMeasuredOneAfterTheOtherByMemcpy) {
  const TemporaryFolder folder;
  const auto file = folder / "r.json";
  const Outcome o = xferbench({"memcpy", "--dir", "h2d", "--host", "pinned", "--simulate", "h200-x8", "--gpus", "all",
                               "--max-samples", "6", "--json", file});
  expect_success(o);
  EXPECT_TRUE(contains(o.out, "\nall 8 GPUs are equally fast (within 1 %): h2d, pinned (")) << o.out;
  Json json = read_json(file);
  std::vector<Gpus> measured;
  for (const Json& result : json["results"]) measured.push_back(result["gpus"].get<Gpus>());
  EXPECT_EQ(measured, (std::vector<Gpus>{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}}));
  json["results"].erase(json["results"].begin() + 2, json["results"].end());
  json["complete"] = false;
  write_file(file, json.dump());
  expect_success(xferbench({"--resume", file, "--quiet"}));
  EXPECT_EQ(read_json(file)["results"].size(), 8U);
}

TEST(SeveralGpus, WhosePeerPathIsSlowAreComparedWithTheWayThroughTheHost) {
  const TemporaryFolder folder;
  const auto profile = folder / "slow.json";
  write_file(profile,
             R"({"schema":"xferbench-profile/1","base":"h200-x2","name":"slow","set":{"peer_write_rate":2e9}})");
  const Outcome o =
      xferbench({"p2p", "--pairs", "0-1", "--dir", "write,read", "--simulate", profile, "--max-samples", "6"});
  expect_success(o);
  EXPECT_TRUE(contains(o.out, "the peer path is slow between the pair; write")) << o.out;
  EXPECT_TRUE(contains(o.out, "0 to 1: 2.000 GB/s, 0.4 % of its limit; through the")) << o.out;
  EXPECT_EQ(o.out.find("peer path"), o.out.rfind("peer path")) << "reads are fast: " << o.out;
}

TEST(NumaNodes, AreEachMeasuredByMemcpy) {
  const TemporaryFolder folder;
  const auto profile = folder / "far.json";
  write_file(profile, R"({"schema":"xferbench-profile/1","base":"h200-x8","name":"far",
    "set":{"between_sockets.in":40e9,"between_sockets.out":40e9}})");
  const Arguments run{"--simulate", profile, "--numa", "all", "--gpus", "0,7", "--max-samples", "6"};
  Arguments copies{"memcpy", "--dir", "h2d", "--host", "pinned", "--json", "-"};
  copies.insert(copies.end(), run.begin(), run.end());
  const Json json = parse_json(xferbench(copies).out);
  ASSERT_EQ(json["results"].size(), 4U);
  EXPECT_EQ(json["results"][1]["params"]["numa"], 1);
  EXPECT_EQ(json["environment"]["host"]["numa_nodes"], (Json{0, 1}));
  copies.erase(copies.begin() + 5, copies.begin() + 7);
  const Outcome o = xferbench(copies);
  expect_success(o);
  EXPECT_TRUE(contains(o.out, "memory of the wrong NUMA node costs up to 2")) << o.out;
  Arguments others{"async"};
  others.insert(others.end(), run.begin(), run.end() - 4);
  expect_refusal(xferbench(others), 2, "--numa all does nothing here: async measures from one node");
  expect_refusal(xferbench({"soak", "--simulate", "--numa", "all", "--for", "1s"}), 2, "--numa all does nothing here");
}

TEST(SeveralGpus, SoakOnlyByTheLoadsThatWereAskedFor) {
  const Outcome o = xferbench(
      {"soak", "--for", "2s", "--load", "both,p2p", "--simulate", "h200-x2", "--gpus", "all", "--size", "1M"});
  EXPECT_TRUE(contains(o.out, "both") && contains(o.out, "p2p")) << o.out << o.err;
  EXPECT_FALSE(contains(o.out, "h2d")) << o.out;
}

TEST(SimulatedGpu, IsChosenByItsUuid) {
  const TemporaryFolder folder;
  const auto profile = folder / "named.json";
  write_file(profile, R"({"schema":"xferbench-profile/1","base":"h200-x8","name":"named","uuid":"GPU-8932f937"})");
  const auto on = [&](const char* gpu) {
    return xferbench({"memcpy", "--dir", "h2d", "--simulate", profile, "--gpu", gpu, "--max-samples", "6"});
  };
  const Outcome sixth = on("gpu-8932f937-6");
  expect_success(sixth);
  EXPECT_TRUE(contains(sixth.out, "(GPU 6)")) << sixth.out;
  expect_refusal(on("GPU-8932"), 3, "several GPUs have names that begin with GPU-8932: GPU 0 is GPU-8932f937-0, 1 is");
  expect_refusal(on("0000:1a:00.0"), 3, "there is no GPU 0000:1a:00.0");
}

TEST(SeveralGpus, AreNotTunedButSwept) {
  const std::string sweep = "--gpus all --strategy all --chunks 4:128";
  for (const auto& [flags, leave_out] :
       {std::pair(Arguments{"--gpus", "2"}, "leave out --gpus,"),
        {Arguments{"--strategy", "multipath"}, "leave out --strategy multipath,"},
        {Arguments{"--strategy", "multipath", "--gpus", "2"}, "leave out --gpus and --strategy multipath,"},
        {Arguments{"--split", "shared"}, "leave out --split,"}}) {
    Arguments words{"tune", "--simulate", "h200-x2", "--size", "1M"};
    words.insert(words.end(), flags.begin(), flags.end());
    const Outcome o = xferbench(words);
    EXPECT_EQ(o.exit_code, 2) << o.out;
    EXPECT_TRUE(contains(o.err, leave_out) && contains(o.err, sweep)) << o.err;
  }
  const Outcome swept = xferbench({"--gpus", "all", "--strategy", "all", "--chunks", "4:8", "--simulate", "h200-x2",
                                   "--size", "1M", "--max-samples", "6", "--budget", "0.01"});
  EXPECT_EQ(swept.exit_code, 0) << swept.err;
  EXPECT_TRUE(contains(swept.out, "multipath")) << swept.out;
}

TEST(SeveralGpus, DoNotTakeTurnsSerially) {
  for (const auto& [flag, value] : {std::pair("--gpus", "all"), {"--split", "each"}}) {
    const Outcome o = xferbench({"--simulate", "h200-x2", "--strategy", "serial", flag, value});
    EXPECT_EQ(o.exit_code, 2) << o.out;
    EXPECT_TRUE(contains(o.err, std::string("or leave out ") + flag + "\n")) << o.err;
  }
}

TEST(SeveralGpus, ThatAreNotThereAreAskedForInWordsThatFit) {
  for (const Arguments& asked : {Arguments{}, {"--gpus", "all"}}) {
    Arguments words{"--split", "shared", "--simulate", "h200"};
    words.insert(words.end(), asked.begin(), asked.end());
    const Outcome o = xferbench(words);
    EXPECT_EQ(o.exit_code, 5) << o.out;
    EXPECT_TRUE(contains(o.out, "give --gpus on a machine with more")) << o.out;
  }
}

TEST(SeveralGpus, OneThatIsLostTakesOnlyItsOwnCasesAlong) {
  const TemporaryFolder folder;
  const auto file = folder / "r.json";
  Options lossy;
  lossy.environment["XFERBENCH_INJECT"] = "lose:copy:3";
  const Arguments command{"--pattern", "h2d,d2h", "--group", "alone,pairs", "--size", "1M", "--json", file};
  const Outcome o = xferbench(on_two("together", command), lossy);
  EXPECT_EQ(o.exit_code, 1) << o.err;
  const Json results = read_json(file)["results"];
  EXPECT_EQ(results.size(), 6U) << "both alone and the pair, in both directions";
  for (const Json& r : results) {
    const bool has_first = contains(r["key"].get<std::string>(), "group=0");
    EXPECT_EQ(r["status"] == "ok", !has_first) << r["key"] << " " << r["reason"];
  }
}

TEST(SeveralGpus, RunsGoOnWhereTheyWereStopped) {
  const TemporaryFolder folder;
  const auto file = folder / "r.json";
  const auto keys = [&file] {
    Arguments all;
    const Json json = read_json(file);
    for (const Json& r : json["results"]) {
      EXPECT_EQ(r["status"], "ok") << r["key"];
      all.push_back(r["key"]);
    }
    return all;
  };
  const Outcome whole = xferbench(on_two("p2p", {"--size", "1M", "--json", file}));
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  const Arguments cases = keys();
  ASSERT_EQ(cases.size(), 6U);
  Json json = read_json(file);
  json["complete"] = false;
  json["results"].erase(json["results"].begin() + 1, json["results"].end());
  json.erase("findings");
  write_file(file, json.dump());
  for (const char* then : {"stopped", "complete"}) {
    const Outcome rest = xferbench({"--resume", file, "--quiet"});
    EXPECT_EQ(rest.exit_code, 0) << then << rest.err;
    EXPECT_EQ(keys(), cases) << then;
  }
}

TEST(SeveralGpus, OfARunAreNamedInItsFile) {
  const TemporaryFolder folder;
  const auto file = folder / "r.json";
  ASSERT_EQ(xferbench(on_two("overlap", {"--gpus", "all", "--size", "4M", "--json", file})).exit_code, 0);
  const Json json = read_json(file);
  expect_valid_results(file);
  EXPECT_EQ(json["environment"]["gpus"].size(), 2U);
  EXPECT_EQ(json["environment"]["links"].size(), 2U);
  const Json& r = json["results"].front();
  EXPECT_EQ(r["gpus"].get<Gpus>(), (Gpus{0, 1}));
  EXPECT_EQ(r["gpu_metrics"].size(), 2U);
}

TEST(SeveralGpus, OfTheMachineAreListed) {
  const Outcome o = xferbench({"list", "gpus", "--simulate", "h200-x2"});
  expect_success(o);
  EXPECT_TRUE(contains(o.out, "GPU          1: NVIDIA H200") && contains(o.out, "peers ")) << o.out;
  const Outcome eight = xferbench({"info", "--simulate", "h200-x8"});
  EXPECT_TRUE(contains(eight.out, "\nNUMA nodes   0: GPUs 0 to 3; 1: GPUs 4 to 7\n")) << eight.out;
  const Outcome one = xferbench({"list", "gpus", "--simulate", "h200-x8", "--gpu", "5"});
  EXPECT_TRUE(contains(one.out, "\n  NUMA node  1\n")) << one.out;
  EXPECT_EQ(xferbench({"list", "suites", "--gpus", "2"}).exit_code, 2);
  EXPECT_EQ(xferbench({"list", "gpus", "--simulate", "h200-x2", "--gpus", "5"}).exit_code, 3);
}

TEST(SeveralGpus, OfADryRunAreNotKnownAndStayWords) {
  const Outcome pairs = xferbench({"p2p", "--dry-run", "--dir", "write,read"});
  expect_success(pairs);
  EXPECT_EQ(lines(pairs.out), (Arguments{"p2p/pairs=all/op=copy/dir=write/engine=ce/access=peer/size=256MiB",
                                         "p2p/pairs=all/op=copy/dir=read/engine=ce/access=peer/size=256MiB"}));
  const Outcome groups = xferbench({"together", "--dry-run", "--pattern", "h2d,ring", "--group", "alone,pairs"});
  expect_success(groups);
  EXPECT_EQ(lines(groups.out), (Arguments{"together/pattern=h2d/group=alone/memory=own/size=256MiB",
                                          "together/pattern=h2d/group=pairs/memory=own/size=256MiB",
                                          "together/pattern=ring/group=pairs/size=256MiB"}));
}

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

TEST(TogetherTable, OfTwoGpusSaysWhatTheyShare) {
  Options narrow;
  narrow.out = Sink::terminal(80);
  const Outcome o = xferbench(few_samples("together", {"--simulate", "h200-x2", "--color", "never"}), narrow);
  EXPECT_EQ(o.exit_code, 0) << o.err;
  expect_golden("together.txt", o.out);
}

TEST(Together, OneGpuHasNobodyToCopyTo) {
  expect_refusal(xferbench({"together", "--simulate", "h200-x2", "--pattern", "ring", "--group", "alone"}), 2,
                 "--group pairs");
  expect_refusal(xferbench({"together", "--simulate", "h200-x2", "--group", "0-1"}), 2, "--group");
}

}  // namespace
}  // namespace xferbench::test
