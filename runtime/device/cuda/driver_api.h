// The part of the CUDA driver API that the backend uses: our own declarations of its types, constants and entry points,
// so that nothing of CUDA is needed to build. They are those of the binary interface, under the driver's own names.
// Where cuda.h is found, driver_api_check.cpp compares the two.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace rtgpu::cuda {

// Declared here first: named in passing, they would be those of cuda.h where that was included before.
struct CUctx_st;
struct CUmod_st;
struct CUfunc_st;
struct CUstream_st;
struct CUevent_st;
struct CUgraph_st;
struct CUgraphExec_st;
struct CUgraphNode_st;
struct CUgreenCtx_st;
struct CUdevResourceDesc_st;

using CUdevice = int;                    // an ordinal
using CUdeviceptr = unsigned long long;  // an address in device memory
using CUcontext = CUctx_st*;             // the following are handles
using CUmodule = CUmod_st*;
using CUfunction = CUfunc_st*;
using CUstream = CUstream_st*;
using CUevent = CUevent_st*;
using CUgraph = CUgraph_st*;
using CUgraphExec = CUgraphExec_st*;
using CUgraphNode = CUgraphNode_st*;
using CUgreenCtx = CUgreenCtx_st*;
using CUdevResourceDesc = CUdevResourceDesc_st*;

// What every call answers. What each value means for a run is in driver_error.h.
enum class CUresult : std::uint32_t {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  not_initialized = 3,
  deinitialized = 4,
  profiler_disabled = 5,
  profiler_not_initialized = 6,
  profiler_already_started = 7,
  profiler_already_stopped = 8,
  stub_library = 34,
  call_requires_newer_driver = 36,
  device_unavailable = 46,
  no_device = 100,
  invalid_device = 101,
  device_not_licensed = 102,
  invalid_image = 200,
  invalid_context = 201,
  context_already_current = 202,
  map_failed = 205,
  unmap_failed = 206,
  array_is_mapped = 207,
  already_mapped = 208,
  no_binary_for_gpu = 209,
  already_acquired = 210,
  not_mapped = 211,
  not_mapped_as_array = 212,
  not_mapped_as_pointer = 213,
  ecc_uncorrectable = 214,
  unsupported_limit = 215,
  context_already_in_use = 216,
  peer_access_unsupported = 217,
  invalid_ptx = 218,
  invalid_graphics_context = 219,
  nvlink_uncorrectable = 220,
  jit_compiler_not_found = 221,
  unsupported_ptx_version = 222,
  jit_compilation_disabled = 223,
  unsupported_exec_affinity = 224,
  unsupported_devside_sync = 225,
  contained = 226,
  invalid_source = 300,
  file_not_found = 301,
  shared_object_symbol_not_found = 302,
  shared_object_init_failed = 303,
  operating_system = 304,
  invalid_handle = 400,
  illegal_state = 401,
  lossy_query = 402,
  not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  launch_out_of_resources = 701,
  launch_timeout = 702,
  launch_incompatible_texturing = 703,
  peer_access_already_enabled = 704,
  peer_access_not_enabled = 705,
  primary_context_active = 708,
  context_is_destroyed = 709,
  device_assert = 710,
  too_many_peers = 711,
  host_memory_already_registered = 712,
  host_memory_not_registered = 713,
  hardware_stack_error = 714,
  illegal_instruction = 715,
  misaligned_address = 716,
  invalid_address_space = 717,
  invalid_pc = 718,
  launch_failed = 719,
  cooperative_launch_too_large = 720,
  tensor_memory_leak = 721,
  not_permitted = 800,
  not_supported = 801,
  system_not_ready = 802,
  system_driver_mismatch = 803,
  compat_not_supported_on_device = 804,
  mps_connection_failed = 805,
  mps_rpc_failure = 806,
  mps_server_not_ready = 807,
  mps_max_clients_reached = 808,
  mps_max_connections_reached = 809,
  mps_client_terminated = 810,
  cdp_not_supported = 811,
  cdp_version_mismatch = 812,
  stream_capture_unsupported = 900,
  stream_capture_invalidated = 901,
  stream_capture_merge = 902,
  stream_capture_unmatched = 903,
  stream_capture_unjoined = 904,
  stream_capture_isolation = 905,
  stream_capture_implicit = 906,
  captured_event = 907,
  stream_capture_wrong_thread = 908,
  timeout = 909,
  graph_exec_update_failure = 910,
  external_device = 911,
  invalid_cluster_size = 912,
  function_not_loaded = 913,
  invalid_resource_type = 914,
  invalid_resource_configuration = 915,
  key_rotation = 916,
  unknown = 999,
};

enum class CUdeviceAttribute : std::uint32_t {
  multiprocessor_count = 16,
  kernel_exec_timeout = 17,
  integrated = 18,
  compute_mode = 20,
  concurrent_kernels = 31,
  async_engine_count = 40,
  compute_capability_major = 75,
  compute_capability_minor = 76,
  stream_priorities_supported = 78,
  compute_preemption_supported = 90,
};

