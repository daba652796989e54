// Control characters, line breaks and bidirectional overrides in a file or a name never reach what the program writes,
// neither its streams nor its files: a terminal would obey them.

#include <set>

#include "cli/support.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "results/json.hpp"

namespace xferbench::test {
namespace {

/// ESC, BEL, line breaks, DEL, the one-character CSI of the C1 set, a right-to-left override, a zero-width no-break
/// space.
constexpr const char* kPlanted = "\x1b]0;owned\x07\r\n\x7f\xC2\x9B[2J\xE2\x80\xAE.\xEF\xBB\xBF";

/// Fails on any control character other than a line feed. `of` names the text in the failure.
void expect_clean(const std::string& text, const std::string& of) {
  std::size_t from = 0;
  for (auto [begin, bytes] = find_control(text, from); bytes > 0;) {
    if (text[begin] != '\n') {
      ADD_FAILURE() << of << " has a control character at " << begin << ": "
                    << printable(text.substr(begin < 60 ? 0 : begin - 60, 120));
      return;
    }
    const ControlCharacter next = find_control(text, begin + bytes);
    begin = next.begin;
    bytes = next.bytes;
  }
}

/// Fails where a line has none of the program's prefixes: such a line could come from a line break in a file.
void expect_lines_of_the_program(const std::string& err) {
  for (const std::string& line : lines(err)) {
    const bool note = line.starts_with("::error title=xferbench ") || line.starts_with("::warning title=xferbench ");
    EXPECT_TRUE(line.starts_with("xferbench: ") || line.starts_with("[") || note) << line;
  }
}

void for_each_text(Json& json, const std::function<void(Json&)>& what) {
  if (json.is_string()) return what(json);
  if (!json.is_structured()) return;
  for (Json& part : json) for_each_text(part, what);
}

class ControlCharacters : public testing::Test {
 protected:
  void SetUp() override {
    const Outcome o = xferbench({"memcpy", "--simulate", "--size", "4K,64K,1M", "--host", "pageable,registered",
                                 "--dir", "h2d", "--max-samples", "6", "--json", valid_.string()});
    ASSERT_EQ(o.exit_code, 0) << o.err;
    Json json = read_json(valid_);
    json["environment"]["variables"] = {{"CUDA_MODULE_LOADING", "EAGER"}};
    json["results"][0]["warnings"] = {"the clock drifts"};
    json["results"][1]["status"] = "failed";
    json["results"][1]["reason"] = "wrong byte";
    json["results"][2]["labels"] = {{"limited_by", "link"}};
    write_file(valid_, json.dump());
  }

  /// Whether the results file still parses with this text in it; if not, the error message must be clean.
  static bool is_read(const Json& json) {
    try {
      parse_report(json.dump(), "f");
      return true;
    } catch (const InputError& error) {
      expect_clean(printable(error.what()), "the message");
      return false;
    }
  }

  void run(Arguments arguments) {
    const std::set<int> codes{0, 1, 2, 3, 4, 5};
    const Outcome o = xferbench(arguments);
    EXPECT_TRUE(codes.contains(o.exit_code)) << arguments.front();
    expect_clean(o.out, arguments.front() + ", standard output");
    expect_clean(o.err, arguments.front() + ", standard error");
    expect_lines_of_the_program(o.err);
  }

  /// Gives the file to each command that reads results, as each of its arguments.
  void read_by_every_command(const std::filesystem::path& file) {
    for (const Arguments& files :
         {Arguments{"compare", valid_, file}, Arguments{"compare", file, valid_},
          Arguments{"compare", "--across", valid_, file},
          Arguments{"check", file, "--expect", "h200", "--allow-simulated"},
          Arguments{"compare", valid_, file, "--annotations", "github"},
          Arguments{"check", file, "--expect", "h200", "--allow-simulated", "--annotations", "github", "--junit",
                    folder_ / "r.xml", "--openmetrics", folder_ / "r.prom"}}) {
      for (const Arguments& how :
           {Arguments{}, Arguments{"--json", "-"}, Arguments{"--markdown", "-"}, Arguments{"--html", "-"}}) {
        Arguments all = files;
        all.insert(all.end(), how.begin(), how.end());
        run(all);
      }
    }
    const std::filesystem::path csv = folder_ / "r.csv";
    const std::filesystem::path markdown = folder_ / "r.md";
    const std::filesystem::path metrics = folder_ / "run.prom";
    run({"--resume", file, "--csv", csv, "--markdown", markdown, "--openmetrics", metrics, "--progress", "plain"});
    for (const std::filesystem::path& written : {csv, markdown, metrics, folder_ / "r.xml", folder_ / "r.prom", file}) {
      expect_clean(read_file(written), written.filename().string());
    }
  }

