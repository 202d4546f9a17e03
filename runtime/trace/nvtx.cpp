#include "runtime/trace/nvtx.h"

#include <array>

#ifdef RTGPU_HAS_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

namespace rtgpu {

#ifdef RTGPU_HAS_NVTX

bool has_nvtx() {
  return true;
}

void attach_nvtx() {
  nvtxInitialize(nullptr);
}

NvtxRange::NvtxRange(const char* name) {
  nvtxRangePushA(name != nullptr ? name : "");
}

NvtxRange::NvtxRange(std::string_view name) {
  std::array<char, kLongestName + 1> text;  // NOLINT(cppcoreguidelines-pro-type-member-init): no need to fill it
  text[name.copy(text.data(), kLongestName)] = '\0';
  nvtxRangePushA(text.data());
}

NvtxRange::~NvtxRange() {
  nvtxRangePop();
}

#else

bool has_nvtx() {
  return false;
}

void attach_nvtx() {}

NvtxRange::NvtxRange(const char* /*name*/) {}

NvtxRange::NvtxRange(std::string_view /*name*/) {}

NvtxRange::~NvtxRange() = default;

#endif

}  // namespace rtgpu
