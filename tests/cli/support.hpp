// What the tests of the program have in common beyond running it.
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

/// A run that takes milliseconds and gives no cause for a warning, and what else it is to do.
Arguments small_run(Arguments more = {});

/// A run of the scenario with few samples, and what else it is to do.
Arguments few_samples(const std::string& scenario, Arguments more = {});

/// A run of minutes and of 4096 cases, which a test ends.
Arguments endless_run(const std::filesystem::path& file);

/// Waits until it holds, for as long as a program may take; false where it still does not.
bool until(const std::function<bool()>& condition);
/// Until there is something in the file.
bool until_there(const std::filesystem::path& file);

/// Options with that fault injected: "lose:copy:60".
Options with_fault(const char* fault);

/// Options that hide every GPU of the machine from the program.
Options without_gpu();
/// Whether the program still finds one.
bool finds_gpu(const Options& options);

/// A refusal as users and scripts rely on it: the exit code, one line on standard error that begins with the program's
/// name and contains `message`, and nothing on standard output.
void expect_refusal(const Outcome& outcome, int exit_code, const std::string& message);

/// All is well: exit code 0 and a silent standard error.
void expect_success(const Outcome& outcome);

/// Fails the test unless the text is one JSON document and nothing else; what it holds, or null.
Json parse_json(const std::string& text);
Json read_json(const std::filesystem::path& file);

/// Fails the test unless scripts/validate-results accepts the file. A script that is missing or cannot run is a
/// failure too: a contract that nobody checks is none.
void expect_valid_results(const std::filesystem::path& file);

}  // namespace xferbench::test
