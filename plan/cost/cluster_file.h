// Cluster files: rates of a machine's devices, links and disks, as JSON (docs/reference/cluster-files.md).
#pragma once

#include "base/status.h"
#include "plan/cost/machine.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// Devices of one kind, and their connections.
struct Cluster {
  std::string name;
  std::string gpu;               ///< value of `--gpu` for this device; empty for CPUs and other GPUs
  int major = 0, minor = 0;      ///< compute capability of GPUs
  bool ranksShareDevice = false; ///< whether all ranks run on one device, such as a host's cores
  Machine machine;

  bool hasComputeCapability() const { return major > 0; }

  /// A rank's share of the machine with `ranks` ranks.
  Machine machineOf(uint32_t ranks) const {
    return ranksShareDevice ? dividedAmong(machine, ranks) : machine;
  }
};

/// `file` is for messages. Errors (kInvalidInput) name the field, and what was expected and found.
Result<Cluster> parseCluster(const std::string &file, std::string_view text);

/// Reads a cluster file. If it does not exist and the name is that of a file in examples/clusters, with or
/// without ".json", returns the built-in copy.
Result<Cluster> openCluster(const std::string &name);

/// The clusters of examples/clusters, as embedded by the build, in the order of builtInClusterNames().
const std::vector<Cluster> &builtInClusters();
/// Names of the built-in clusters: "8xh100", ...
const std::vector<std::string> &builtInClusterNames();
/// A built-in cluster by name, which must exist.
const Cluster &builtInCluster(std::string_view name);
/// GPU of a plan that names none.
inline constexpr std::string_view kDefaultGpu = "h100-sxm";
/// The built-in cluster for a value of `--gpu`; null if there is none.
const Cluster *clusterOfGpu(std::string_view gpu);

} // namespace trainc
