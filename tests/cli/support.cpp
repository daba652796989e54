#include "cli/support.hpp"

#include <chrono>
#include <thread>

namespace xferbench::test {

Arguments small_run(Arguments more) {
  more.insert(more.begin(), {"--simulate", "--size", "4M", "--chunks", "4"});
  return more;
}

Arguments few_samples(const std::string& scenario, Arguments more) {
  more.insert(more.begin(), {scenario, "--budget", "0.01", "--max-samples", "6"});
  return more;
}

Arguments endless_run(const std::filesystem::path& file) {
  return {"--simulate", "--size", "16M", "--streams", "1:64:+1", "--chunks", "1:64:+1", "--no-verify", "--json", file};
}

bool until(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kLongest;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

bool until_there(const std::filesystem::path& file) {
  return until([&file] { return !read_file(file).empty(); });
}

Options with_fault(const char* fault) {
  Options options;
  options.environment["XFERBENCH_INJECT"] = fault;
  return options;
}

Options without_gpu() {
  Options options;
  options.environment["CUDA_VISIBLE_DEVICES"] = "-1";
  return options;
}

bool finds_gpu(const Options& options) { return !contains(xferbench({"info"}, options).out, " none: "); }

void expect_refusal(const Outcome& outcome, int exit_code, const std::string& message) {
  EXPECT_EQ(outcome.exit_code, exit_code);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(lines(outcome.err).size(), 1U) << outcome.err;
  EXPECT_TRUE(outcome.err.starts_with("xferbench: ")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, message)) << "not in the message: " << message << "\nmessage: " << outcome.err;
}

void expect_success(const Outcome& outcome) {
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.signal, 0);
  EXPECT_EQ(outcome.err, "");
}

Json parse_json(const std::string& text) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    ADD_FAILURE() << error.what() << "\nin: " << text.substr(0, 1000);
    return nullptr;
  }
}

Json read_json(const std::filesystem::path& file) {
  EXPECT_TRUE(std::filesystem::is_regular_file(file)) << file;
  return parse_json(read_file(file));
}

void expect_valid_results(const std::filesystem::path& file) {
  const std::filesystem::path script = std::filesystem::path(XFERBENCH_SOURCE_DIR) / "scripts" / "validate-results";
  ASSERT_TRUE(std::filesystem::exists(script)) << script << " is missing: nothing checks the results file";
  const Outcome outcome = run("/usr/bin/python3", {script.string(), file.string()});
  EXPECT_EQ(outcome.exit_code, 0) << "scripts/validate-results says: " << outcome.out << outcome.err;
}

}  // namespace xferbench::test
