// Cluster files: what a machine's devices, links and disks can do, as JSON (docs/reference/cluster-files.md).
#pragma once

#include "runtime/base/status.h"
#include "runtime/cost/machine.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// Devices of one kind, and what is between them.
struct Cluster {
  std::string name;
  std::string gpu;               ///< the word of `--gpu` that it stands for; empty for CPUs and other GPUs
  int major = 0, minor = 0;      ///< compute capability of GPUs
  bool ranksShareDevice = false; ///< all ranks run on one device, as on a host's cores
  Machine machine;

  /// What one of `ranks` has of it.
  Machine machineOf(uint32_t ranks) const {
    return ranksShareDevice ? dividedAmong(machine, ranks) : machine;
  }
};

/// `file` is for messages, which name the field, what was expected and what was found (kInvalidInput).
Result<Cluster> parseCluster(const std::string &file, std::string_view text);

/// Reads a file. If there is none of this name and it is that of one of examples/clusters, with or without
/// ".json", returns what is built in.
Result<Cluster> openCluster(const std::string &name);

/// Those of examples/clusters, as they were when this was built, in the order of `names`.
const std::vector<Cluster> &builtInClusters();
/// "8xh100", ...
const std::vector<std::string> &builtInClusterNames();
/// One of them, which exists.
const Cluster &builtInCluster(std::string_view name);
/// Which GPU a plan is for that names none.
inline constexpr std::string_view kDefaultGpu = "h100-sxm";
/// By the word of `--gpu`; null where none has it.
const Cluster *clusterOfGpu(std::string_view gpu);

} // namespace trainc