enum class CUfunctionAttribute : std::uint32_t {
  max_threads_per_block = 0,
  shared_size_bytes = 1,
  local_size_bytes = 3,
  num_regs = 4,
};

// Flags are or-ed, so these are plain numbers.
inline constexpr unsigned kContextSchedSpin = 1;
inline constexpr unsigned kContextSchedYield = 2;
inline constexpr unsigned kContextSchedBlockingSync = 4;
inline constexpr unsigned kStreamDefault = 0;
inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDefault = 0;
inline constexpr unsigned kEventBlockingSync = 1;
inline constexpr unsigned kEventDisableTiming = 2;
inline constexpr unsigned kMemHostAllocPortable = 1;
inline constexpr unsigned kGreenCtxDefaultStream = 1;
inline constexpr unsigned kSmSplitIgnoreCoscheduling = 1;
inline constexpr unsigned long long kGraphUseNodePriority = 8;
inline constexpr std::uint64_t kProcAddressDefault = 0;

enum class CUstreamCaptureMode : std::uint32_t { global = 0, thread_local_only = 1, relaxed = 2 };

enum class CUgraphNodeType : std::uint32_t {
  kernel = 0,
  memcpy = 1,
  memset = 2,
  host = 3,
  graph = 4,
  empty = 5,
  wait_event = 6,
  event_record = 7,
  ext_semas_signal = 8,
  ext_semas_wait = 9,
  mem_alloc = 10,
  mem_free = 11,
  batch_mem_op = 12,
  conditional = 13,
};

enum class CUlaunchAttributeID : std::uint32_t { priority = 8 };

// A union there, of which the others are as the first of these.
struct alignas(8) CUlaunchAttributeValue {
  int priority = 0;
  std::array<unsigned char, 60> others{};
};

enum class CUdriverProcAddressQueryResult : std::uint32_t {
  success = 0,
  symbol_not_found = 1,
  version_not_sufficient = 2,
};

enum class CUdevResourceType : std::uint32_t { invalid = 0, sm = 1 };

struct CUdevSmResource {
  unsigned smCount = 0;
  unsigned minSmPartitionSize = 0;
  unsigned smCoscheduledAlignment = 0;
};

// Part of it is the driver's own, and is to be copied with the rest.
struct CUdevResource {
  CUdevResourceType type = CUdevResourceType::invalid;
  std::array<unsigned char, 92> internal{};
  CUdevSmResource sm;
  std::array<unsigned char, 36> reserved{};
};

// Finds the others: by name, with the version of the interface that the caller was written for.
using CuGetProcAddress = CUresult (*)(const char* symbol, void** address, int version, std::uint64_t flags,
                                      CUdriverProcAddressQueryResult* status);

// The entry points, as members of the driver's own names. Those of green contexts are all there or none is.
struct DriverCalls {
  CUresult (*cuDriverGetVersion)(int* version) = nullptr;
  CUresult (*cuInit)(unsigned flags) = nullptr;
  CUresult (*cuDeviceGetCount)(int* count) = nullptr;
  CUresult (*cuDeviceGet)(CUdevice* device, int ordinal) = nullptr;
  CUresult (*cuDeviceGetName)(char* name, int length, CUdevice device) = nullptr;
  CUresult (*cuDeviceGetAttribute)(int* value, CUdeviceAttribute attribute, CUdevice device) = nullptr;
  CUresult (*cuDeviceTotalMem)(std::size_t* bytes, CUdevice device) = nullptr;

  CUresult (*cuDevicePrimaryCtxRetain)(CUcontext* context, CUdevice device) = nullptr;
  CUresult (*cuDevicePrimaryCtxRelease)(CUdevice device) = nullptr;
  CUresult (*cuDevicePrimaryCtxSetFlags)(CUdevice device, unsigned flags) = nullptr;
  CUresult (*cuDevicePrimaryCtxGetState)(CUdevice device, unsigned* flags, int* active) = nullptr;
  CUresult (*cuCtxSetCurrent)(CUcontext context) = nullptr;
  CUresult (*cuCtxGetCurrent)(CUcontext* context) = nullptr;
  CUresult (*cuCtxGetStreamPriorityRange)(int* least, int* greatest) = nullptr;  // smaller numbers go first
  CUresult (*cuCtxSynchronize)() = nullptr;

  CUresult (*cuStreamCreateWithPriority)(CUstream* stream, unsigned flags, int priority) = nullptr;
  CUresult (*cuStreamGetPriority)(CUstream stream, int* priority) = nullptr;
  CUresult (*cuStreamGetFlags)(CUstream stream, unsigned* flags) = nullptr;
  CUresult (*cuStreamDestroy)(CUstream stream) = nullptr;
  CUresult (*cuStreamQuery)(CUstream stream) = nullptr;
  CUresult (*cuStreamSynchronize)(CUstream stream) = nullptr;
  CUresult (*cuStreamWaitEvent)(CUstream stream, CUevent event, unsigned flags) = nullptr;

