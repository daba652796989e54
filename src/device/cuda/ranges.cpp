#include "device/cuda/ranges.hpp"

#if __has_include(<nvtx3/nvToolsExt.h>)

#include <nvtx3/nvToolsExt.h>

namespace xferbench::cuda {

namespace {

nvtxDomainHandle_t native(void* domain) { return static_cast<nvtxDomainHandle_t>(domain); }

}  // namespace

Ranges::Ranges() : domain_(nvtxDomainCreateA("xferbench")) {}

Ranges::~Ranges() { nvtxDomainDestroy(native(domain_)); }

void Ranges::begin(const char* name) const {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name;
  static_cast<void>(nvtxDomainRangePushEx(native(domain_), &attributes));
}

void Ranges::end() const { static_cast<void>(nvtxDomainRangePop(native(domain_))); }

}  // namespace xferbench::cuda

#else

namespace xferbench::cuda {

Ranges::Ranges() = default;
Ranges::~Ranges() = default;
void Ranges::begin(const char*) const { static_cast<void>(domain_); }
void Ranges::end() const {}

}  // namespace xferbench::cuda

#endif
