// Compiled only where cuda.h is found: our declarations of the driver API agree with it. Not part of any library.
// clang-format off: cuda.h comes first. Its macros rename entry points, and so rename them in our declarations too.
#include <cuda.h>
// clang-format on

#include "runtime/device/cuda/driver_api.h"

#include <cstddef>
#include <type_traits>

namespace rtgpu::cuda {
namespace {

// Our name for one of its types. Plain types are the same; a flag of cuda.h is a number in both.
template <class Theirs>
struct Ours {
  using Type = Theirs;
};
template <class Theirs>
using OursOf = typename Ours<Theirs>::Type;

template <class Theirs>
struct Ours<Theirs*> {
  using Type = OursOf<Theirs>*;
};
template <class Theirs>
struct Ours<const Theirs> {
  using Type = const OursOf<Theirs>;
};
template <class Answer, class... Arguments>
struct Ours<Answer(Arguments...)> {
  using Type = OursOf<Answer>(OursOf<Arguments>...);
};
template <>
struct Ours<::CUresult> {
  using Type = CUresult;
};
template <>
struct Ours<::CUdevice_attribute> {
  using Type = CUdeviceAttribute;
};
template <>
struct Ours<::CUfunction_attribute> {
  using Type = CUfunctionAttribute;
};
template <>
struct Ours<::CUstreamCaptureMode> {
  using Type = CUstreamCaptureMode;
};
template <>
struct Ours<::CUdriverProcAddressQueryResult> {
  using Type = CUdriverProcAddressQueryResult;
};
template <>
struct Ours<::CUdevResourceType> {
  using Type = CUdevResourceType;
};
template <>
struct Ours<::CUgraphNodeType> {
  using Type = CUgraphNodeType;
};
template <>
struct Ours<::CUlaunchAttributeID> {
  using Type = CUlaunchAttributeID;
};
template <>
struct Ours<::CUlaunchAttributeValue> {
  using Type = CUlaunchAttributeValue;
};
template <>
struct Ours<::CUdevResource> {
  using Type = CUdevResource;
};
template <>
struct Ours<::CUctx_st> {
  using Type = CUctx_st;
};
template <>
struct Ours<::CUmod_st> {
  using Type = CUmod_st;
};
template <>
struct Ours<::CUfunc_st> {
  using Type = CUfunc_st;
};
template <>
struct Ours<::CUstream_st> {
  using Type = CUstream_st;
};
template <>
struct Ours<::CUevent_st> {
  using Type = CUevent_st;
};
template <>
struct Ours<::CUgraph_st> {
  using Type = CUgraph_st;
};
template <>
struct Ours<::CUgraphNode_st> {
  using Type = CUgraphNode_st;
};
template <>
struct Ours<::CUgraphExec_st> {
  using Type = CUgraphExec_st;
};
template <>
struct Ours<::CUgreenCtx_st> {
  using Type = CUgreenCtx_st;
};
template <>
struct Ours<::CUdevResourceDesc_st> {
  using Type = CUdevResourceDesc_st;
};

template <auto Theirs, class Call>
constexpr bool kAgrees = std::is_same_v<OursOf<decltype(Theirs)>, Call>;

// Enumerations and handles are passed as what they are.
template <class Our, class Their>
constexpr bool kSameEnum = std::is_same_v<std::underlying_type_t<Our>, std::underlying_type_t<Their>>;

template <class Our, class Their>
constexpr bool same(Our our, Their their) {
  return static_cast<unsigned long long>(our) == static_cast<unsigned long long>(their);
}

static_assert(kSameEnum<CUresult, ::CUresult>);
static_assert(kSameEnum<CUdeviceAttribute, ::CUdevice_attribute>);
static_assert(kSameEnum<CUfunctionAttribute, ::CUfunction_attribute>);
static_assert(kSameEnum<CUstreamCaptureMode, ::CUstreamCaptureMode>);
static_assert(kSameEnum<CUdriverProcAddressQueryResult, ::CUdriverProcAddressQueryResult>);
static_assert(kSameEnum<CUgraphNodeType, ::CUgraphNodeType>);
static_assert(kSameEnum<CUlaunchAttributeID, ::CUlaunchAttributeID>);
static_assert(kSameEnum<CUdevResourceType, ::CUdevResourceType>);
static_assert(std::is_same_v<CUdevice, ::CUdevice>);
static_assert(std::is_same_v<CUdeviceptr, ::CUdeviceptr>);
static_assert(std::is_same_v<std::uint64_t, ::cuuint64_t>);

static_assert(sizeof(CUdevSmResource) == sizeof(::CUdevSmResource));
static_assert(offsetof(CUdevSmResource, smCount) == offsetof(::CUdevSmResource, smCount));
static_assert(offsetof(CUdevSmResource, minSmPartitionSize) == offsetof(::CUdevSmResource, minSmPartitionSize));
static_assert(offsetof(CUdevSmResource, smCoscheduledAlignment) == offsetof(::CUdevSmResource, smCoscheduledAlignment));
static_assert(sizeof(CUdevResource) == sizeof(::CUdevResource));
static_assert(alignof(CUdevResource) == alignof(::CUdevResource));
static_assert(offsetof(CUdevResource, type) == offsetof(::CUdevResource, type));
static_assert(offsetof(CUdevResource, sm) == offsetof(::CUdevResource, sm));
static_assert(sizeof(CUlaunchAttributeValue) == sizeof(::CUlaunchAttributeValue));
static_assert(alignof(CUlaunchAttributeValue) == alignof(::CUlaunchAttributeValue));
static_assert(offsetof(CUlaunchAttributeValue, priority) == offsetof(::CUlaunchAttributeValue, priority));

static_assert(same(CUresult::success, CUDA_SUCCESS));
static_assert(same(CUresult::invalid_value, CUDA_ERROR_INVALID_VALUE));
static_assert(same(CUresult::out_of_memory, CUDA_ERROR_OUT_OF_MEMORY));
static_assert(same(CUresult::not_initialized, CUDA_ERROR_NOT_INITIALIZED));
static_assert(same(CUresult::deinitialized, CUDA_ERROR_DEINITIALIZED));
static_assert(same(CUresult::profiler_disabled, CUDA_ERROR_PROFILER_DISABLED));
static_assert(same(CUresult::profiler_not_initialized, CUDA_ERROR_PROFILER_NOT_INITIALIZED));
static_assert(same(CUresult::profiler_already_started, CUDA_ERROR_PROFILER_ALREADY_STARTED));
static_assert(same(CUresult::profiler_already_stopped, CUDA_ERROR_PROFILER_ALREADY_STOPPED));
static_assert(same(CUresult::stub_library, CUDA_ERROR_STUB_LIBRARY));
static_assert(same(CUresult::call_requires_newer_driver, CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER));
static_assert(same(CUresult::device_unavailable, CUDA_ERROR_DEVICE_UNAVAILABLE));
static_assert(same(CUresult::no_device, CUDA_ERROR_NO_DEVICE));
static_assert(same(CUresult::invalid_device, CUDA_ERROR_INVALID_DEVICE));
static_assert(same(CUresult::device_not_licensed, CUDA_ERROR_DEVICE_NOT_LICENSED));
static_assert(same(CUresult::invalid_image, CUDA_ERROR_INVALID_IMAGE));
static_assert(same(CUresult::invalid_context, CUDA_ERROR_INVALID_CONTEXT));
static_assert(same(CUresult::context_already_current, CUDA_ERROR_CONTEXT_ALREADY_CURRENT));
static_assert(same(CUresult::map_failed, CUDA_ERROR_MAP_FAILED));
static_assert(same(CUresult::unmap_failed, CUDA_ERROR_UNMAP_FAILED));
static_assert(same(CUresult::array_is_mapped, CUDA_ERROR_ARRAY_IS_MAPPED));
static_assert(same(CUresult::already_mapped, CUDA_ERROR_ALREADY_MAPPED));
static_assert(same(CUresult::no_binary_for_gpu, CUDA_ERROR_NO_BINARY_FOR_GPU));
static_assert(same(CUresult::already_acquired, CUDA_ERROR_ALREADY_ACQUIRED));
static_assert(same(CUresult::not_mapped, CUDA_ERROR_NOT_MAPPED));
static_assert(same(CUresult::not_mapped_as_array, CUDA_ERROR_NOT_MAPPED_AS_ARRAY));
static_assert(same(CUresult::not_mapped_as_pointer, CUDA_ERROR_NOT_MAPPED_AS_POINTER));
static_assert(same(CUresult::ecc_uncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE));
static_assert(same(CUresult::unsupported_limit, CUDA_ERROR_UNSUPPORTED_LIMIT));
static_assert(same(CUresult::context_already_in_use, CUDA_ERROR_CONTEXT_ALREADY_IN_USE));
static_assert(same(CUresult::peer_access_unsupported, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED));
static_assert(same(CUresult::invalid_ptx, CUDA_ERROR_INVALID_PTX));
static_assert(same(CUresult::invalid_graphics_context, CUDA_ERROR_INVALID_GRAPHICS_CONTEXT));
static_assert(same(CUresult::nvlink_uncorrectable, CUDA_ERROR_NVLINK_UNCORRECTABLE));
static_assert(same(CUresult::jit_compiler_not_found, CUDA_ERROR_JIT_COMPILER_NOT_FOUND));
static_assert(same(CUresult::unsupported_ptx_version, CUDA_ERROR_UNSUPPORTED_PTX_VERSION));
static_assert(same(CUresult::jit_compilation_disabled, CUDA_ERROR_JIT_COMPILATION_DISABLED));
static_assert(same(CUresult::unsupported_exec_affinity, CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY));
static_assert(same(CUresult::unsupported_devside_sync, CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC));
static_assert(same(CUresult::contained, CUDA_ERROR_CONTAINED));
static_assert(same(CUresult::invalid_source, CUDA_ERROR_INVALID_SOURCE));
static_assert(same(CUresult::file_not_found, CUDA_ERROR_FILE_NOT_FOUND));
static_assert(same(CUresult::shared_object_symbol_not_found, CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND));
static_assert(same(CUresult::shared_object_init_failed, CUDA_ERROR_SHARED_OBJECT_INIT_FAILED));
static_assert(same(CUresult::operating_system, CUDA_ERROR_OPERATING_SYSTEM));
static_assert(same(CUresult::invalid_handle, CUDA_ERROR_INVALID_HANDLE));
static_assert(same(CUresult::illegal_state, CUDA_ERROR_ILLEGAL_STATE));
static_assert(same(CUresult::lossy_query, CUDA_ERROR_LOSSY_QUERY));
static_assert(same(CUresult::not_found, CUDA_ERROR_NOT_FOUND));
static_assert(same(CUresult::not_ready, CUDA_ERROR_NOT_READY));
static_assert(same(CUresult::illegal_address, CUDA_ERROR_ILLEGAL_ADDRESS));
static_assert(same(CUresult::launch_out_of_resources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES));
static_assert(same(CUresult::launch_timeout, CUDA_ERROR_LAUNCH_TIMEOUT));
static_assert(same(CUresult::launch_incompatible_texturing, CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING));
static_assert(same(CUresult::peer_access_already_enabled, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED));
static_assert(same(CUresult::peer_access_not_enabled, CUDA_ERROR_PEER_ACCESS_NOT_ENABLED));
static_assert(same(CUresult::primary_context_active, CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE));
static_assert(same(CUresult::context_is_destroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED));
static_assert(same(CUresult::device_assert, CUDA_ERROR_ASSERT));
static_assert(same(CUresult::too_many_peers, CUDA_ERROR_TOO_MANY_PEERS));
static_assert(same(CUresult::host_memory_already_registered, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED));
static_assert(same(CUresult::host_memory_not_registered, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED));
static_assert(same(CUresult::hardware_stack_error, CUDA_ERROR_HARDWARE_STACK_ERROR));
static_assert(same(CUresult::illegal_instruction, CUDA_ERROR_ILLEGAL_INSTRUCTION));
static_assert(same(CUresult::misaligned_address, CUDA_ERROR_MISALIGNED_ADDRESS));
static_assert(same(CUresult::invalid_address_space, CUDA_ERROR_INVALID_ADDRESS_SPACE));
static_assert(same(CUresult::invalid_pc, CUDA_ERROR_INVALID_PC));
static_assert(same(CUresult::launch_failed, CUDA_ERROR_LAUNCH_FAILED));
static_assert(same(CUresult::cooperative_launch_too_large, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE));
static_assert(same(CUresult::tensor_memory_leak, CUDA_ERROR_TENSOR_MEMORY_LEAK));
static_assert(same(CUresult::not_permitted, CUDA_ERROR_NOT_PERMITTED));
static_assert(same(CUresult::not_supported, CUDA_ERROR_NOT_SUPPORTED));
static_assert(same(CUresult::system_not_ready, CUDA_ERROR_SYSTEM_NOT_READY));
static_assert(same(CUresult::system_driver_mismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH));
static_assert(same(CUresult::compat_not_supported_on_device, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE));
static_assert(same(CUresult::mps_connection_failed, CUDA_ERROR_MPS_CONNECTION_FAILED));
static_assert(same(CUresult::mps_rpc_failure, CUDA_ERROR_MPS_RPC_FAILURE));
static_assert(same(CUresult::mps_server_not_ready, CUDA_ERROR_MPS_SERVER_NOT_READY));
static_assert(same(CUresult::mps_max_clients_reached, CUDA_ERROR_MPS_MAX_CLIENTS_REACHED));
static_assert(same(CUresult::mps_max_connections_reached, CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED));
static_assert(same(CUresult::mps_client_terminated, CUDA_ERROR_MPS_CLIENT_TERMINATED));
static_assert(same(CUresult::cdp_not_supported, CUDA_ERROR_CDP_NOT_SUPPORTED));
static_assert(same(CUresult::cdp_version_mismatch, CUDA_ERROR_CDP_VERSION_MISMATCH));
static_assert(same(CUresult::stream_capture_unsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED));
static_assert(same(CUresult::stream_capture_invalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED));
static_assert(same(CUresult::stream_capture_merge, CUDA_ERROR_STREAM_CAPTURE_MERGE));
static_assert(same(CUresult::stream_capture_unmatched, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED));
static_assert(same(CUresult::stream_capture_unjoined, CUDA_ERROR_STREAM_CAPTURE_UNJOINED));
static_assert(same(CUresult::stream_capture_isolation, CUDA_ERROR_STREAM_CAPTURE_ISOLATION));
static_assert(same(CUresult::stream_capture_implicit, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT));
static_assert(same(CUresult::captured_event, CUDA_ERROR_CAPTURED_EVENT));
static_assert(same(CUresult::stream_capture_wrong_thread, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD));
static_assert(same(CUresult::timeout, CUDA_ERROR_TIMEOUT));
static_assert(same(CUresult::graph_exec_update_failure, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE));
static_assert(same(CUresult::external_device, CUDA_ERROR_EXTERNAL_DEVICE));
static_assert(same(CUresult::invalid_cluster_size, CUDA_ERROR_INVALID_CLUSTER_SIZE));
static_assert(same(CUresult::function_not_loaded, CUDA_ERROR_FUNCTION_NOT_LOADED));
static_assert(same(CUresult::invalid_resource_type, CUDA_ERROR_INVALID_RESOURCE_TYPE));
static_assert(same(CUresult::invalid_resource_configuration, CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION));
static_assert(same(CUresult::key_rotation, CUDA_ERROR_KEY_ROTATION));
static_assert(same(CUresult::unknown, CUDA_ERROR_UNKNOWN));

static_assert(same(CUdeviceAttribute::multiprocessor_count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
static_assert(same(CUdeviceAttribute::kernel_exec_timeout, CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT));
static_assert(same(CUdeviceAttribute::integrated, CU_DEVICE_ATTRIBUTE_INTEGRATED));
static_assert(same(CUdeviceAttribute::compute_mode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE));
static_assert(same(CUdeviceAttribute::concurrent_kernels, CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS));
static_assert(same(CUdeviceAttribute::async_engine_count, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT));
static_assert(same(CUdeviceAttribute::compute_capability_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
static_assert(same(CUdeviceAttribute::compute_capability_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
static_assert(same(CUdeviceAttribute::stream_priorities_supported, CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED));
static_assert(same(CUdeviceAttribute::compute_preemption_supported, CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED));
static_assert(same(CUfunctionAttribute::max_threads_per_block, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
static_assert(same(CUfunctionAttribute::shared_size_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
static_assert(same(CUfunctionAttribute::local_size_bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
static_assert(same(CUfunctionAttribute::num_regs, CU_FUNC_ATTRIBUTE_NUM_REGS));
static_assert(same(CUstreamCaptureMode::global, CU_STREAM_CAPTURE_MODE_GLOBAL));
static_assert(same(CUstreamCaptureMode::thread_local_only, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
static_assert(same(CUstreamCaptureMode::relaxed, CU_STREAM_CAPTURE_MODE_RELAXED));
static_assert(same(CUgraphNodeType::kernel, CU_GRAPH_NODE_TYPE_KERNEL));
static_assert(same(CUgraphNodeType::memcpy, CU_GRAPH_NODE_TYPE_MEMCPY));
static_assert(same(CUgraphNodeType::memset, CU_GRAPH_NODE_TYPE_MEMSET));
static_assert(same(CUgraphNodeType::host, CU_GRAPH_NODE_TYPE_HOST));
static_assert(same(CUgraphNodeType::graph, CU_GRAPH_NODE_TYPE_GRAPH));
static_assert(same(CUgraphNodeType::empty, CU_GRAPH_NODE_TYPE_EMPTY));
static_assert(same(CUgraphNodeType::wait_event, CU_GRAPH_NODE_TYPE_WAIT_EVENT));
static_assert(same(CUgraphNodeType::event_record, CU_GRAPH_NODE_TYPE_EVENT_RECORD));
static_assert(same(CUgraphNodeType::ext_semas_signal, CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL));
static_assert(same(CUgraphNodeType::ext_semas_wait, CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT));
static_assert(same(CUgraphNodeType::mem_alloc, CU_GRAPH_NODE_TYPE_MEM_ALLOC));
static_assert(same(CUgraphNodeType::mem_free, CU_GRAPH_NODE_TYPE_MEM_FREE));
static_assert(same(CUgraphNodeType::batch_mem_op, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP));
static_assert(same(CUgraphNodeType::conditional, CU_GRAPH_NODE_TYPE_CONDITIONAL));
static_assert(same(CUlaunchAttributeID::priority, CU_LAUNCH_ATTRIBUTE_PRIORITY));
static_assert(same(CUdriverProcAddressQueryResult::success, CU_GET_PROC_ADDRESS_SUCCESS));
static_assert(same(CUdriverProcAddressQueryResult::symbol_not_found, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND));
static_assert(same(CUdriverProcAddressQueryResult::version_not_sufficient, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT));
static_assert(same(CUdevResourceType::invalid, CU_DEV_RESOURCE_TYPE_INVALID));
static_assert(same(CUdevResourceType::sm, CU_DEV_RESOURCE_TYPE_SM));
static_assert(same(kContextSchedSpin, CU_CTX_SCHED_SPIN));
static_assert(same(kContextSchedYield, CU_CTX_SCHED_YIELD));
static_assert(same(kContextSchedBlockingSync, CU_CTX_SCHED_BLOCKING_SYNC));
static_assert(same(kStreamDefault, CU_STREAM_DEFAULT));
static_assert(same(kStreamNonBlocking, CU_STREAM_NON_BLOCKING));
static_assert(same(kEventDefault, CU_EVENT_DEFAULT));
static_assert(same(kEventBlockingSync, CU_EVENT_BLOCKING_SYNC));
static_assert(same(kEventDisableTiming, CU_EVENT_DISABLE_TIMING));
static_assert(same(kMemHostAllocPortable, CU_MEMHOSTALLOC_PORTABLE));
static_assert(same(kGreenCtxDefaultStream, CU_GREEN_CTX_DEFAULT_STREAM));
static_assert(same(kSmSplitIgnoreCoscheduling, CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING));
static_assert(same(kGraphUseNodePriority, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY));
static_assert(same(kProcAddressDefault, CU_GET_PROC_ADDRESS_DEFAULT));

// Macros of cuda.h turn some of these names into those of the versions that entry_points.h asks for.
static_assert(kAgrees<&::cuGetProcAddress, CuGetProcAddress>);
static_assert(kAgrees<&::cuDriverGetVersion, decltype(DriverCalls::cuDriverGetVersion)>);
static_assert(kAgrees<&::cuInit, decltype(DriverCalls::cuInit)>);
static_assert(kAgrees<&::cuDeviceGetCount, decltype(DriverCalls::cuDeviceGetCount)>);
static_assert(kAgrees<&::cuDeviceGet, decltype(DriverCalls::cuDeviceGet)>);
static_assert(kAgrees<&::cuDeviceGetName, decltype(DriverCalls::cuDeviceGetName)>);
static_assert(kAgrees<&::cuDeviceGetAttribute, decltype(DriverCalls::cuDeviceGetAttribute)>);
static_assert(kAgrees<&::cuDeviceTotalMem, decltype(DriverCalls::cuDeviceTotalMem)>);
static_assert(kAgrees<&::cuDevicePrimaryCtxRetain, decltype(DriverCalls::cuDevicePrimaryCtxRetain)>);
static_assert(kAgrees<&::cuDevicePrimaryCtxRelease, decltype(DriverCalls::cuDevicePrimaryCtxRelease)>);
static_assert(kAgrees<&::cuDevicePrimaryCtxSetFlags, decltype(DriverCalls::cuDevicePrimaryCtxSetFlags)>);
static_assert(kAgrees<&::cuDevicePrimaryCtxGetState, decltype(DriverCalls::cuDevicePrimaryCtxGetState)>);
static_assert(kAgrees<&::cuCtxSetCurrent, decltype(DriverCalls::cuCtxSetCurrent)>);
static_assert(kAgrees<&::cuCtxGetCurrent, decltype(DriverCalls::cuCtxGetCurrent)>);
static_assert(kAgrees<&::cuCtxGetStreamPriorityRange, decltype(DriverCalls::cuCtxGetStreamPriorityRange)>);
static_assert(kAgrees<&::cuCtxSynchronize, decltype(DriverCalls::cuCtxSynchronize)>);
static_assert(kAgrees<&::cuStreamCreateWithPriority, decltype(DriverCalls::cuStreamCreateWithPriority)>);
static_assert(kAgrees<&::cuStreamGetPriority, decltype(DriverCalls::cuStreamGetPriority)>);
static_assert(kAgrees<&::cuStreamGetFlags, decltype(DriverCalls::cuStreamGetFlags)>);
static_assert(kAgrees<&::cuStreamDestroy, decltype(DriverCalls::cuStreamDestroy)>);
static_assert(kAgrees<&::cuStreamQuery, decltype(DriverCalls::cuStreamQuery)>);
static_assert(kAgrees<&::cuStreamSynchronize, decltype(DriverCalls::cuStreamSynchronize)>);
static_assert(kAgrees<&::cuStreamWaitEvent, decltype(DriverCalls::cuStreamWaitEvent)>);
static_assert(kAgrees<&::cuEventCreate, decltype(DriverCalls::cuEventCreate)>);
static_assert(kAgrees<&::cuEventRecord, decltype(DriverCalls::cuEventRecord)>);
static_assert(kAgrees<&::cuEventQuery, decltype(DriverCalls::cuEventQuery)>);
static_assert(kAgrees<&::cuEventSynchronize, decltype(DriverCalls::cuEventSynchronize)>);
static_assert(kAgrees<&::cuEventElapsedTime, decltype(DriverCalls::cuEventElapsedTime)>);
static_assert(kAgrees<&::cuEventDestroy, decltype(DriverCalls::cuEventDestroy)>);
static_assert(kAgrees<&::cuMemAlloc, decltype(DriverCalls::cuMemAlloc)>);
static_assert(kAgrees<&::cuMemFree, decltype(DriverCalls::cuMemFree)>);
static_assert(kAgrees<&::cuMemGetInfo, decltype(DriverCalls::cuMemGetInfo)>);
static_assert(kAgrees<&::cuMemHostAlloc, decltype(DriverCalls::cuMemHostAlloc)>);
static_assert(kAgrees<&::cuMemFreeHost, decltype(DriverCalls::cuMemFreeHost)>);
static_assert(kAgrees<&::cuMemcpyHtoDAsync, decltype(DriverCalls::cuMemcpyHtoDAsync)>);
static_assert(kAgrees<&::cuMemcpyDtoHAsync, decltype(DriverCalls::cuMemcpyDtoHAsync)>);
static_assert(kAgrees<&::cuMemcpyDtoDAsync, decltype(DriverCalls::cuMemcpyDtoDAsync)>);
static_assert(kAgrees<&::cuMemsetD8Async, decltype(DriverCalls::cuMemsetD8Async)>);
static_assert(kAgrees<&::cuModuleLoadData, decltype(DriverCalls::cuModuleLoadData)>);
static_assert(kAgrees<&::cuModuleUnload, decltype(DriverCalls::cuModuleUnload)>);
static_assert(kAgrees<&::cuModuleGetFunction, decltype(DriverCalls::cuModuleGetFunction)>);
static_assert(kAgrees<&::cuFuncGetAttribute, decltype(DriverCalls::cuFuncGetAttribute)>);
static_assert(kAgrees<&::cuOccupancyMaxActiveBlocksPerMultiprocessor,
                      decltype(DriverCalls::cuOccupancyMaxActiveBlocksPerMultiprocessor)>);
static_assert(kAgrees<&::cuLaunchKernel, decltype(DriverCalls::cuLaunchKernel)>);
static_assert(kAgrees<&::cuStreamBeginCapture, decltype(DriverCalls::cuStreamBeginCapture)>);
static_assert(kAgrees<&::cuStreamEndCapture, decltype(DriverCalls::cuStreamEndCapture)>);
static_assert(kAgrees<&::cuGraphGetNodes, decltype(DriverCalls::cuGraphGetNodes)>);
static_assert(kAgrees<&::cuGraphNodeGetType, decltype(DriverCalls::cuGraphNodeGetType)>);
static_assert(kAgrees<&::cuGraphKernelNodeGetAttribute, decltype(DriverCalls::cuGraphKernelNodeGetAttribute)>);
static_assert(kAgrees<&::cuGraphInstantiateWithFlags, decltype(DriverCalls::cuGraphInstantiateWithFlags)>);
static_assert(kAgrees<&::cuGraphUpload, decltype(DriverCalls::cuGraphUpload)>);
static_assert(kAgrees<&::cuGraphLaunch, decltype(DriverCalls::cuGraphLaunch)>);
static_assert(kAgrees<&::cuGraphExecDestroy, decltype(DriverCalls::cuGraphExecDestroy)>);
static_assert(kAgrees<&::cuGraphDestroy, decltype(DriverCalls::cuGraphDestroy)>);
static_assert(kAgrees<&::cuDeviceGetDevResource, decltype(DriverCalls::cuDeviceGetDevResource)>);
static_assert(kAgrees<&::cuDevSmResourceSplitByCount, decltype(DriverCalls::cuDevSmResourceSplitByCount)>);
static_assert(kAgrees<&::cuDevResourceGenerateDesc, decltype(DriverCalls::cuDevResourceGenerateDesc)>);
static_assert(kAgrees<&::cuGreenCtxCreate, decltype(DriverCalls::cuGreenCtxCreate)>);
static_assert(kAgrees<&::cuGreenCtxDestroy, decltype(DriverCalls::cuGreenCtxDestroy)>);
static_assert(kAgrees<&::cuCtxFromGreenCtx, decltype(DriverCalls::cuCtxFromGreenCtx)>);
static_assert(kAgrees<&::cuGreenCtxGetDevResource, decltype(DriverCalls::cuGreenCtxGetDevResource)>);
static_assert(kAgrees<&::cuGreenCtxStreamCreate, decltype(DriverCalls::cuGreenCtxStreamCreate)>);

}  // namespace
}  // namespace rtgpu::cuda
