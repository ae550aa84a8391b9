// Launches of kernels and host functions.
#include "test/emulator/libcuda/entry.h"
#include "test/emulator/ptx/launch.h"

#include <cstring>

namespace trainc::emulator {

namespace {

/// CUDA error of a fault found by the emulator. Faults that hardware does not detect are reported as failed
/// launches.
CUresult resultOf(std::string_view fault) {
  const auto says = [&](std::string_view words) { return fault.find(words) != std::string_view::npos; };
  return says(" of global memory: ")             ? CUDA_ERROR_ILLEGAL_ADDRESS
         : says(", which is not a multiple of ") ? CUDA_ERROR_MISALIGNED_ADDRESS
                                                 : CUDA_ERROR_LAUNCH_FAILED;
}

/// Arguments of a launch, copied from the call.
struct KernelLaunch {
  std::shared_ptr<Module> module;
  const PtxFunction *function;
  std::array<uint32_t, 3> grid, block;
  uint32_t sharedBytes;
  std::vector<std::byte> parameters;
  DeviceMemory *memory;

  std::optional<Failure> operator()(uint64_t seed) const {
    if (module->unloaded)
      return Failure{CUDA_ERROR_ILLEGAL_INSTRUCTION,
                     fmt::format("kernel '{}' is of a module that was unloaded", function->name)};
    const Status status = run({function, grid, block, sharedBytes, parameters}, *memory, seed);
    if (status.ok())
      return std::nullopt;
    return Failure{resultOf(status.message()), status.message()};
  }
};

uint64_t product(const std::array<uint32_t, 3> &sizes) { return uint64_t{sizes[0]} * sizes[1] * sizes[2]; }

CUresult needSizes(const Call &call, const Function &function, const std::array<uint32_t, 3> &grid,
                   const std::array<uint32_t, 3> &block, uint32_t sharedBytes) {
  const std::string &name = function.ptx->name;
  if (std::min({grid[0], grid[1], grid[2], block[0], block[1], block[2]}) == 0)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "'{}': a size of the grid or of its blocks is 0", name);
  if (grid[0] > 0x7fffffffU || grid[1] > 0xffff || grid[2] > 0xffff)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "'{}': a grid of {} x {} x {} blocks", name, grid[0],
                       grid[1], grid[2]);
  const uint64_t maxThreads = std::min(kMaxThreads, function.ptx->maxThreads);
  if (product(block) > maxThreads || block[2] > 64)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "'{}': blocks of {} x {} x {} threads, at most {}", name,
                       block[0], block[1], block[2], maxThreads);
  if (const auto &required = function.ptx->requiredBlock; required[0] != 0 && block != required)
    return call.refuse(CUDA_ERROR_INVALID_VALUE,
                       "'{}': blocks of {} x {} x {} threads, expected {} x {} x {}", name, block[0],
                       block[1], block[2], required[0], required[1], required[2]);
  if (sharedBytes > function.dynamicLimit)
    return call.refuse(
        CUDA_ERROR_INVALID_VALUE,
        "'{}': {} bytes of dynamic shared memory, at most {} unless cuFuncSetAttribute allows more", name,
        sharedBytes, function.dynamicLimit);
  return CUDA_SUCCESS;
}

CUresult copyParameters(const Call &call, const PtxFunction &function, void **values,
                        std::vector<std::byte> &parameters) {
  parameters.resize(function.parameterBytes);
  for (const PtxParameter &parameter : function.parameters) {
    const void *value = values ? values[&parameter - function.parameters.data()] : nullptr;
    if (!value)
      return call.refuse(CUDA_ERROR_INVALID_VALUE, "'{}': parameter {} of {} is null", function.name,
                         &parameter - function.parameters.data(), function.parameters.size());
    std::memcpy(parameters.data() + parameter.offset, value, parameter.bytes);
  }
  return CUDA_SUCCESS;
}

} // namespace

} // namespace trainc::emulator

using namespace trainc::emulator;

extern "C" {

CUresult CUDAAPI cuLaunchKernel(CUfunction handle, unsigned int gridX, unsigned int gridY, unsigned int gridZ,
                                unsigned int blockX, unsigned int blockY, unsigned int blockZ,
                                unsigned int sharedBytes, CUstream streamHandle, void **values,
                                void **extra) {
  return entry("cuLaunchKernel", [&](Call &call) {
    std::shared_ptr<Function> function;
    std::shared_ptr<Stream> stream;
    TRAINC_CU(call.need(call.driver.functions, handle, function));
    TRAINC_CU(call.need(call.driver.streams, streamHandle, stream));
    KernelLaunch launch{function->module,
                        function->ptx,
                        {gridX, gridY, gridZ},
                        {blockX, blockY, blockZ},
                        sharedBytes,
                        {},
                        &call.context->device->memory};
    TRAINC_CU(needSizes(call, *function, launch.grid, launch.block, sharedBytes));
    if (extra)
      return call.refuse(CUDA_ERROR_INVALID_VALUE, "'{}': parameters in `extra` are not emulated",
                         function->ptx->name);
    TRAINC_CU(copyParameters(call, *function->ptx, values, launch.parameters));
    function->module->loadCode();
    return call.append(*stream, {.run = std::move(launch)});
  });
}

CUresult CUDAAPI cuLaunchHostFunc(CUstream handle, CUhostFn function, void *data) {
  return entry("cuLaunchHostFunc", [&](Call &call) {
    std::shared_ptr<Stream> stream;
    TRAINC_CU(call.need(call.driver.streams, handle, stream));
    if (!function)
      return call.refuse(CUDA_ERROR_INVALID_VALUE, "the function is null");
    return call.append(*stream, {.what = "a function of the host",
                                 .run =
                                     [function, data](uint64_t) {
                                       function(data);
                                       return std::optional<Failure>();
                                     },
                                 .usesHost = true});
  });
}

} // extern "C"
