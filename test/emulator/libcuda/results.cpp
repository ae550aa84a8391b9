#include "test/emulator/libcuda/results.h"

#include <algorithm>
#include <iterator>

namespace trainc::emulator {

namespace {

#define TRAINC_RESULT(name, text) {name, #name, text}
constexpr ResultText kResults[] = {
    TRAINC_RESULT(CUDA_SUCCESS, "no error"),
    TRAINC_RESULT(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    TRAINC_RESULT(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    TRAINC_RESULT(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    TRAINC_RESULT(CUDA_ERROR_DEINITIALIZED, "driver shutting down"),
    TRAINC_RESULT(CUDA_ERROR_PROFILER_DISABLED, "profiler disabled"),
    TRAINC_RESULT(CUDA_ERROR_PROFILER_NOT_INITIALIZED, "profiler not initialized"),
    TRAINC_RESULT(CUDA_ERROR_PROFILER_ALREADY_STARTED, "profiler already started"),
    TRAINC_RESULT(CUDA_ERROR_PROFILER_ALREADY_STOPPED, "profiler already stopped"),
    TRAINC_RESULT(CUDA_ERROR_STUB_LIBRARY, "CUDA driver is a stub library"),
    TRAINC_RESULT(CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, "call requires newer driver"),
    TRAINC_RESULT(CUDA_ERROR_DEVICE_UNAVAILABLE, "device unavailable"),
    TRAINC_RESULT(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    TRAINC_RESULT(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    TRAINC_RESULT(CUDA_ERROR_DEVICE_NOT_LICENSED, "device not licensed"),
    TRAINC_RESULT(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
    TRAINC_RESULT(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    TRAINC_RESULT(CUDA_ERROR_CONTEXT_ALREADY_CURRENT, "context already current"),
    TRAINC_RESULT(CUDA_ERROR_MAP_FAILED, "map failed"),
    TRAINC_RESULT(CUDA_ERROR_UNMAP_FAILED, "unmap failed"),
    TRAINC_RESULT(CUDA_ERROR_ARRAY_IS_MAPPED, "array is mapped"),
    TRAINC_RESULT(CUDA_ERROR_ALREADY_MAPPED, "already mapped"),
    TRAINC_RESULT(CUDA_ERROR_NO_BINARY_FOR_GPU, "no kernel image is available for execution on the device"),
    TRAINC_RESULT(CUDA_ERROR_ALREADY_ACQUIRED, "already acquired"),
    TRAINC_RESULT(CUDA_ERROR_NOT_MAPPED, "not mapped"),
    TRAINC_RESULT(CUDA_ERROR_NOT_MAPPED_AS_ARRAY, "not mapped as array"),
    TRAINC_RESULT(CUDA_ERROR_NOT_MAPPED_AS_POINTER, "not mapped as pointer"),
    TRAINC_RESULT(CUDA_ERROR_ECC_UNCORRECTABLE, "uncorrectable ECC error encountered"),
    TRAINC_RESULT(CUDA_ERROR_UNSUPPORTED_LIMIT, "unsupported limit"),
    TRAINC_RESULT(CUDA_ERROR_CONTEXT_ALREADY_IN_USE, "context already in use"),
    TRAINC_RESULT(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "peer access unsupported"),
    TRAINC_RESULT(CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed"),
    TRAINC_RESULT(CUDA_ERROR_INVALID_GRAPHICS_CONTEXT, "invalid graphics context"),
    TRAINC_RESULT(CUDA_ERROR_NVLINK_UNCORRECTABLE,
                  "uncorrectable NVLink error detected during the execution"),
    TRAINC_RESULT(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "jit compiler not found"),
    TRAINC_RESULT(CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
                  "the provided PTX was compiled with an unsupported toolchain."),
    TRAINC_RESULT(CUDA_ERROR_JIT_COMPILATION_DISABLED, "jit compilation disabled"),
    TRAINC_RESULT(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, "unsupported exec affinity"),
    TRAINC_RESULT(CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC, "unsupported devside sync"),
    TRAINC_RESULT(CUDA_ERROR_CONTAINED, "contained"),
    TRAINC_RESULT(CUDA_ERROR_INVALID_SOURCE, "invalid source"),
    TRAINC_RESULT(CUDA_ERROR_FILE_NOT_FOUND, "file not found"),
    TRAINC_RESULT(CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, "shared object symbol not found"),
    TRAINC_RESULT(CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, "shared object init failed"),
    TRAINC_RESULT(CUDA_ERROR_OPERATING_SYSTEM, "operating system"),
    TRAINC_RESULT(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    TRAINC_RESULT(CUDA_ERROR_ILLEGAL_STATE, "the operation cannot be performed in the present state"),
    TRAINC_RESULT(CUDA_ERROR_LOSSY_QUERY, "lossy query"),
    TRAINC_RESULT(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    TRAINC_RESULT(CUDA_ERROR_NOT_READY, "device not ready"),
    TRAINC_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    TRAINC_RESULT(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"),
    TRAINC_RESULT(CUDA_ERROR_LAUNCH_TIMEOUT, "the launch timed out and was terminated"),
    TRAINC_RESULT(CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING, "launch incompatible texturing"),
    TRAINC_RESULT(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "peer access already enabled"),
    TRAINC_RESULT(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "peer access not enabled"),
    TRAINC_RESULT(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, "primary context active"),
    TRAINC_RESULT(CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"),
    TRAINC_RESULT(CUDA_ERROR_ASSERT, "assert"),
    TRAINC_RESULT(CUDA_ERROR_TOO_MANY_PEERS, "too many peers"),
    TRAINC_RESULT(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "host memory already registered"),
    TRAINC_RESULT(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "host memory not registered"),
    TRAINC_RESULT(CUDA_ERROR_HARDWARE_STACK_ERROR, "hardware stack error"),
    TRAINC_RESULT(CUDA_ERROR_ILLEGAL_INSTRUCTION, "illegal instruction"),
    TRAINC_RESULT(CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address"),
    TRAINC_RESULT(CUDA_ERROR_INVALID_ADDRESS_SPACE, "invalid address space"),
    TRAINC_RESULT(CUDA_ERROR_INVALID_PC, "invalid pc"),
    TRAINC_RESULT(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    TRAINC_RESULT(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "cooperative launch too large"),
    TRAINC_RESULT(CUDA_ERROR_TENSOR_MEMORY_LEAK, "tensor memory leak"),
    TRAINC_RESULT(CUDA_ERROR_NOT_PERMITTED, "operation not permitted"),
    TRAINC_RESULT(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
    TRAINC_RESULT(CUDA_ERROR_SYSTEM_NOT_READY, "system not ready"),
    TRAINC_RESULT(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
                  "system has unsupported display driver / cuda driver combination"),
    TRAINC_RESULT(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, "compat not supported on device"),
    TRAINC_RESULT(CUDA_ERROR_MPS_CONNECTION_FAILED, "mps connection failed"),
    TRAINC_RESULT(CUDA_ERROR_MPS_RPC_FAILURE, "mps rpc failure"),
    TRAINC_RESULT(CUDA_ERROR_MPS_SERVER_NOT_READY, "mps server not ready"),
    TRAINC_RESULT(CUDA_ERROR_MPS_MAX_CLIENTS_REACHED, "mps max clients reached"),
    TRAINC_RESULT(CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED, "mps max connections reached"),
    TRAINC_RESULT(CUDA_ERROR_MPS_CLIENT_TERMINATED, "mps client terminated"),
    TRAINC_RESULT(CUDA_ERROR_CDP_NOT_SUPPORTED, "cdp not supported"),
    TRAINC_RESULT(CUDA_ERROR_CDP_VERSION_MISMATCH, "cdp version mismatch"),
    TRAINC_RESULT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "operation not permitted when stream is capturing"),
    TRAINC_RESULT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                  "operation failed due to a previous error during capture"),
    TRAINC_RESULT(CUDA_ERROR_STREAM_CAPTURE_MERGE,
                  "operation would result in a merge of separate capture sequences"),
    TRAINC_RESULT(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
                  "capture was not ended in the same stream as it began"),
    TRAINC_RESULT(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "capturing stream has unjoined work"),
    TRAINC_RESULT(CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
                  "dependency created on uncaptured work in another stream"),
    TRAINC_RESULT(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "stream capture implicit"),
    TRAINC_RESULT(CUDA_ERROR_CAPTURED_EVENT,
                  "operation not permitted on an event last recorded in a capturing stream"),
    TRAINC_RESULT(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
                  "attempt to terminate a thread-local capture sequence from another thread"),
    TRAINC_RESULT(CUDA_ERROR_TIMEOUT, "timeout"),
    TRAINC_RESULT(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "graph exec update failure"),
    TRAINC_RESULT(CUDA_ERROR_EXTERNAL_DEVICE, "external device"),
    TRAINC_RESULT(CUDA_ERROR_INVALID_CLUSTER_SIZE, "invalid cluster size"),
    TRAINC_RESULT(CUDA_ERROR_FUNCTION_NOT_LOADED, "function not loaded"),
    TRAINC_RESULT(CUDA_ERROR_INVALID_RESOURCE_TYPE, "invalid resource type"),
    TRAINC_RESULT(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, "invalid resource configuration"),
    TRAINC_RESULT(CUDA_ERROR_KEY_ROTATION, "key rotation"),
    TRAINC_RESULT(CUDA_ERROR_UNKNOWN, "unknown error"),
};
#undef TRAINC_RESULT

} // namespace

const ResultText *textOf(CUresult result) {
  const auto *found = std::ranges::find(kResults, result, &ResultText::result);
  return found == std::end(kResults) ? nullptr : found;
}

std::string_view nameOf(CUresult result) {
  const ResultText *text = textOf(result);
  return text ? text->name : "an unknown result";
}

std::optional<int> resultNamed(std::string_view name) {
  const auto *found =
      std::ranges::find_if(kResults, [&](const ResultText &each) { return each.name == name; });
  return found == std::end(kResults) ? std::nullopt : std::optional<int>(found->result);
}

} // namespace trainc::emulator
