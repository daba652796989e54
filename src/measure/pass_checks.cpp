#include "measure/pass_checks.hpp"

#include "measure/pattern.hpp"

namespace xferbench {

bool PassChecks::chosen(std::size_t region, std::size_t pass) const {
  const std::size_t hundred = (pass - 1) / kOneIn;
  const std::uint64_t index = (std::uint64_t{region} << 32) + hundred;
  return wanted && (pass - 1) % kOneIn == pattern::noise(seed, index) % kOneIn;
}

}  // namespace xferbench
