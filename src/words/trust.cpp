#include "words/trust.hpp"

namespace xferbench {

Trust trust_of(const Environment& environment, bool verified, bool complete) {
  std::string profile;
  if (environment.simulated()) profile = environment.profile_text(kChangesInHeadings);
  // The name of the profile is missing only if the file was edited by hand.
  if (environment.simulated() && profile.empty()) profile = "unknown";
  return {std::move(profile), verified, environment.injected_fault(), complete};
}

Trust trust_of(const Report& report) { return trust_of(report.environment, report.verified, report.complete); }

}  // namespace xferbench
