// What errors say, and the exit codes that they lead to.
#include <gtest/gtest.h>

#include <string>
#include <system_error>

#include "core/error.hpp"

namespace xferbench {
namespace {

TEST(SystemErrors, OfThreadsThatCannotStartNameTheResourceAndAreNoRegression) {
  const std::system_error refused(std::make_error_code(std::errc::resource_unavailable_try_again));
  EXPECT_EQ(exit_code_of(refused), ExitCode::usage);
  EXPECT_NE(message_of(refused).find("no thread or process can be started"), std::string::npos) << message_of(refused);
}

TEST(SystemErrors, OfAnotherKindSayWhatTheSystemSays) {
  const std::system_error other(std::make_error_code(std::errc::no_space_on_device), "writing");
  EXPECT_EQ(message_of(other), other.what());
}

}  // namespace
}  // namespace xferbench
