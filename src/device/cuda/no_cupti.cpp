// In builds without CUPTI's headers.
#include "device/cuda/cupti_trace.hpp"

namespace xferbench::cuda {

struct CuptiTrace::Library {};

CuptiTrace::CuptiTrace() : refusal_("this build has no CUPTI: the toolkit that built it lacks the headers") {}
CuptiTrace::~CuptiTrace() = default;
bool CuptiTrace::start() { return false; }
CuptiTrace::Records CuptiTrace::stop() { return {}; }
void CuptiTrace::disable() noexcept {}

}  // namespace xferbench::cuda
