// The JSON schemas in docs/ are up to date with the code that reads and writes the files.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "check/expectations.hpp"
#include "device/sim/profile_file.hpp"
#include "report/calibrate/calibrate_report.hpp"
#include "report/check/check_report.hpp"
#include "report/compare/compare_report.hpp"
#include "report/explain/explain_report.hpp"
#include "results/json.hpp"
#include "results/recorded_run.hpp"
#include "results/soak_file.hpp"
#include "results/spread_file.hpp"
#include "support/golden.hpp"

namespace xferbench {
namespace {

TEST(Schemas, OfTheDocumentationAreThoseOfTheProgram) {
  for (const auto& [name, schema] : {
           std::pair{"check", check_schema()},
           {"compare", compare_schema()},
           {"expect", check::expect_schema()},
           {"explain", explain_schema()},
           {"profile", sim::profile_schema()},
           {"recording-run", recorded_run_schema()},
           {"results", results_schema()},
           {"soak", soak_schema()},
           {"spread", spread_schema()},
           {"validation", validation_schema()},
       }) {
    test::expect_golden("../../../docs/" + std::string(name) + "-schema.json", schema);
  }
}

}  // namespace
}  // namespace xferbench
