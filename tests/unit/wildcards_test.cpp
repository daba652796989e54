// Shell patterns for case keys.
#include "core/wildcards.hpp"

#include <gtest/gtest.h>

#include <string>

namespace xferbench {
namespace {

TEST(Patterns, MatchTheWholeKey) {
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("memcpy/*", "memcpy/dir=h2d/size=1KiB"));
  EXPECT_TRUE(matches("*dir=?2?*", "memcpy/dir=h2d/size=1KiB"));
  EXPECT_FALSE(matches("memcpy", "memcpy/dir=h2d"));
  EXPECT_FALSE(matches("?", ""));
  EXPECT_TRUE(matches("a*b*c", "aXbYbZc"));
  EXPECT_FALSE(matches(std::string(2000, '*') + "x", std::string(2000, 'a')));
  std::string stars;
  for (int i = 0; i < 500; ++i) stars += "a*";
  EXPECT_FALSE(matches(stars + "b", std::string(5000, 'a')));
}

}  // namespace
}  // namespace xferbench
