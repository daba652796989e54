// Error messages and exit codes.
#include <gtest/gtest.h>

#include <string>
#include <system_error>

#include "core/error.hpp"
#include "core/standard_error.hpp"

namespace xferbench {
namespace {

TEST(SystemErrors, OfThreadsThatCannotStartNameTheResourceAndAreNoRegression) {
  const std::system_error refused(std::make_error_code(std::errc::resource_unavailable_try_again));
  EXPECT_EQ(exit_code_of(refused), ExitCode::usage);
  EXPECT_NE(message_of(refused).find("no thread or process can be started"), std::string::npos) << message_of(refused);
}

TEST(Messages, AreCutInTheirMiddleWhereSomebodyGaveThemAVeryLongWord) {
  testing::internal::CaptureStderr();
  tell("'" + std::string(120'000, 'a') + "' is not one of b, c");
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_LE(told.size(), 2100U);
  EXPECT_EQ(told.substr(0, 15), "xferbench: 'aaa");
  EXPECT_NE(told.find("aaa...aaa"), std::string::npos);
  EXPECT_TRUE(told.ends_with("aaa' is not one of b, c\n")) << told;
}

TEST(SystemErrors, OfAnotherKindSayWhatTheSystemSays) {
  const std::system_error other(std::make_error_code(std::errc::no_space_on_device), "writing");
  EXPECT_EQ(message_of(other), other.what());
}

}  // namespace
}  // namespace xferbench
