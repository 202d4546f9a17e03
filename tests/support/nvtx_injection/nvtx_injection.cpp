#include "tests/support/nvtx_injection/nvtx_injection.h"

#include <cstdlib>
#include <dlfcn.h>

namespace rtgpu::testing {
namespace {

constexpr const char* kLibrary = RTGPU_NVTX_INJECTION;  // empty without NVTX

}  // namespace

bool use_nvtx_injection() {
  const std::string library = kLibrary;
  return !library.empty() && setenv("NVTX_INJECTION64_PATH", library.c_str(), 1) == 0;
}

std::string take_nvtx_log() {
  std::string log;
  void* library = dlopen(kLibrary, RTLD_LAZY | RTLD_NOLOAD);  // none: NVTX has not loaded it
  if (library == nullptr) return log;
  using Take = void (*)(std::string * log);
  if (const auto take = reinterpret_cast<Take>(dlsym(library, "rtgpu_take_nvtx_log"))) take(&log);
  dlclose(library);
  return log;
}

}  // namespace rtgpu::testing
