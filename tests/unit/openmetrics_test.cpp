// Numbers for monitoring. That others read them: tests/report/test_monitoring.py.
#include "report/openmetrics/openmetrics.hpp"

#include <gtest/gtest.h>

#include <cmath>
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

std::string why_refused(const std::vector<Family>& families) {
  try {
    to_text(families);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "taken";
}

std::string why_refused(const Family& family) { return why_refused(std::vector{family}); }

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

TEST(OpenMetrics, RefusesNamesThatAreNone) {
  for (const char* name : {"", "1st", "a-b", "a:b", "a b", "\xc3\xa4"}) {
    Family family = rate();
    family.name = name;
    EXPECT_NE(why_refused(family).find("is no name of a metric"), std::string::npos) << name;
  }
  for (const char* name : {"", "1st", "a-b", "a:b", "__a"}) {
    Family family = rate();
    family.samples[0].labels[0].first = name;
    EXPECT_NE(why_refused(family).find("is no label"), std::string::npos) << name;
  }
}

TEST(OpenMetrics, RefusesWhatBelongsToTypes) {
  for (const char* name : {"a_total", "a_created", "a_count", "a_sum", "a_bucket", "a_info"}) {
    Family family = rate();
    family.name = name;
    EXPECT_NE(why_refused(family).find("which belongs to a type"), std::string::npos) << name;
  }
  Family family = rate();
  family.samples[0].labels[0].first = "le";
  EXPECT_EQ(why_refused(family), "OpenMetrics: xferbench_rate: le belongs to a type");
}

TEST(OpenMetrics, RefusesUnitsThatAreNotBaseUnitsAndUnitsThatAreThereTwice) {
  Family family = rate();
  family.unit = "gigabytes";
  EXPECT_NE(why_refused(family).find("which is no base unit (seconds, bytes,"), std::string::npos);
  family.unit = "seconds";
  family.name = "xferbench_seconds";
  EXPECT_EQ(why_refused(family), "OpenMetrics: xferbench_seconds has its unit twice");
  family = {.name = "a", .type = Type::info, .unit = "ratio", .help = "A.", .samples = {{.value = 1}}};
  EXPECT_EQ(why_refused(family), "OpenMetrics: a is an info and has a unit");
}

TEST(OpenMetrics, RefusesWhatIsThereTwice) {
  EXPECT_EQ(why_refused({rate(), rate()}), "OpenMetrics: xferbench_rate_bytes_per_second is there twice");
  Family family = rate();
  family.samples = {{.labels = {{"a", "1"}, {"b", "2"}}}, {.labels = {{"b", "2"}, {"a", "1"}}}};
  EXPECT_EQ(why_refused(family), "OpenMetrics: xferbench_rate: two samples have the same labels");
  family.samples = {{.labels = {{"a", "\x01"}}}, {.labels = {{"a", "\x02"}}}};
  EXPECT_EQ(why_refused(family), "OpenMetrics: xferbench_rate: two samples have the same labels") << "as written";
  family.samples = {{.labels = {{"a", "1"}, {"a", "2"}}}};
  EXPECT_EQ(why_refused(family), "OpenMetrics: xferbench_rate: label a is there twice");
}

TEST(OpenMetrics, RefusesCountersThatDidNotCountInfosThatAreNumbersAndFamiliesWithoutHelp) {
  for (const double value : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    const Family family{.name = "a", .type = Type::counter, .help = "A.", .samples = {{.value = value}}};
    EXPECT_NE(why_refused(family).find("a counts "), std::string::npos);
  }
  const Family info{.name = "a", .type = Type::info, .help = "A.", .samples = {{.value = 2}}};
  EXPECT_EQ(why_refused(info), "OpenMetrics: a is an info and not 1");
  Family family = rate();
  family.help.clear();
  EXPECT_EQ(why_refused(family), "OpenMetrics: xferbench_rate has no help");
}

}  // namespace
}  // namespace xferbench::openmetrics
