// OpenMetrics text. tests/report/test_monitoring.py checks it with external parsers.
#include "report/openmetrics/openmetrics.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

namespace xferbench::openmetrics {
namespace {

Family rate() {
  return {.name = "xferbench_rate",
          .unit = "bytes_per_second",
          .help = "Bytes copied each second.",
          .samples = {{.labels = {{"gpu", "0"}}, .value = 5.5e10}}};
}

TEST(OpenMetrics, WritesTypeUnitHelpAndSamplesOfEachFamily) {
  const Family moved{.name = "xferbench_moved",
                     .type = Type::counter,
                     .unit = "bytes",
                     .help = "Bytes moved since the start.",
                     .samples = {{.value = 12}}};
  const Family build{.name = "xferbench_build",
                     .type = Type::info,
                     .help = "What wrote this.",
                     .samples = {{.labels = {{"version", "0.1.0"}}, .value = 1}}};
  EXPECT_EQ(to_text({rate(), moved, build}),
            "# TYPE xferbench_rate_bytes_per_second gauge\n"
            "# UNIT xferbench_rate_bytes_per_second bytes_per_second\n"
            "# HELP xferbench_rate_bytes_per_second Bytes copied each second.\n"
            "xferbench_rate_bytes_per_second{gpu=\"0\"} 55000000000\n"
            "# TYPE xferbench_moved_bytes counter\n"
            "# UNIT xferbench_moved_bytes bytes\n"
            "# HELP xferbench_moved_bytes Bytes moved since the start.\n"
            "xferbench_moved_bytes_total 12\n"
            "# TYPE xferbench_build_info gauge\n"
            "# HELP xferbench_build_info What wrote this.\n"
            "xferbench_build_info{version=\"0.1.0\"} 1\n"
            "# EOF\n");
}

TEST(OpenMetrics, OfNothingIsTheEnd) {
  EXPECT_EQ(to_text({}), "# EOF\n");
  Family empty = rate();
  empty.samples.clear();
  EXPECT_EQ(to_text({empty}), "# EOF\n");
}

TEST(OpenMetrics, ALabelCannotLeaveItsLineOrItsQuotes) {
  Family family = rate();
  family.samples[0].labels = {{"gpu", "a\"b\\c\nxferbench_rate 1\x1b[2J\xff"}};
  EXPECT_NE(to_text({family}).find("{gpu=\"a\\\"b\\\\c\\nxferbench_rate 1?[2J?\"} 55000000000\n"), std::string::npos)
      << to_text({family});
}

TEST(OpenMetrics, AHelpHasNoDoubleQuotesAsOneFormatEscapesThemAndTheOtherRefusesThat) {
  Family family = rate();
  family.help = "Of \"h2d\",\na \\ b.";
  EXPECT_NE(to_text({family}).find("Of 'h2d',\\na \\\\ b.\n"), std::string::npos) << to_text({family});
}

TEST(OpenMetrics, NumbersAreExactAndWhatIsNoneHasItsName) {
  Family family = rate();
  const double infinite = std::numeric_limits<double>::infinity();
  family.samples = {{.labels = {{"i", "0"}}, .value = 0.1},
                    {.labels = {{"i", "1"}}, .value = std::nan("")},
                    {.labels = {{"i", "2"}}, .value = infinite},
                    {.labels = {{"i", "3"}}, .value = -infinite},
                    {.labels = {{"i", "4"}}, .value = 1e-300}};
  const std::string text = to_text({family});
  for (const char* line : {"\"0\"} 0.1\n", "\"1\"} NaN\n", "\"2\"} +Inf\n", "\"3\"} -Inf\n", "\"4\"} 1e-300\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << text;
  }
}

TEST(OpenMetrics, RefusesTwoSamplesThatAReaderTakesForOne) {
  Family family = rate();
  family.samples = {{.labels = {{"a", "1"}, {"b", "2"}}}, {.labels = {{"b", "2"}, {"a", "1"}}}};
  EXPECT_THROW(to_text({family}), std::invalid_argument);
  family.samples = {{.labels = {{"a", "\x01"}}}, {.labels = {{"a", "\x02"}}}};
  EXPECT_THROW(to_text({family}), std::invalid_argument) << "as written";
}

}  // namespace
}  // namespace xferbench::openmetrics
