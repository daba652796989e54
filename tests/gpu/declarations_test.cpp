// That scenarios declare what they write where only a GPU makes them write it. The others: tests/sim.
#include "support/declarations.hpp"

#include "gpu/gpu_fixture.hpp"
#include "parsing.hpp"
#include "scenarios/scenarios.hpp"

namespace xferbench::test {
namespace {

class DeclarationsOnGpu : public GpuTest {
 protected:
  /// Runs the cases and returns what they write. Fails where something of it is not declared.
  std::set<std::string> written(const std::vector<std::string>& arguments) {
    const std::vector<PlannedCase> cases = cases_of(arguments);
    const std::vector<Result> results = run_cases(cases, quick_bench(), {});
    for (const Result& r : results) EXPECT_EQ(r.status, Status::ok) << r.config.key() << ": " << r.reason;
    std::set<std::string> names = written_in(results);
    EXPECT_EQ(without(names, declared_by(cases.front().scenario->descriptor())), std::set<std::string>());
    return names;
  }
};

TEST_F(DeclarationsOnGpu, OfChasesAndSortsAreWhatTheyWrite) {
  std::set<std::string> all = written({"latency", "--op", "chase"});
  all.merge(written({"dynpar", "--task", "sort", "--size", "64K"}));
  EXPECT_EQ(without(of_chases_and_sorts(), all), std::set<std::string>()) << "is declared and never written";
}

}  // namespace
}  // namespace xferbench::test
