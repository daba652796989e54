// Times in ISO 8601 format.
#include "results/utc.hpp"

#include <gtest/gtest.h>

namespace xferbench {
namespace {

TEST(Utc, ReadsWhatFilesHaveAndWritesItAgain) {
  EXPECT_EQ(parse_utc("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(parse_utc("2026-11-24T11:26:15Z"), 1795519575);
  EXPECT_EQ(utc_text(1795519575), "2026-11-24T11:26:15");
}

TEST(Utc, RefusesWhatIsNoSuchMoment) {
  for (const char* text : {"", "yesterday", "2026-11-24", "2026-11-24T11:26:15", "2026-11-24T11:26:15+01:00",
                           "2026-02-30T00:00:00Z", "2026-11-24T11:26:15Z ", "2026-1-24T11:26:15Z"}) {
    EXPECT_FALSE(parse_utc(text)) << text;
  }
}

}  // namespace
}  // namespace xferbench
