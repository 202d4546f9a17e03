#include "runtime/device/cuda/driver_error.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace rtgpu::cuda {
namespace {

struct KnownResult {
  CUresult result = CUresult::success;
  Severity severity = Severity::none;
  std::string_view name;  // without CUDA_ERROR_
  std::string_view text;
};

constexpr Severity kNone = Severity::none;
constexpr Severity kRetry = Severity::retry;
constexpr Severity kFailed = Severity::segment_failed;
constexpr Severity kLost = Severity::device_lost;

// Sorted by value. The severities:
// retry: an answer about time, not about the call: work that has not ended, services that are starting.
// device_lost: the errors after which the driver answers every call with the same one (faults of running kernels,
//   of the hardware, of what contains them, of a service that this process is a client of), the end of the driver or
//   the context below us, and those of which nobody says that they pass (unknown, key rotation).
// segment_failed: all others. They refuse a call: wrong values, no resources, not supported, wrong order. What was
//   submitted before is not touched. Out of memory is one: the run's own memory is reserved before it begins, so a
//   second try has no better prospects. An invalid context is one too: it is said of a thread that has none.
constexpr auto kResults = std::to_array<KnownResult>({
    {CUresult::success, kNone, "SUCCESS", "no error"},
    {CUresult::invalid_value, kFailed, "INVALID_VALUE", "an argument is out of its range"},
    {CUresult::out_of_memory, kFailed, "OUT_OF_MEMORY", "not enough memory or other resources are left"},
    {CUresult::not_initialized, kLost, "NOT_INITIALIZED", "the driver is not initialised in this process"},
    {CUresult::deinitialized, kLost, "DEINITIALIZED", "the driver is shutting down"},
    {CUresult::profiler_disabled, kFailed, "PROFILER_DISABLED", "the profiler is switched off"},
    {CUresult::profiler_not_initialized, kFailed, "PROFILER_NOT_INITIALIZED", "the profiler is not initialised"},
    {CUresult::profiler_already_started, kFailed, "PROFILER_ALREADY_STARTED", "the profiler is running"},
    {CUresult::profiler_already_stopped, kFailed, "PROFILER_ALREADY_STOPPED", "the profiler is not running"},
    {CUresult::stub_library, kFailed, "STUB_LIBRARY", "the library is the toolkit's stub, not the driver"},
    {CUresult::call_requires_newer_driver, kFailed, "CALL_REQUIRES_NEWER_DRIVER", "the driver is too old for this"},
    {CUresult::device_unavailable, kFailed, "DEVICE_UNAVAILABLE", "the device is in use or closed to this process"},
    {CUresult::no_device, kFailed, "NO_DEVICE", "there is no CUDA device"},
    {CUresult::invalid_device, kFailed, "INVALID_DEVICE", "there is no device of this number"},
    {CUresult::device_not_licensed, kFailed, "DEVICE_NOT_LICENSED", "the virtual GPU has no licence"},
    {CUresult::invalid_image, kFailed, "INVALID_IMAGE", "the module is not valid"},
    {CUresult::invalid_context, kFailed, "INVALID_CONTEXT", "the calling thread has no valid context"},
    {CUresult::context_already_current, kFailed, "CONTEXT_ALREADY_CURRENT", "the context is current already"},
    {CUresult::map_failed, kFailed, "MAP_FAILED", "mapping failed"},
    {CUresult::unmap_failed, kFailed, "UNMAP_FAILED", "unmapping failed"},
    {CUresult::array_is_mapped, kFailed, "ARRAY_IS_MAPPED", "the array is mapped"},
    {CUresult::already_mapped, kFailed, "ALREADY_MAPPED", "the resource is mapped already"},
    {CUresult::no_binary_for_gpu, kFailed, "NO_BINARY_FOR_GPU", "the module has no code for this device"},
    {CUresult::already_acquired, kFailed, "ALREADY_ACQUIRED", "the resource is held already"},
    {CUresult::not_mapped, kFailed, "NOT_MAPPED", "the resource is not mapped"},
    {CUresult::not_mapped_as_array, kFailed, "NOT_MAPPED_AS_ARRAY", "the resource is not mapped as an array"},
    {CUresult::not_mapped_as_pointer, kFailed, "NOT_MAPPED_AS_POINTER", "the resource is not mapped as a pointer"},
    {CUresult::ecc_uncorrectable, kLost, "ECC_UNCORRECTABLE", "device memory has an error beyond correction"},
    {CUresult::unsupported_limit, kFailed, "UNSUPPORTED_LIMIT", "the device has no such limit"},
    {CUresult::context_already_in_use, kFailed, "CONTEXT_ALREADY_IN_USE", "another thread has the context"},
    {CUresult::peer_access_unsupported, kFailed, "PEER_ACCESS_UNSUPPORTED", "the devices cannot reach each other"},
    {CUresult::invalid_ptx, kFailed, "INVALID_PTX", "PTX could not be compiled"},
    {CUresult::invalid_graphics_context, kFailed, "INVALID_GRAPHICS_CONTEXT", "the graphics context is not valid"},
    {CUresult::nvlink_uncorrectable, kLost, "NVLINK_UNCORRECTABLE", "a link has an error beyond correction"},
    {CUresult::jit_compiler_not_found, kFailed, "JIT_COMPILER_NOT_FOUND", "the compiler for PTX is not installed"},
    {CUresult::unsupported_ptx_version, kFailed, "UNSUPPORTED_PTX_VERSION", "the PTX is too new for the driver"},
    {CUresult::jit_compilation_disabled, kFailed, "JIT_COMPILATION_DISABLED", "compiling PTX is switched off"},
    {CUresult::unsupported_exec_affinity, kFailed, "UNSUPPORTED_EXEC_AFFINITY", "the device has no such affinity"},
    {CUresult::unsupported_devside_sync, kFailed, "UNSUPPORTED_DEVSIDE_SYNC", "a kernel waits for its own kernels"},
    {CUresult::contained, kLost, "CONTAINED", "a hardware error was contained at the cost of this process"},
    {CUresult::invalid_source, kFailed, "INVALID_SOURCE", "the source of a kernel is not valid"},
    {CUresult::file_not_found, kFailed, "FILE_NOT_FOUND", "a file is not there"},
    {CUresult::shared_object_symbol_not_found, kFailed, "SHARED_OBJECT_SYMBOL_NOT_FOUND", "a library lacks a symbol"},
    {CUresult::shared_object_init_failed, kFailed, "SHARED_OBJECT_INIT_FAILED", "a library could not be initialised"},
    {CUresult::operating_system, kFailed, "OPERATING_SYSTEM", "a call of the operating system failed"},
    {CUresult::invalid_handle, kFailed, "INVALID_HANDLE", "a handle is not valid"},
    {CUresult::illegal_state, kFailed, "ILLEGAL_STATE", "what the call needs is not in the right state"},
    {CUresult::lossy_query, kFailed, "LOSSY_QUERY", "the answer would leave something out"},
    {CUresult::not_found, kFailed, "NOT_FOUND", "there is no symbol of this name"},
    {CUresult::not_ready, kRetry, "NOT_READY", "the work has not ended yet"},
    {CUresult::illegal_address, kLost, "ILLEGAL_ADDRESS", "a kernel used memory that is not there"},
    {CUresult::launch_out_of_resources, kFailed, "LAUNCH_OUT_OF_RESOURCES",
     "the kernel needs more registers, threads or arguments than there are"},
    {CUresult::launch_timeout, kLost, "LAUNCH_TIMEOUT", "a kernel ran longer than the system allows"},
    {CUresult::launch_incompatible_texturing, kFailed, "LAUNCH_INCOMPATIBLE_TEXTURING", "texturing modes differ"},
    {CUresult::peer_access_already_enabled, kFailed, "PEER_ACCESS_ALREADY_ENABLED", "peer access is on already"},
    {CUresult::peer_access_not_enabled, kFailed, "PEER_ACCESS_NOT_ENABLED", "peer access is not on"},
    {CUresult::primary_context_active, kFailed, "PRIMARY_CONTEXT_ACTIVE", "the primary context exists already"},
    {CUresult::context_is_destroyed, kLost, "CONTEXT_IS_DESTROYED", "the context has been destroyed"},
    {CUresult::device_assert, kLost, "ASSERT", "an assertion in a kernel failed"},
    {CUresult::too_many_peers, kFailed, "TOO_MANY_PEERS", "no more devices can reach each other"},
    {CUresult::host_memory_already_registered, kFailed, "HOST_MEMORY_ALREADY_REGISTERED",
     "the memory is registered already"},
    {CUresult::host_memory_not_registered, kFailed, "HOST_MEMORY_NOT_REGISTERED", "the memory is not registered"},
    {CUresult::hardware_stack_error, kLost, "HARDWARE_STACK_ERROR", "a kernel's stack overflowed or is damaged"},
    {CUresult::illegal_instruction, kLost, "ILLEGAL_INSTRUCTION", "a kernel has an instruction that does not exist"},
    {CUresult::misaligned_address, kLost, "MISALIGNED_ADDRESS", "a kernel used an address that is not aligned"},
    {CUresult::invalid_address_space, kLost, "INVALID_ADDRESS_SPACE", "a kernel used an address of another space"},
    {CUresult::invalid_pc, kLost, "INVALID_PC", "a kernel's program counter left its code"},
    {CUresult::launch_failed, kLost, "LAUNCH_FAILED", "a kernel failed while it ran"},
    {CUresult::cooperative_launch_too_large, kFailed, "COOPERATIVE_LAUNCH_TOO_LARGE",
     "the blocks of a cooperative launch do not all fit on the device"},
    {CUresult::tensor_memory_leak, kLost, "TENSOR_MEMORY_LEAK", "a kernel ended without giving tensor memory back"},
    {CUresult::not_permitted, kFailed, "NOT_PERMITTED", "this is not permitted"},
    {CUresult::not_supported, kFailed, "NOT_SUPPORTED", "the device or the system does not support this"},
    {CUresult::system_not_ready, kRetry, "SYSTEM_NOT_READY", "a service that the driver needs is not running yet"},
    {CUresult::system_driver_mismatch, kFailed, "SYSTEM_DRIVER_MISMATCH",
     "the kernel module and the driver library are of different versions"},
    {CUresult::compat_not_supported_on_device, kFailed, "COMPAT_NOT_SUPPORTED_ON_DEVICE",
     "this device does not support a driver library newer than its kernel module"},
    {CUresult::mps_connection_failed, kFailed, "MPS_CONNECTION_FAILED", "MPS cannot be reached"},
    {CUresult::mps_rpc_failure, kLost, "MPS_RPC_FAILURE", "MPS does not answer"},
    {CUresult::mps_server_not_ready, kRetry, "MPS_SERVER_NOT_READY", "MPS takes no new clients at present"},
    {CUresult::mps_max_clients_reached, kFailed, "MPS_MAX_CLIENTS_REACHED", "MPS has no room for another client"},
    {CUresult::mps_max_connections_reached, kFailed, "MPS_MAX_CONNECTIONS_REACHED", "MPS has no connection left"},
    {CUresult::mps_client_terminated, kLost, "MPS_CLIENT_TERMINATED", "MPS has ended this client"},
    {CUresult::cdp_not_supported, kFailed, "CDP_NOT_SUPPORTED", "kernels cannot launch kernels here"},
    {CUresult::cdp_version_mismatch, kFailed, "CDP_VERSION_MISMATCH", "versions of kernel launches by kernels differ"},
    {CUresult::stream_capture_unsupported, kFailed, "STREAM_CAPTURE_UNSUPPORTED", "this cannot be captured"},
    {CUresult::stream_capture_invalidated, kFailed, "STREAM_CAPTURE_INVALIDATED", "the capture failed before"},
    {CUresult::stream_capture_merge, kFailed, "STREAM_CAPTURE_MERGE", "this would join two captures"},
    {CUresult::stream_capture_unmatched, kFailed, "STREAM_CAPTURE_UNMATCHED", "the capture began on another stream"},
    {CUresult::stream_capture_unjoined, kFailed, "STREAM_CAPTURE_UNJOINED", "a captured fork was not joined"},
    {CUresult::stream_capture_isolation, kFailed, "STREAM_CAPTURE_ISOLATION", "captured work depends on other work"},
    {CUresult::stream_capture_implicit, kFailed, "STREAM_CAPTURE_IMPLICIT",
     "the default stream would depend on the capture"},
    {CUresult::captured_event, kFailed, "CAPTURED_EVENT", "the event belongs to a capture"},
    {CUresult::stream_capture_wrong_thread, kFailed, "STREAM_CAPTURE_WRONG_THREAD", "another thread began the capture"},
    {CUresult::timeout, kRetry, "TIMEOUT", "the time given for a wait is over"},
    {CUresult::graph_exec_update_failure, kFailed, "GRAPH_EXEC_UPDATE_FAILURE", "the graph cannot be changed so"},
    {CUresult::external_device, kLost, "EXTERNAL_DEVICE", "another device reported an error to this one"},
    {CUresult::invalid_cluster_size, kFailed, "INVALID_CLUSTER_SIZE", "the clusters of a launch are not possible"},
    {CUresult::function_not_loaded, kFailed, "FUNCTION_NOT_LOADED", "the function is not loaded"},
    {CUresult::invalid_resource_type, kFailed, "INVALID_RESOURCE_TYPE", "a resource is of the wrong type"},
    {CUresult::invalid_resource_configuration, kFailed, "INVALID_RESOURCE_CONFIGURATION",
     "the resources are too few or do not fit together"},
    {CUresult::key_rotation, kLost, "KEY_ROTATION", "changing the keys of the device failed"},
    {CUresult::unknown, kLost, "UNKNOWN", "the driver does not know what happened"},
});

const KnownResult* find_result(CUresult result) {
  const auto* at = std::lower_bound(kResults.begin(), kResults.end(), result,
                                    [](const KnownResult& known, CUresult value) { return known.result < value; });
  return at != kResults.end() && at->result == result ? at : nullptr;
}

}  // namespace

Severity severity_of(CUresult result) {
  const KnownResult* known = find_result(result);
  return known != nullptr ? known->severity : Severity::device_lost;
}

std::string describe(CUresult result) {
  const auto number = static_cast<std::uint32_t>(result);
  const KnownResult* known = find_result(result);
  if (known == nullptr) return fmt::format("CUDA error {}, which is not known here", number);
  return fmt::format("CUDA_{}{} ({}): {}", result == CUresult::success ? "" : "ERROR_", known->name, number,
                     known->text);
}

}  // namespace rtgpu::cuda
