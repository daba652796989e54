// The overlap scenario as users call it: a flag that means "yes", and the sentence that says where the time went.
#include <algorithm>
#include <cmath>
#include <regex>
#include <sstream>

#include "cli/support.hpp"

namespace xferbench::test {
namespace {

std::string keys_of(Arguments arguments) {
  arguments.emplace_back("--dry-run");
  const Outcome o = xferbench(arguments);
  expect_success(o);
  return o.out;
}

TEST(InPlace, MeansYesWithoutAValueAndTakesOne) {
  for (const auto& [arguments, value] : std::vector<std::pair<Arguments, std::string>>{
           {{"--in-place"}, "yes"},
           {{"--in-place", "--size", "4M"}, "yes"},
           {{"--in-place", "overlap", "--size", "4M"}, "yes"},  // a scenario's name is none
           {{"--in-place", "no"}, "no"},
           {{"--in-place=no"}, "no"}}) {
    const std::string keys = keys_of(arguments);
    EXPECT_TRUE(contains(keys, "/in-place=" + value + "/")) << keys;
    EXPECT_EQ(lines(keys).size(), 1U) << keys;
  }
  EXPECT_FALSE(contains(keys_of({"--size", "4M"}), "in-place")) << "absent unless given";
  EXPECT_EQ(lines(keys_of({"--in-place", "no,yes"})).size(), 2U);
}

TEST(InPlace, RunsAndIsVerified) {
  const Json json = parse_json(xferbench(small_run({"--in-place", "--json", "-"})).out);
  EXPECT_EQ(json["results"][0]["status"], "ok");
  EXPECT_EQ(json["results"][0]["params"]["in-place"], "yes");
}

// --- Where the time went ---------------------------------------------------------------------------------------------

Json finding(const Json& json, const char* kind) {
  for (const Json& f : json["findings"]) {
    if (f["kind"] == kind) return f;
  }
  return nullptr;
}

TEST(Diagnosis, StandsUnderTheTableForTheFastest) {
  const Outcome o = xferbench({"--simulate", "--size", "64M", "--streams", "1,4", "--chunks", "4,32"});
  expect_success(o);
  // Broken into lines that a terminal holds.
  std::string found;
  bool goes_on = false;
  for (const std::string& line : lines(o.out)) {
    const bool begins = line.starts_with("  streams 4, chunks 32: ") && contains(line, "makespan: ");
    goes_on = begins || (goes_on && line.starts_with("    "));
    if (goes_on) found += begins ? line : line.substr(3);
  }
  for (const std::string& line : lines(o.out)) EXPECT_LE(line.size(), 160U) << line;
  const std::regex sentence(
      "  streams 4, chunks 32: [0-9.]+ ms makespan: [0-9.]+ ms are the limit, set by the link, both directions at the "
      "rates that they have while both run \\([0-9.]+ us of it because the two directions slow each other\\); [0-9.]+ "
      "us filling and draining; [0-9.]+ us what each operation costs; "
      "([0-9.]+ [un]s waiting for slots or streams; )?"
      "-?[0-9.]+ [un]s unexplained");
  EXPECT_TRUE(std::regex_match(found, sentence)) << found;
  EXPECT_GT(o.out.find("  streams 4, chunks 32: "), o.out.find("efficiency, %")) << "under the table";
}

TEST(Diagnosis, ItsPartsAddUpToTheMakespan) {
  for (const Arguments& more : {Arguments{}, Arguments{"--strategy", "double-buffer"}, Arguments{"--streams", "1"},
                                Arguments{"--strategy", "graph"}, Arguments{"--work", "5000"}}) {
    Arguments arguments{"--simulate", "--size", "64M", "--no-verify", "--json", "-"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Json json = parse_json(xferbench(arguments).out);
    const Json diagnosis = finding(json, "diagnosis");
    ASSERT_FALSE(diagnosis.is_null());
    EXPECT_EQ(diagnosis["labels"]["case"], json["results"][0]["key"]);
    const auto value = [&](const char* name) { return diagnosis["metrics"][name]["value"].get<double>(); };
    double sum = value("bound");
    for (const char* part : {"time_fill_drain", "time_overhead", "time_slots", "time_submission"}) {
      EXPECT_GE(value(part), 0) << part;
      sum += value(part);
    }
    EXPECT_NEAR(sum + value("time_unexplained"), value("makespan"), 1e-12) << diagnosis["text"];
    EXPECT_LT(std::abs(value("time_unexplained")), 0.02 * value("makespan")) << diagnosis["text"];
    EXPECT_EQ(value("makespan"), json["results"][0]["metrics"]["makespan"]["value"].get<double>());
  }
}

TEST(Diagnosis, OfAKernelThatIsTheLimitNamesIt) {
  const Outcome o = xferbench({"--simulate", "--size", "64M", "--work", "20000", "--no-verify"});
  EXPECT_TRUE(contains(o.out, " are the limit, set by the kernel; ")) << o.out;
}

TEST(Diagnosis, IsOneForEachAmountOfWork) {
  const Json json =
      parse_json(xferbench({"--simulate", "--size", "16M,64M", "--streams", "2,4", "--no-verify", "--json", "-"}).out);
  std::size_t diagnoses = 0;
  for (const Json& f : json["findings"]) diagnoses += f["kind"] == "diagnosis" ? 1 : 0;
  EXPECT_EQ(diagnoses, 2U);
}

// What is advised can be given, and keeps its promise on a machine that is as the model says.
TEST(Suggestion, MakesItFaster) {
  const Arguments command{"--simulate", "--size", "256M", "--no-verify", "--json", "-"};
  const auto run_with = [&command](const Arguments& more) {
    Arguments arguments = command;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return parse_json(xferbench(arguments).out);
  };
  const Json before = run_with({"--streams", "4", "--chunks", "2"});
  const Json suggestion = finding(before, "suggestion");
  ASSERT_FALSE(suggestion.is_null());
  const std::string flags = suggestion["labels"]["flags"];
  EXPECT_TRUE(contains(suggestion["text"], "try " + flags + ": the model expects it to be ")) << suggestion["text"];
  Arguments followed;
  std::istringstream words(flags);
  for (std::string word; words >> word;) followed.push_back(word);
  const auto makespan = [](const Json& json) {
    return json["results"][0]["metrics"]["makespan"]["value"].get<double>();
  };
  const double promised = (1 - suggestion["metrics"]["suggestion_gain"]["value"].get<double>()) * makespan(before);
  EXPECT_NEAR(makespan(run_with(followed)), promised, 0.02 * promised) << flags;
}

TEST(Suggestion, IsNotMadeWhereThereIsNothingToGain) {
  const Json json = parse_json(xferbench({"--simulate", "--size", "1G", "--chunks", "64", "--growth", "1.03",
                                          "--streams", "8", "--no-verify", "--json", "-"})
                                   .out);
  EXPECT_TRUE(finding(json, "suggestion").is_null()) << finding(json, "suggestion");
}

}  // namespace
}  // namespace xferbench::test
