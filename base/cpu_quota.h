// CPU quota of the container that this process runs in.
#pragma once

#include <filesystem>
#include <optional>

namespace trainc {

/// CPU time that the control groups grant this process, in CPUs, such as 1.5: the minimum over its group and
/// all enclosing groups, of cgroup version 2 (cpu.max) or 1 (cpu.cfs_quota_us). Returns nothing if no group
/// sets a quota. `root` is the directory that contains /proc and /sys; tests set it.
std::optional<double> cpuQuota(const std::filesystem::path &root = "/");

} // namespace trainc
