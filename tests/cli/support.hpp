// Helpers for tests of the program: common commands, options and expectations.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/program.hpp"
#include "support/golden.hpp"

namespace xferbench::test {

using Json = nlohmann::json;

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A simulated run of milliseconds without warnings, followed by the arguments `more`.
Arguments small_run(Arguments more = {});

/// A simulated run of the scenario with few samples, followed by the arguments `more`.
Arguments few_samples(const std::string& scenario, Arguments more = {});

/// A simulated run of 4096 cases that would take minutes; the test interrupts it.
Arguments endless_run(const std::filesystem::path& file);

/// Polls until the condition holds, for at most kLongest. Returns whether it holds.
bool until(const std::function<bool()>& condition);
/// Waits until the file exists and is not empty.
bool until_there(const std::filesystem::path& file);

/// Options that inject a fault, such as "lose:copy:60", into the simulated device.
Options with_fault(const char* fault);

/// Options that hide every GPU of the machine from the program.
Options without_gpu();
/// Whether the program finds a GPU with these options.
bool finds_gpu(const Options& options);

/// Fails unless the program refused: this exit code, one line on standard error that begins with "xferbench: " and
/// contains `message`, and nothing on standard output.
void expect_refusal(const Outcome& outcome, int exit_code, const std::string& message);

/// Fails unless the exit code is 0 and standard error is empty.
void expect_success(const Outcome& outcome);

/// Fails unless the text is exactly one JSON document. Returns it, or null.
Json parse_json(const std::string& text);
Json read_json(const std::filesystem::path& file);

/// Fails unless scripts/validate-results accepts the file. A missing script is a failure too, so that the check cannot
/// be skipped silently.
void expect_valid_results(const std::filesystem::path& file);

}  // namespace xferbench::test
