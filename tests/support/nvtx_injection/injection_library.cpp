// The library that NVTX loads.
#include <cstddef>
#include <mutex>
#include <nvtx3/nvToolsExt.h>
#include <string>
#include <utility>

namespace {

struct Log {
  std::mutex mutex;
  std::string text;
};

Log& the_log() {
  static Log log;
  return log;
}

thread_local int depth = 0;  // of the ranges that the thread has open

void note(const std::string& event) {
  const std::lock_guard lock(the_log().mutex);
  std::string& text = the_log().text;
  text += text.empty() ? event : " " + event;
}

int push(const char* name) {
  note("+" + std::string(name) + "/" + std::to_string(++depth));
  return depth - 1;
}

int pop() {
  note("-/" + std::to_string(depth--));
  return depth;
}

}  // namespace

// The two names that others look up.

// NOLINTNEXTLINE(readability-identifier-naming): NVTX looks it up under this name.
extern "C" int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr || callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) == 0) return 0;
  if (size <= NVTX_CBID_CORE_RangePop) return 0;
  *table[NVTX_CBID_CORE_RangePushA] = reinterpret_cast<NvtxFunctionPointer>(push);
  *table[NVTX_CBID_CORE_RangePop] = reinterpret_cast<NvtxFunctionPointer>(pop);
  note("loaded");
  return 1;
}

extern "C" void rtgpu_take_nvtx_log(std::string* log) {
  const std::lock_guard lock(the_log().mutex);
  *log = std::exchange(the_log().text, {});
}
