// Instruction-set levels of this CPU: they select the kernels of a plan and resolve --cpu=native.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// Levels for which plans hold kernels, in ascending order.
inline constexpr std::array<std::string_view, 4> kCpuLevels = {"x86-64-v3", "x86-64-v4", "x86-64-v4-bf16",
                                                               "x86-64-v4-amx"};

/// Returns the features that `level` and `extra` require and that this CPU or its operating system lacks,
/// spelled as in /proc/cpuinfo. `level` begins with a level of the x86-64 psABI ("x86-64-v3" or "x86-64-v4").
/// Features unknown to this program count as missing. If `extra` contains amx_tile, the function requests the
/// permission to use AMX for this process.
std::vector<std::string> missingFeatures(std::string_view level, const std::vector<std::string_view> &extra);

/// A number that is greater for levels of kCpuLevels that this CPU runs faster. The order is that of
/// kCpuLevels, except that Intel's CPUs run x86-64-v4-bf16 more slowly than x86-64-v4: a core starts two
/// multiply-adds of f32 numbers a cycle, and one vdpbf16ps, of twice as many terms, in two cycles.
int speedRank(std::string_view level);

/// The highest level of this CPU, "x86-64-v4" or "x86-64-v3"; empty if it supports neither.
std::string_view levelOfThisCpu();

} // namespace trainc
