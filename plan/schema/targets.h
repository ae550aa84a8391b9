// The targets of plans, and the traits in which they differ. targets.def lists them. Free of the plan's
// tables, so that settings can be declared with it.
#pragma once

#include "base/constant_text.h"
#include "base/cpu_features.h"
#include "plan/schema/cuda_levels.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <span>
#include <string_view>

namespace trainc {

/// A level of the code that a plan's objects hold.
struct CodeLevel {
  std::string_view name; ///< Object.level: "sm_90"
  std::string_view text =
      {}; ///< "PTX" for code that is text and ends with a zero byte; empty for machine code
};

inline constexpr auto kCpuCode = [] {
  std::array<CodeLevel, kCpuLevels.size()> levels;
  std::ranges::transform(kCpuLevels, levels.begin(), [](std::string_view name) { return CodeLevel{name}; });
  return levels;
}();
inline constexpr auto kCudaCode = [] {
  std::array<CodeLevel, std::size(kCudaLevels)> levels;
  std::ranges::transform(kCudaLevels, levels.begin(), [](const CudaLevel &level) {
    return CodeLevel{level.name, level.isPtx ? "PTX" : ""};
  });
  return levels;
}();

/// Upper bounds for a kernel of a plan.
struct KernelLimits {
  uint64_t maxGrid;       ///< blocks
  uint32_t maxThreads;    ///< threads of a block
  uint32_t maxBlockBytes; ///< memory of a block
};

/// A target: a kind of processor that plans are compiled for.
struct TargetTraits {
  std::string_view name;       ///< "cuda"
  std::string_view processors; ///< plural: "GPUs"
  std::string_view help;       ///< completes "Processors that the plan runs on: "
  std::span<const CodeLevel> code;
  KernelLimits kernels;
  std::string_view cluster; ///< built-in cluster (plan/cost) of a plan that names no GPU

  /// Whether the device is the host: its cores run the kernels, and its memory is the device's. Otherwise the
  /// host's memory and cores can hold and update what is offloaded (Kernel.on_host).
  bool isHost = false;
  /// Bytes that kernels access at a time, at addresses aligned to as many.
  uint64_t accessBytes = 1;
  /// Whether library calls take bf16, f16 and fp8, and may round f32 to TF32. Otherwise they take f32 alone.
  bool librariesTakeShort = false;
  /// Whether kernels of the plan compute the sums over ranks that the communicator cannot
  /// (Range.sum_kernel), among them all that widen. Otherwise the communicator computes all sums.
  bool sumsByKernel = false;
  /// Whether training gives the same bits on all devices of the target, except in bf16.
  bool trainsAlike = false;
  /// Whether devices have a compute capability, and the settings `gpu` and `gpu_levels` apply.
  bool hasComputeCapability = false;

  /// "GPU"
  constexpr std::string_view processor() const { return processors.substr(0, processors.size() - 1); }
};

inline constexpr TargetTraits kTargets[] = {
#define TRAINC_TARGET(target, ...) {.name = #target, __VA_ARGS__},
#include "plan/schema/targets.def"
#undef TRAINC_TARGET
};
inline constexpr const TargetTraits &kDefaultTarget = kTargets[0];
static_assert(kDefaultTarget.isHost, "its code runs kernels on the host's cores (Kernel.on_host), too");

/// Returns the target named `name`; null if there is none.
constexpr const TargetTraits *findTarget(std::string_view name) {
  const auto *const found = std::ranges::find(kTargets, name, &TargetTraits::name);
  return found == std::end(kTargets) ? nullptr : found;
}

inline constexpr bool hasDeviceMemory(const TargetTraits &target) { return !target.isHost; }

/// Returns the names of the targets that `isMeant` accepts, each within `quote`: "'cpu' or 'cuda'".
template <typename Predicate>
constexpr ConstantText namesOfTargets(Predicate isMeant, std::string_view quote = "") {
  ConstantText text;
  const auto count = std::ranges::count_if(kTargets, isMeant);
  auto left = count;
  for (const TargetTraits &each : kTargets)
    if (std::invoke(isMeant, each)) {
      text.add(left == count ? "" : left == 1 ? " or " : ", ").add(quote).add(each.name).add(quote);
      --left;
    }
  return text;
}

} // namespace trainc
