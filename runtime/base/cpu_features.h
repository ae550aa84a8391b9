// Which instruction-set levels this CPU has: what plans run by, and what --cpu=native means.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// The levels that plans hold code for, the best last.
inline constexpr std::array<std::string_view, 4> kCpuLevels = {"x86-64-v3", "x86-64-v4", "x86-64-v4-bf16",
                                                               "x86-64-v4-amx"};

/// Features of the x86-64 psABI level that `level` begins with ("x86-64-v3" or "x86-64-v4"), and of `extra`,
/// that this CPU (or its operating system) lacks, spelled as in /proc/cpuinfo. Features that this program
/// does not know count as lacking. Where `extra` names the matrix unit (amx_tile), the process is granted its
/// use.
std::vector<std::string> missingFeatures(std::string_view level, const std::vector<std::string_view> &extra);

/// "x86-64-v4" or "x86-64-v3", the higher one that this CPU has; empty if it has none.
std::string_view levelOfThisCpu();

} // namespace trainc
