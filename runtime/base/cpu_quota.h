// How much of the machine's CPU time a container gets.
#pragma once

#include <filesystem>
#include <optional>

namespace trainc {

/// CPUs' worth of time that the control groups of this process allow it, such as 1.5: the least of its group
/// and those around it, of version 2 (cpu.max) or 1 (cpu.cfs_quota_us); nothing where none limits it. `root`
/// is where /proc and /sys are, for tests.
std::optional<double> cpuQuota(const std::filesystem::path &root = "/");

} // namespace trainc
