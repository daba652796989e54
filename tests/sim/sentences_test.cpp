// Findings from runs with too few samples: they must claim nothing.
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

class FewSamples : public OnSim {
 protected:
  /// Findings without confidence intervals, which medians of fewer than six samples do not have.
  std::vector<Finding> said(const Words& command) {
    std::vector<Result> results = run(command);
    for (Result& r : results) {
      for (Measurement& m : r.measurements) m.ci95.reset();
    }
    return conclude(scenarios(), results);
  }

  /// The texts of this kind, one per line.
  std::string texts(const Words& command, std::string_view kind) {
    std::string text;
    for (const Finding& f : said(command)) text += f.kind == kind ? f.text + "\n" : "";
    return text;
  }
};

TEST_F(FewSamples, DoNotMakePinnedAndPageableMemoryEquallyFast) {
  const std::string text = texts({"memcpy", "--host", "pageable,pinned", "--dir", "h2d", "--size", "1M,4M"}, "winner");
  EXPECT_EQ(text,
            "pageable and pinned: not decided at every size measured (1 MiB to 4 MiB): too few samples (at least 6 are "
            "needed): raise --max-samples or --budget\n");
}

TEST_F(FewSamples, DoNotTellWhetherPinningPays) {
  const std::string text =
      texts({"memcpy", "--host", "pageable,registered", "--dir", "h2d", "--size", "4M"}, "break-even");
  EXPECT_EQ(text.find("h2d: registering 4 MiB (registered) may or may not pay off: too few samples"), 0U) << text;
}

TEST_F(FewSamples, NameNoFastestMethodOfStaging) {
  const auto all = said({"staging", "--size", "64M", "--dir", "h2d", "--threads", "8"});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].labels.at(3).second, "8 threads, 3 slots of 2 MiB; register; or direct");
  EXPECT_EQ(all[0].labels.at(4).second, "undecided");
}

TEST_F(FewSamples, NameNoQuickestNotification) {
  const std::string text = texts({"callback", "--size", "1M", "--chunks", "4"}, "winner");
  EXPECT_NE(text.find("makespan with a CPU stage: "), std::string::npos) << text;
  EXPECT_NE(text.find(": not decided (too few samples"), std::string::npos) << text;
}

TEST_F(FewSamples, NameNoFastestOverlap) {
  const std::string text = texts({"overlap", "--size", "4M", "--strategy", "serial,streams"}, "fastest");
  EXPECT_NE(text.find(": not decided (too few samples"), std::string::npos) << text;
}

}  // namespace

}  // namespace xferbench::test
