// `xferbench compare` as users and CI call it: files in; a table, Markdown or JSON and an exit code out.
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "cli/support.hpp"

namespace xferbench::test {
namespace {

namespace fs = std::filesystem;

/// The results file of one simulated run, and copies of it with scaled numbers.
class Compare : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>();
    expect_success(xferbench({"--simulate", "memcpy", "--dir", "h2d,d2h", "--host", "pinned", "--size", "16M,64M",
                              "--max-samples", "10", "--json", file("base.json"), "--quiet"}));
    base_ = read_json(file("base.json"));
    ASSERT_EQ(base_["results"].size(), 4U);
    // The commit would differ between builds, and is not the subject here.
    base_["tool"].erase("git");
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static std::string file(const std::string& name) { return (*folder_ / name).string(); }
  static const Json& base() { return base_; }

  static std::string write(const std::string& name, const Json& json) {
    write_file(file(name), json.dump());
    return file(name);
  }

  /// Multiplies the samples of the first measurement by `factor`, with the same small noise on every call.
  static void scale(Json& result, double factor) {
    Json& m = result["measurements"][0];
    m["samples"].clear();
    for (const int step : {-5, 4, -3, 2, -1, 1, -2, 3, -4, 5})
      m["samples"].push_back(1e-3 * factor * (1 + step * 1e-4));
    for (const char* name : {"min", "median", "max"}) m[name] = 1e-3 * factor;
    m.erase("ci95");
    m.erase("p90");
  }

  static Json scaled(double first, double others) {
    Json json = base();
    for (std::size_t i = 0; i < json["results"].size(); ++i) scale(json["results"][i], i == 0 ? first : others);
    return json;
  }

