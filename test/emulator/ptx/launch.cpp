#include "test/emulator/ptx/launch.h"

#include "test/emulator/ptx/block.h"

#include <algorithm>
#include <numeric>

namespace trainc::emulator {

namespace {

constexpr uint64_t kMaxSharedBytes = uint64_t{227} * 1024;

/// Barrier time, continued across launches of a host thread: see GlobalMemory's pages.
uint64_t &latestTime() {
  thread_local uint64_t time = 0;
  return time;
}

Status checkLaunch(const PtxLaunch &launch) {
  const PtxFunction &function = *launch.function;
  const auto &[x, y, z] = launch.block;
  const uint64_t threads = uint64_t{x} * y * z;
  if (threads == 0 || threads > function.maxThreads)
    return invalidInput("kernel '{}' is launched with blocks of {} x {} x {} threads, and can have 1 to {}",
                        function.name, x, y, z, function.maxThreads);
  if (const auto &required = function.requiredBlock; required[0] != 0 && launch.block != required)
    return invalidInput("kernel '{}' is launched with blocks of {} x {} x {} threads, and needs {} x {} x {}",
                        function.name, x, y, z, required[0], required[1], required[2]);
  if (std::ranges::find(launch.grid, 0U) != launch.grid.end())
    return invalidInput("kernel '{}' is launched with a grid of {} x {} x {} blocks", function.name,
                        launch.grid[0], launch.grid[1], launch.grid[2]);
  if (launch.parameters.size() < function.parameterBytes)
    return invalidInput("kernel '{}' has {} bytes of parameters, and {} are given", function.name,
                        function.parameterBytes, launch.parameters.size());
  if (uint64_t{function.sharedBytes} + launch.dynamicSharedBytes > kMaxSharedBytes)
    return invalidInput("kernel '{}' is launched with {} + {} bytes of shared memory, a block has at most {}",
                        function.name, function.sharedBytes, launch.dynamicSharedBytes, kMaxSharedBytes);
  return {};
}

} // namespace

Status run(const PtxLaunch &launch, DeviceMemory &memory, uint64_t seed) {
  TRAINC_RETURN_IF_ERROR(checkLaunch(launch));
  const PtxProgram &program = *launch.function->program;
  LaunchState state = {launch, program, {memory, program}, BarrierOrder(latestTime()), Random(seed)};
  std::vector<uint32_t> blocks(size_t{launch.grid[0]} * launch.grid[1] * launch.grid[2]);
  std::iota(blocks.begin(), blocks.end(), 0U);
  for (size_t last = blocks.size(); last > 1; --last)
    std::swap(blocks[last - 1], blocks[state.random.below(last)]);
  Block block(state);
  Status status;
  for (size_t index = 0; index < blocks.size() && status.ok(); ++index)
    status = block.run(blocks[index]);
  latestTime() = state.order.now();
  return status;
}

} // namespace trainc::emulator