  TemporaryFolder folder_;
  std::filesystem::path valid_ = folder_ / "valid.json";
  std::filesystem::path planted_ = folder_ / "planted.json";
};

TEST_F(ControlCharacters, OfEveryTextOfAFileAreNeverWritten) {
  Json json = read_json(valid_);
  std::size_t texts = 0;
  for_each_text(json, [&](Json& text) {
    const Json before = text;
    text = before.get<std::string>() + kPlanted;
    if (!is_read(json)) text = before;  // an enumeration, such as status: it takes no other text
    ++texts;
  });
  ASSERT_GT(texts, 100U);
  write_file(planted_, json.dump(-1, ' ', true));
  read_by_every_command(planted_);
}

TEST_F(ControlCharacters, OfWhatIsGoneOnWithAreNeverWritten) {
  Json json = read_json(valid_);
  json["complete"] = false;
  Json& results = json["results"];
  results.erase(results.size() - 1);
  for (Json& result : results) {
    result["warnings"] = {std::string("first") + kPlanted, std::string(kPlanted) + "second"};
    result["reason"] = std::string("why") + kPlanted;
    result["labels"] = {{std::string("a") + kPlanted, kPlanted}};
    result["metrics"][std::string("m") + kPlanted] = {{"value", 1}, {"unit", std::string("u") + kPlanted}};
    for (Json& m : result["measurements"]) m["flags"] = {std::string("f") + kPlanted};
  }
  json["resumed_at"] = {std::string("then") + kPlanted};
  json["environment"]["variables"] = Json::object();
  write_file(planted_, json.dump(-1, ' ', true));
  const Outcome o = xferbench({"--resume", planted_});
  EXPECT_EQ(o.exit_code, 1) << o.err;
  EXPECT_TRUE(contains(o.err, "why?]0;owned")) << o.err;
  EXPECT_TRUE(contains(o.err, "first?]0;owned")) << o.err;
  expect_clean(o.out, "standard output");
  expect_clean(o.err, "standard error");
  expect_lines_of_the_program(o.err);
  write_file(planted_, json.dump(-1, ' ', true));
  read_by_every_command(planted_);
}

TEST_F(ControlCharacters, OfNamesInAFileAreNeverWritten) {
  const std::string text = read_json(valid_).dump();
  for (const char* name :
       {"\"memcpy\":", "\"bandwidth\":", "\"limited_by\":", "\"CUDA_MODULE_LOADING\":", "\"size\":"}) {
    std::string planted = text;
    const std::size_t at = planted.find(name);
    ASSERT_NE(at, std::string::npos) << name;
    planted.insert(at + 1, R"(\u001b[2J\n\u202e)");
    write_file(planted_, planted);
    read_by_every_command(planted_);
  }
}

TEST_F(ControlCharacters, OfFilesThatCannotBeReadAreNeverWritten) {
  write_file(planted_, std::string("{\"schema\": \"") + kPlanted);
  run({"compare", valid_, planted_});
  write_file(planted_, R"({"schema": "\u001b[2J\n"})");
  run({"compare", valid_, planted_});
  run({"check", valid_, "--expect", planted_});
  run({"--suite", planted_, "--simulate"});
  write_file(planted_, R"({"schema": "xferbench-suite/1", "description": "d", "runs": ["memcpy \u001b[2J\u202e"]})");
  run({"--suite", planted_, "--simulate"});
  write_file(planted_, R"({"schema": "xferbench-expect/1", "gpu": "\u001b[2J", "expect": [{"case": "\u001b*\n",
                           "name": "\u001b\n", "metric": "\u202e", "at_least": "1 \u0007"}]})");
  run({"check", valid_, "--expect", planted_, "--allow-simulated"});
}

TEST_F(ControlCharacters, OfNamesOfFilesAreNeverWritten) {
  const std::filesystem::path named = folder_ / (std::string("a\x1b[2J\n\xE2\x80\xAE\x9B") + "b.json");
  write_file(named, read_file(valid_));
  read_by_every_command(named);
  run({"compare", valid_, named.string() + "x"});
  run({"--resume", named.string() + "x"});
}

TEST_F(ControlCharacters, OfSuitesThatComeWithTheProgramAreNeverWritten) {
  std::filesystem::create_directories(folder_ / "suites");
  const std::string suite = R"({"schema": "xferbench-suite/1", "description": "\u001b[2J\nd", "runs": ["memcpy"]})";
  write_file(folder_ / "suites/plain.json", suite);
  write_file(folder_ / "suites/two.parts.json", suite);
  write_file((folder_ / "suites") / "s\x1b[2J\n.json", suite);
  write_file((folder_ / "suites") / "t\x1b[2J\n.json", "{");
  for (const Arguments& arguments :
       {Arguments{"list"}, Arguments{"list", "suites"}, Arguments{"--suite", "unknown", "--simulate"}}) {
    Options options;
    options.environment["XFERBENCH_DATA"] = folder_.path().string();
    const Outcome o = xferbench(arguments, options);
    expect_clean(o.out, "standard output");
    expect_clean(o.err, "standard error");
    if (arguments.front() == "list") {
      EXPECT_EQ(o.exit_code, 0) << o.err;
      EXPECT_TRUE(contains(o.out, "two.parts")) << "a name with a point is listed, too\n" << o.out;
      EXPECT_TRUE(contains(o.out, "s?[2J?")) << o.out;
    }
  }
}

}  // namespace
}  // namespace xferbench::test