 private:
  static inline std::unique_ptr<TemporaryFolder> folder_;
  static inline Json base_;
};

/// Assumes no spread between processes unless the command is --across: most tests here are not about that spread.
Outcome compare(Arguments arguments) {
  const bool judges = std::ranges::find(arguments, "--across") == arguments.end();
  arguments.insert(arguments.begin(), "compare");
  if (judges) arguments.insert(arguments.begin() + 1, "--assume-spread=0");
  return xferbench(arguments);
}

/// Without --assume-spread, as most people call it.
Outcome compare_by_default(Arguments arguments) {
  arguments.insert(arguments.begin(), "compare");
  return xferbench(arguments);
}

TEST_F(Compare, OfAFileWithItselfIsAllTheSame) {
  const std::string a = write("a.json", scaled(1, 1));
  const Outcome o = compare({a, a, "--strict"});
  EXPECT_EQ(o.exit_code, 0);
  EXPECT_TRUE(contains(o.out, "4 same"));
  EXPECT_TRUE(contains(o.out, "SIMULATED"));
  EXPECT_TRUE(contains(o.err, "are the same run"));
}

TEST_F(Compare, ARegressionIsExitCodeOne) {
  const std::string a = write("a.json", scaled(1, 1));
  const std::string b = write("b.json", scaled(1.1, 1));
  const Outcome slower = compare({a, b});
  EXPECT_EQ(slower.exit_code, 1);
  EXPECT_TRUE(contains(slower.out, "1 regressed, 3 same")) << slower.out;
  EXPECT_TRUE(contains(slower.out, "+10.0 %"));
  const Outcome faster = compare({b, a, "--strict"});
  EXPECT_EQ(faster.exit_code, 0);
  EXPECT_TRUE(contains(faster.out, "1 improved, 3 same"));
  EXPECT_EQ(compare({a, b, "--threshold", "20"}).exit_code, 0);
  Json fewer = scaled(1, 1);
  fewer["results"].erase(0);
  EXPECT_EQ(compare({a, write("fewer.json", fewer)}).exit_code, 0);
  EXPECT_EQ(compare({a, write("fewer.json", fewer), "--strict"}).exit_code, 4) << "a case is missing";
}

TEST_F(Compare, OneProcessASideFindsWhatIsMuchSlowerAndSaysWhatItCouldNotHaveFound) {
  const std::string a = write("a.json", scaled(1, 1));
  const std::string b = write("b.json", scaled(1.002, 1.001));
  const Outcome blind = compare_by_default({a, b});
  EXPECT_EQ(blind.exit_code, 4) << blind.out;
  EXPECT_TRUE(contains(blind.err, "2 % is assumed (--assume-spread)"));
  EXPECT_TRUE(contains(blind.out, "exit 4 because too little data to detect a slow-down of 6 %"));
  EXPECT_EQ(compare_by_default({a, b, "--assume-spread", "0.3"}).exit_code, 0);
  EXPECT_EQ(compare_by_default({a, write("slow.json", scaled(10, 1))}).exit_code, 1);
  expect_refusal(compare_by_default({a, b, "--assume-spread", "-1"}), 2, "--assume-spread");
  expect_refusal(compare_by_default({"--across", a, b, "--assume-spread", "1"}), 2, "--across");
}

TEST_F(Compare, IsJudgedByASpreadThatARepeatKept) {
  const std::string spread = file("spread.json");
  const Arguments repeat{
      "--simulate", "memcpy",        "--dir",  "h2d,d2h",  "--size", "16M,64M", "--host",
      "pinned",     "--max-samples", "10",     "--repeat", "3",      "--json",  file("repeated.json"),
      "--spread",   spread,          "--quiet"};
  expect_success(xferbench(repeat));
  const Json kept = read_json(spread);
  EXPECT_EQ(kept["schema"], "xferbench-spread/1");
  EXPECT_EQ(kept["cases"].size(), 4U);
  EXPECT_EQ(kept["cases"][0]["processes"], 3);
  const std::string a = write("a.json", scaled(1, 1));
  const std::string b = write("b.json", scaled(1.001, 1));
  const Outcome o = compare_by_default({a, b, "--spread", spread, "--json", file("o.json")});
  EXPECT_EQ(o.exit_code, 0) << o.out;
  EXPECT_EQ(read_json(file("o.json"))["cases"][0]["spread_from"], "known");
  expect_success(xferbench(repeat));  // a second run adds to the existing file
  EXPECT_EQ(read_json(spread)["cases"].size(), 4U);
  expect_refusal(compare_by_default({a, b, "--spread", a}), 2, "xferbench-spread/1");
  expect_refusal(compare_by_default({a, b, "--spread", spread, "--json", spread}), 2, "which is an input");
  expect_refusal(xferbench({"--simulate", "--spread", spread}), 2, "--repeat");
  Json other = kept;
  other["profile"] = "pcie4";
  expect_refusal(compare_by_default({a, b, "--spread", write("other.json", other)}), 2, "simulated by profile pcie4");
}

TEST_F(Compare, WritesMarkdownAndJson) {
  const std::string a = write("a.json", scaled(1, 1));
  const std::string b = write("b.json", scaled(1.1, 1));
  const Outcome o = compare({a, b, "--markdown", "-", "--json", file("o.json")});
  EXPECT_EQ(o.exit_code, 1);
  EXPECT_TRUE(o.out.starts_with("### xferbench: 1 regressed, 3 same\n"));
  const Json json = read_json(file("o.json"));
  EXPECT_EQ(json["schema"], "xferbench-compare/1");
  EXPECT_EQ(json["cases"].size(), 4U);
  const Outcome piped = compare({a, b, "--json", "-"});
  EXPECT_EQ(parse_json(piped.out)["summary"]["regressed"], 1);
  EXPECT_EQ(compare({a, b, "--json", "/dev/full"}).exit_code, 2);
}

TEST_F(Compare, RefusesTheSameProcessTwiceOnASide) {
  const std::string a = write("a.json", scaled(1, 1));
  const std::string b = write("b.json", scaled(1.1, 1));
  expect_refusal(compare({"--base", a, b, a, "--new", b}), 2, "a.json is given twice on one side");
  expect_refusal(compare({a, b, file("./b.json")}), 2, "is given twice on one side (as ");
}

TEST_F(Compare, ShowsColumnsInTheOrderOfTheFiles) {
  const auto on = [](const std::string& gpu) {
    Json json = scaled(1, 1);
    json["environment"]["gpu"]["name"] = gpu;
    return write(gpu + ".json", json);
  };
  const Outcome o = compare({on("first"), "--across", on("second"), on("third")});
  expect_success(o);
  EXPECT_LT(o.out.find("first"), o.out.find("second")) << o.out;
  EXPECT_LT(o.out.find("second"), o.out.find("third"));
}

TEST_F(Compare, SaysWhereAllMeansNothing) {
  const std::string a = write("a.json", scaled(1, 1));
  expect_refusal(compare({a, a, "--all", "--json", "-"}), 2, "--all needs the table");
  expect_refusal(compare({a, a, "--all", "--markdown", "-"}), 2, "--all needs the table");
  EXPECT_EQ(compare({a, a, "--all", "--json", file("o.json")}).exit_code, 0);
}

TEST_F(Compare, WarnsUnlessQuiet) {
  Json other = scaled(1, 1);
  other["complete"] = false;
  const std::string a = write("a.json", scaled(1, 1));
  const std::string b = write("b.json", other);
  EXPECT_TRUE(contains(compare({a, b}).err, "is incomplete"));
  expect_success(compare({a, b, "--quiet"}));
}

TEST_F(Compare, RefusesFilesThatItCannotRead) {
  const std::string a = write("a.json", scaled(1, 1));
  write_file(file("bad.json"), "hello\n");
  expect_refusal(compare({a, file("bad.json")}), 2, "expected a results file of xferbench --json");
  expect_refusal(compare({file("bad.json"), a}), 2, "bad.json");
  expect_refusal(compare({a, file("absent.json")}), 2, "No such file or directory");
  expect_refusal(compare({a, file("")}), 2, "Is a directory");
  expect_refusal(compare({a, "-"}), 2, "standard input:1: ");
  if (geteuid() != 0) {
    fs::permissions(a, fs::perms::none);
    expect_refusal(compare({a, a}), 2, "Permission denied");
  }
}

}  // namespace
}  // namespace xferbench::test
