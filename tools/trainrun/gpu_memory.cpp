#include "tools/trainrun/gpu_memory.h"

#include "base/units.h"
#include "plan/facts/memory_need.h"
#include "plan/facts/settings.h"
#include "plan/schema/gpu_memory.h"
#include "plan/settings/settings.h"

#include <algorithm>

namespace trainc {

namespace {

/// The plan's reserve, including the driver's context; the compiler's default if the plan does not say.
uint64_t reserveOf(const fb::Plan &plan) {
  return train::kReserveMemory.given(PlanSettings(plan)).value_or(gpuReserve(plan.ranks() > 1));
}

/// The context already exists; the rest of the reserve is still needed.
uint64_t withoutContext(uint64_t reserve) { return reserve - std::min(reserve, kGpuContextBytes); }

} // namespace

Result<std::optional<std::string>> checkGpuMemory(const fb::Plan &plan, const Device &device) {
  TRAINC_ASSIGN_OR_RETURN(const DeviceMemoryUse use, device.memoryUse());
  if (use.total == 0)
    return std::optional<std::string>();
  const uint64_t arenas = arenaBytesOf(plan).arenas, rest = withoutContext(reserveOf(plan));
  if (arenas + rest <= use.freeAtStart)
    return std::optional<std::string>();
  const uint64_t limit = use.freeAtStart + std::min(reserveOf(plan), kGpuContextBytes);
  const std::string found = fmt::format(
      "expected {} bytes ({}) free on the GPU for arenas and {} more for libraries and graphs, found {} ({}) "
      "of {}",
      arenas, formatNeededBytes(arenas), formatNeededBytes(rest), use.freeAtStart,
      formatBytes(use.freeAtStart), use.total);
  const std::string advice = fmt::format(
      "end what else uses the GPU (nvidia-smi), or compile with --memory-limit={}, which says what takes the "
      "bytes and what would help",
      sizeOfAtMost(limit));
  if (arenas > use.freeAtStart)
    return failed("{}; {}", found, advice);
  return std::optional(fmt::format("{}; the GPU's memory may run out: {}, or with a smaller "
                                   "--reserve-memory if the plan needs less",
                                   found, advice));
}

std::optional<std::string> describeGpuMemory(const fb::Plan &plan, const Device &device) {
  const Result<DeviceMemoryUse> use = device.memoryUse();
  if (!use.ok() || use->total == 0)
    return std::nullopt;
  std::string text = fmt::format(
      "GPU memory: {} in arenas; besides {} before the run (the driver's context{}, other processes), {} "
      "kernels, {} libraries, {} graphs and others",
      formatBytes(use->arenas), formatBytes(use->beforeStart()), plan.ranks() > 1 ? ", NCCL" : "",
      formatBytes(use->kernels), formatBytes(use->libraries), formatBytes(use->others));
  const uint64_t reserve = reserveOf(plan);
  if (use->besides() > withoutContext(reserve))
    text +=
        fmt::format("; the plan reserves {} for these: compile with --reserve-memory={}",
                    formatBytes(withoutContext(reserve)), sizeOfAtLeast(kGpuContextBytes + use->besides()));
  return text;
}

} // namespace trainc