  CUresult (*cuEventCreate)(CUevent* event, unsigned flags) = nullptr;
  CUresult (*cuEventRecord)(CUevent event, CUstream stream) = nullptr;
  CUresult (*cuEventQuery)(CUevent event) = nullptr;
  CUresult (*cuEventSynchronize)(CUevent event) = nullptr;
  CUresult (*cuEventElapsedTime)(float* milliseconds, CUevent start, CUevent end) = nullptr;
  CUresult (*cuEventDestroy)(CUevent event) = nullptr;

  CUresult (*cuMemAlloc)(CUdeviceptr* address, std::size_t bytes) = nullptr;
  CUresult (*cuMemFree)(CUdeviceptr address) = nullptr;
  CUresult (*cuMemGetInfo)(std::size_t* free, std::size_t* total) = nullptr;
  CUresult (*cuMemHostAlloc)(void** address, std::size_t bytes, unsigned flags) = nullptr;
  CUresult (*cuMemFreeHost)(void* address) = nullptr;
  CUresult (*cuMemcpyHtoDAsync)(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) = nullptr;
  CUresult (*cuMemcpyDtoHAsync)(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) = nullptr;
  CUresult (*cuMemcpyDtoDAsync)(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) = nullptr;
  CUresult (*cuMemsetD8Async)(CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream stream) = nullptr;

  CUresult (*cuModuleLoadData)(CUmodule* module, const void* image) = nullptr;
  CUresult (*cuModuleUnload)(CUmodule module) = nullptr;
  CUresult (*cuModuleGetFunction)(CUfunction* function, CUmodule module, const char* name) = nullptr;
  CUresult (*cuFuncGetAttribute)(int* value, CUfunctionAttribute attribute, CUfunction function) = nullptr;
  CUresult (*cuOccupancyMaxActiveBlocksPerMultiprocessor)(int* blocks, CUfunction function, int block_size,
                                                          std::size_t shared_bytes) = nullptr;
  CUresult (*cuLaunchKernel)(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                             unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream,
                             void** parameters, void** extra) = nullptr;

  CUresult (*cuStreamBeginCapture)(CUstream stream, CUstreamCaptureMode mode) = nullptr;
  CUresult (*cuStreamEndCapture)(CUstream stream, CUgraph* graph) = nullptr;
  CUresult (*cuGraphGetNodes)(CUgraph graph, CUgraphNode* nodes, std::size_t* count) = nullptr;
  CUresult (*cuGraphNodeGetType)(CUgraphNode node, CUgraphNodeType* type) = nullptr;
  CUresult (*cuGraphKernelNodeGetAttribute)(CUgraphNode node, CUlaunchAttributeID attribute,
                                            CUlaunchAttributeValue* value) = nullptr;
  CUresult (*cuGraphInstantiateWithFlags)(CUgraphExec* exec, CUgraph graph, unsigned long long flags) = nullptr;
  CUresult (*cuGraphUpload)(CUgraphExec exec, CUstream stream) = nullptr;
  CUresult (*cuGraphLaunch)(CUgraphExec exec, CUstream stream) = nullptr;
  CUresult (*cuGraphExecDestroy)(CUgraphExec exec) = nullptr;
  CUresult (*cuGraphDestroy)(CUgraph graph) = nullptr;

  CUresult (*cuDeviceGetDevResource)(CUdevice device, CUdevResource* resource, CUdevResourceType type) = nullptr;
  CUresult (*cuDevSmResourceSplitByCount)(CUdevResource* groups, unsigned* group_count, const CUdevResource* input,
                                          CUdevResource* remaining, unsigned flags, unsigned minimum) = nullptr;
  CUresult (*cuDevResourceGenerateDesc)(CUdevResourceDesc* description, CUdevResource* resources,
                                        unsigned count) = nullptr;
  CUresult (*cuGreenCtxCreate)(CUgreenCtx* context, CUdevResourceDesc description, CUdevice device,
                               unsigned flags) = nullptr;
  CUresult (*cuGreenCtxDestroy)(CUgreenCtx context) = nullptr;
  CUresult (*cuCtxFromGreenCtx)(CUcontext* context, CUgreenCtx green) = nullptr;
  CUresult (*cuGreenCtxGetDevResource)(CUgreenCtx context, CUdevResource* resource, CUdevResourceType type) = nullptr;
  CUresult (*cuGreenCtxStreamCreate)(CUstream* stream, CUgreenCtx context, unsigned flags, int priority) = nullptr;
};

}  // namespace rtgpu::cuda
