// Profile files of simulated machines: fields, defaults and error messages.
#include "device/sim/profile_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "device/sim/profile_fields.hpp"
#include "results/calibration.hpp"

namespace xferbench {
namespace {

using sim::parse_profile;
using sim::Profile;
using Changes = std::vector<Environment::ProfileChange>;

std::string profile_with(const std::string& rest) {
  return R"({"schema": "xferbench-profile/1", "base": "h200", "name": "n")" + rest + "}";
}

const Profile& built_in(std::string_view name) { return *std::ranges::find(sim::profiles(), name, &Profile::name); }

double number(const Profile& profile, std::string_view field) { return sim::find_profile_field(field)->get(profile); }

std::string refusal_of(const std::string& text) {
  try {
    static_cast<void>(parse_profile(text, "p.json"));
  } catch (const InputError& error) {
    return error.what();
  }
  ADD_FAILURE() << text;
  return "";
}

void expect_refused_profile(const std::string& rest, const std::vector<std::string>& said) {
  const std::string message = refusal_of(profile_with(rest));
  EXPECT_TRUE(message.starts_with("p.json:")) << message;
  EXPECT_LT(message.size(), 1000U) << message;
  for (const std::string& words : said) EXPECT_NE(message.find(words), std::string::npos) << message;
}

TEST(ProfileFile, WithoutChangesIsItsBaseByAnotherName) {
  const Profile p = parse_profile(profile_with(""), "p").profile;
  EXPECT_EQ(p.name, "n");
  EXPECT_EQ(p.base, "h200");
  EXPECT_EQ(p.gpu_name, built_in("h200").gpu_name);
  EXPECT_EQ(p.changes, Changes{});
  EXPECT_EQ(p.uuid, "");
  EXPECT_EQ(p.varies.noise, 0);
  for (const sim::ProfileField& field : sim::profile_fields()) {
    EXPECT_EQ(field.get(p), field.get(built_in("h200"))) << field.name;
  }
}

TEST(ProfileFile, ScalesTheRatesOfParts) {
  for (const sim::Part part : {sim::Part::link, sim::Part::gpu, sim::Part::host_memory, sim::Part::nvlink}) {
    const std::string name(to_text(part));
    const Profile p = parse_profile(profile_with(R"(, "scale": {")" + name + R"(": 0.5})"), "p").profile;
    std::size_t scaled = 0;
    for (const sim::ProfileField& field : sim::profile_fields()) {
      const double before = field.get(built_in("h200"));
      EXPECT_EQ(field.get(p), field.belongs_to(part) ? before / 2 : before) << name << ": " << field.name;
      scaled += field.belongs_to(part) ? 1 : 0;
    }
    EXPECT_GT(scaled, 3U) << name;
    EXPECT_EQ(p.changes, (Changes{{"scale." + name, 0.5}}));
  }
}

TEST(ProfileFile, PartsHoldWhatTheyAreNamedFor) {
  const auto belongs = [](std::string_view field, sim::Part part) {
    return sim::find_profile_field(field)->belongs_to(part);
  };
  for (const auto* field : {"h2d_rate", "d2h_rate", "kernel_h2d_rate", "kernel_d2h_rate"}) {
    EXPECT_TRUE(belongs(field, sim::Part::link)) << field;
    EXPECT_TRUE(belongs(field, sim::Part::host_memory)) << field << ": a slow host shows in all host transfers";
    EXPECT_FALSE(belongs(field, sim::Part::gpu)) << field;
  }
  for (const auto* field : {"d2d_rate", "fill_rate", "kernel_traffic_rate", "fma_rate", "sm_clock_hz"}) {
    EXPECT_TRUE(belongs(field, sim::Part::gpu)) << field;
    EXPECT_FALSE(belongs(field, sim::Part::link)) << field;
  }
  for (const auto* field : {"pageable_h2d_rate", "pageable_d2h_rate", "host_copy_rate", "socket_memory.duplex_in"}) {
    EXPECT_TRUE(belongs(field, sim::Part::host_memory)) << field;
    EXPECT_FALSE(belongs(field, sim::Part::link)) << field;
  }
}

TEST(ProfileFile, SetsNumbersAfterScaling) {
  const Profile p =
      parse_profile(profile_with(R"(, "set": {"h2d_rate": 50e9, "copy_engines": 1, "socket_memory.in": 9e10},
                                     "scale": {"link": 0.5, "host_memory": 3})"),
                    "p")
          .profile;
  EXPECT_EQ(number(p, "h2d_rate"), 50e9);
  EXPECT_EQ(number(p, "d2h_rate"), number(built_in("h200"), "d2h_rate") * 0.5 * 3);
  EXPECT_EQ(p.copy_engines, 1U);
  EXPECT_EQ(p.socket_memory.in, 9e10);
  EXPECT_EQ(p.changes, (Changes{{"scale.host_memory", 3.0},
                                {"scale.link", 0.5},
                                {"set.copy_engines", 1.0},
                                {"set.h2d_rate", 50e9},
                                {"set.socket_memory.in", 9e10}}));
}

TEST(ProfileFile, SaysWhatVariesAndWhatARankIsLike) {
  const sim::ProfileFile file = parse_profile(
      profile_with(R"(, "noise": 0.01, "seed": 7, "late": {"probability": 0.25, "seconds": 0.002}, "uuid": "GPU-1",
                      "gpu": "Some GPU", "host": "node0", "clock": {"offset": -0.3, "drift": 2e-5},
                      "network": {"within": {"latency": 1e-6, "bandwidth": 1e10},
                                  "between": {"latency": 2e-6, "bandwidth": 2e10}, "jitter": 0},
                      "inject": "die:launch:5")"),
      "p");
  EXPECT_EQ(file.profile.varies.noise, 0.01);
  EXPECT_EQ(file.profile.varies.seed, 7U);
  EXPECT_EQ(file.profile.varies.late_probability, 0.25);
  EXPECT_EQ(file.profile.varies.late_seconds, 0.002);
  EXPECT_EQ(file.profile.uuid, "GPU-1");
  EXPECT_EQ(file.profile.gpu_name, "Some GPU");
  const ModelledRank rank{
      .host = "node0",
      .clock = {.offset = -0.3, .drift = 2e-5},
      .network = {.within = ModelledRank::Way{1e-6, 1e10}, .between = ModelledRank::Way{2e-6, 2e10}, .jitter = 0.0}};
  EXPECT_EQ(file.rank, rank);
  ASSERT_TRUE(file.fault);
  EXPECT_EQ(file.fault->effect, InjectedFault::Effect::die);
  std::vector<std::string> names;
  for (const auto& change : file.profile.changes) names.push_back(change.name);
  EXPECT_EQ(names, (std::vector<std::string>{"clock.drift", "clock.offset", "gpu", "inject", "late.probability",
                                             "late.seconds", "network.between.bandwidth", "network.between.latency",
                                             "network.jitter", "network.within.bandwidth", "network.within.latency",
                                             "noise", "seed"}));
}

TEST(ProfileFile, ASeedWithoutChanceIsNoChange) {
  EXPECT_EQ(parse_profile(profile_with(R"(, "seed": 9)"), "p").profile.changes, Changes{});
}

TEST(ProfileFile, SaysWhatIsWrongWithIt) {
  EXPECT_NE(refusal_of("[]").find("expected an object with schema, base and name"), std::string::npos);
  EXPECT_NE(refusal_of("").find("found the end of the file"), std::string::npos);
  EXPECT_NE(refusal_of(R"({"schema": "xferbench/1"})").find("expected 'xferbench-profile/1'"), std::string::npos);
  EXPECT_NE(refusal_of(R"({"schema": "xferbench-profile/1", "base": "h20", "name": "n"})").find("did you mean 'h200'"),
            std::string::npos);
  EXPECT_NE(refusal_of(R"({"schema": "xferbench-profile/1", "base": "h200"})").find("has no 'name'"),
            std::string::npos);
  EXPECT_NE(refusal_of(R"({"schema": "xferbench-profile/1", "base": "h200", "name": "h200-x2"})")
                .find("is a built-in profile"),
            std::string::npos);
  expect_refused_profile(R"(, "scal": {})", {"unknown field 'scal'", "did you mean 'scale'"});
  expect_refused_profile(R"(, "scale": {"lnk": 1})", {"unknown part 'lnk'", "did you mean 'link'"});
  expect_refused_profile(R"(, "set": {"h2drate": 1})", {"unknown field 'h2drate'", "did you mean 'h2d_rate'"});
  expect_refused_profile(R"(, "set": {"noise": 1})", {"unknown field 'noise'"});
  expect_refused_profile(R"(, "set": {"h2d_rate": 1e9, "h2d_rate": 2e9})", {"'h2d_rate' occurs twice"});
  expect_refused_profile(R"(, "late": {"probability": 1})", {"late", "has no 'seconds'"});
  expect_refused_profile(R"(, "network": {"within": {"latency": 1}})", {"has no 'bandwidth'"});
  expect_refused_profile(R"(, "name": "again")", {"twice"});
  expect_refused_profile(R"(, "inject": "burn:launch:5")", {"inject: found 'burn:launch:5'", "die"});
  expect_refused_profile(R"(, "inject": "die:lunch:5")", {"launch"});
  expect_refused_profile(R"(, "uuid": "")", {"expected a text of 1 to 100 characters"});
  expect_refused_profile(R"(, "uuid": ")" + std::string(1000, 'x') + R"(")", {"expected a text of 1 to 100"});
}

TEST(ProfileFile, WantsIntervalsThatHoldTheirNumbers) {
  const auto source = [](const std::string& interval) {
    return R"(, "set": {"h2d_rate": 5e10}, "sources": {"h2d_rate": {)" + interval + R"("source": "r.json: k"}})";
  };
  expect_refused_profile(source(R"("high": 6e10, )"), {"sources.h2d_rate", "has only 'high'", "low and high"});
  expect_refused_profile(source(R"("low": 4e10, )"), {"has only 'low'"});
  expect_refused_profile(source(R"("low": 6e10, "high": 4e10, )"), {"'h2d_rate'", "from low 60000000000 to high 4"});
  expect_refused_profile(source(R"("low": 5.1e10, "high": 6e10, )"), {"which is outside its interval"});
  EXPECT_TRUE(parse_profile(profile_with(source("")), "p").uncertain.empty());
  const sim::ProfileFile known = parse_profile(profile_with(source(R"("low": 4e10, "high": 6e10, )")), "p");
  ASSERT_EQ(known.uncertain.size(), 1U);
  EXPECT_EQ(known.sources, std::vector<std::string>{"r.json: k"});
}

TEST(ProfileFile, HoldsNumbersToTheirLimits) {
  for (const auto* rest : {R"("scale": {"link": 0})",
                           R"("scale": {"link": -1})",
                           R"("scale": {"gpu": 1e4})",
                           R"("scale": {"gpu": "1"})",
                           R"("scale": {"gpu": null})",
                           R"("set": {"h2d_rate": 0})",
                           R"("set": {"h2d_rate": -50e9})",
                           R"("set": {"h2d_rate": true})",
                           R"("set": {"wake_up": -1e-6})",
                           R"("set": {"wake_up": 2})",
                           R"("set": {"h2d_duplex_rate": 1.5})",
                           R"("set": {"copy_engines": 3})",
                           R"("set": {"copy_engines": 1.5})",
                           R"("set": {"copy_engines": 0})",
                           R"("set": {"gpus": 1e3})",
                           R"("noise": 0.6)",
                           R"("noise": -0.1)",
                           R"("seed": -1)",
                           R"("seed": 1.5)",
                           R"("late": {"probability": 1.1, "seconds": 0})",
                           R"("late": {"probability": 1, "seconds": -1})",
                           R"("clock": {"drift": 1})",
                           R"("clock": {"offset": 1e9})",
                           R"("network": {"within": {"latency": 0, "bandwidth": 0}})",
                           R"("scale": {"link": 1e999})"}) {
    expect_refused_profile(", " + std::string(rest), {"number"});
  }
  for (const auto* copy_engines : {"-1", "1.5", "0"}) {
    expect_refused_profile(fmt::format(R"(, "set": {{"copy_engines": {}}})", copy_engines),
                           {fmt::format("found the number {}, expected a whole number from 1 to 2", copy_engines)});
  }
  for (const auto* rest : {R"("clock": {"offset": -5, "drift": -1e-4})", R"("set": {"wake_up": 0})",
                           R"("set": {"gpus": 2, "sockets": 1})", R"("scale": {"link": 1000, "gpu": 0.001})"}) {
    EXPECT_NO_THROW(static_cast<void>(parse_profile(profile_with(", " + std::string(rest)), "p"))) << rest;
  }
}

TEST(ProfileFile, IsRefusedWhereItsNumbersContradictEachOther) {
  expect_refused_profile(R"(, "set": {"sockets": 2})", {"2 sockets, but 1 GPU"});
  expect_refused_profile(R"(, "set": {"sockets": 2, "gpus": 2})", {"capacity of 0 between them"});
}

TEST(ProfileFile, MayNestAsItLikesWhereItIsRefused) {
  expect_refused_profile(R"(, "scale": )" + std::string(1'000'000, '['), {"found a list, expected an object"});
  expect_refused_profile(R"(, "scale": {"link": )" + std::string(1'000'000, '['), {"found a list"});
}

// --- The table of fields --------------------------------------------------------------------------------------------

TEST(ProfileFields, AreAllNumbersOfAProfile) {
  std::ifstream header(XFERBENCH_SOURCE_DIR "/src/device/sim/profile.hpp");
  const std::regex declaration(R"(^  (double|unsigned|std::uint64_t|Capacity) (\w+)( = [^;]*|\{[^;]*\})?;.*)");
  std::set<std::string> declared;
  std::smatch match;
  for (std::string line; std::getline(header, line);) {
    if (!std::regex_match(line, match, declaration)) continue;
    if (match[1] != "Capacity") declared.insert(match[2]);
    for (const auto* side : {".in", ".out", ".duplex_in", ".duplex_out"}) {
      if (match[1] == "Capacity") declared.insert(match[2].str() + side);
    }
  }
  std::set<std::string> known;
  for (const sim::ProfileField& field : sim::profile_fields()) known.emplace(field.name);
  EXPECT_EQ(known, declared);
  EXPECT_EQ(known.size(), sim::profile_fields().size()) << "one is there twice";
}

TEST(ProfileFields, EachSetsWhatItGets) {
  for (const sim::ProfileField& field : sim::profile_fields()) {
    Profile p = built_in("h200-x8");
    const double before = field.get(p);
    EXPECT_GE(before, field.quantity->least) << field.name;
    EXPECT_LE(before, field.quantity->most) << field.name;
    const double other = before == field.quantity->most ? field.quantity->least : field.quantity->most;
    field.set(p, other);
    EXPECT_EQ(field.get(p), other) << field.name;
    for (const sim::ProfileField& another : sim::profile_fields()) {
      if (another.name == field.name) continue;
      EXPECT_EQ(another.get(p), another.get(built_in("h200-x8"))) << another.name;
    }
  }
}

TEST(ProfileExample, IsRead) {
  const sim::ProfileFile file = sim::read_profile(XFERBENCH_SOURCE_DIR "/docs/examples/slow-link.json");
  EXPECT_EQ(file.profile.name, "slow-link");
  EXPECT_EQ(file.profile.h2d_rate, 0.9 * built_in("h200").h2d_rate);
}

// --- Names of profiles ----------------------------------------------------------------------------------------------

TEST(ProfileNames, AreTextsForHeadings) {
  Environment e;
  e.profile = "h200";
  EXPECT_EQ(e.profile_text(), "h200");
  e.profile = "slow";
  e.profile_base = "h200";
  EXPECT_EQ(e.profile_text(), "slow (h200)");
  e.profile_changes = {{"inject", "die:launch:5"}, {"noise", 0.005}, {"scale.link", 0.9}, {"set.wake_up", 5e-6}};
  EXPECT_EQ(e.profile_text(), "slow (h200 with link x 0.9, wake_up 5e-06, inject die:launch:5, noise 0.005)");
  EXPECT_EQ(e.profile_text(2), "slow (h200 with link x 0.9, wake_up 5e-06 and 2 more changes)");
  EXPECT_EQ(e.profile_text(3), "slow (h200 with link x 0.9, wake_up 5e-06, inject die:launch:5 and 1 more change)");
  EXPECT_EQ(e.injected_fault(), "die:launch:5");
  e.profile_changes = {{"set.copy_engines", 3.0}, {"set.h2d_rate", 55243042842.201103}};
  EXPECT_EQ(e.profile_text(2), "slow (h200 with copy_engines 3, h2d_rate 5.5243e+10)");
  EXPECT_EQ(e.profile_text(), "slow (h200 with copy_engines 3, h2d_rate 55243042842.2011)") << "tells profiles apart";
}

TEST(PathsOfRanks, HavePlacesForWhatTellsRanksApart) {
  EXPECT_EQ(for_rank("d/rank-%r.json", 12, 4, "node3"), "d/rank-12.json");
  EXPECT_EQ(for_rank("%h/%l-of-%r%%.json", 12, 4, "node3"), "node3/4-of-12%.json");
  EXPECT_EQ(for_rank("%%r", 12, 4, "%l"), "%r") << "read once";
  EXPECT_EQ(for_rank("%h", 0, 0, "%l"), "%l") << "what is put in is not read again";
  EXPECT_EQ(for_rank("h200", 1, 1, "n"), "h200");
  for (const auto* path : {"a%", "a%x", "%R.json", "% r"}) {
    EXPECT_THROW(static_cast<void>(for_rank(path, 0, 0, "n")), UsageError) << path;
  }
}

}  // namespace
}  // namespace xferbench
