#include "plan/simulate/needed_rates.h"

#include "plan/facts/step_entries.h"
#include "plan/facts/work.h"
#include "plan/simulate/plan_schedule.h"

#include <cmath>

namespace trainc {

namespace {

/// A transfer path, or the host's cores, that only some plans use.
struct Way {
  double Machine::*rate; ///< infinity if the cluster file has none
  const char *field;     ///< name of the rate in cluster files
  const char *use;       ///< predicate of a plan that uses the path
};

constexpr Way kHost{&Machine::hostBytesPerSecond, "host.bytes_per_second", "copies between device and host"},
    kHostCores{&Machine::hostComputeBytesPerSecond, "host.compute_bytes_per_second",
               "updates on the host's cores"},
    kDiskRead{&Machine::diskReadBytesPerSecond, "disk.read_bytes_per_second", "reads from disk"},
    kDiskWrite{&Machine::diskWriteBytesPerSecond, "disk.write_bytes_per_second", "writes to disk"},
    kNetwork{&Machine::networkBytesPerSecond, "network.bytes_per_second", "has collectives between nodes"};

const Way *wayOf(const Work &work) {
  switch (work.worker) {
  case Worker::HostLink:
    return &kHost;
  case Worker::HostCores:
    return &kHostCores;
  case Worker::DiskRead:
    return &kDiskRead;
  case Worker::DiskWrite:
    return &kDiskWrite;
  default:
    return nullptr;
  }
}

/// Returns the path that an instruction uses; null if it uses none of the above.
const Way *wayOf(const fb::Plan &plan, const fb::Instruction &instruction, const Machine &machine) {
  if (const fb::Collective *collective = instruction.operation_as_Collective())
    return ringOf(exchangeOf(plan, *collective).group, machine.nodeRanks).leavingNode > 0 ? &kNetwork
                                                                                          : nullptr;
  const std::optional<Work> work = workOf(plan, instruction);
  return work ? wayOf(*work) : nullptr;
}

Status requireRatesOf(const flatbuffers::Vector<flatbuffers::Offset<fb::Instruction>> &instructions,
                      const fb::Plan &plan, const Cluster &cluster) {
  for (const fb::Instruction *each : instructions) {
    if (const fb::Loop *loop = each->operation_as_Loop())
      TRAINC_RETURN_IF_ERROR(requireRatesOf(*loop->body(), plan, cluster));
    const Way *way = wayOf(plan, *each, cluster.machine);
    if (way && std::isinf(cluster.machine.*way->rate))
      return invalidInput("the plan {}, and cluster '{}' has no {}; add it to the cluster file, or name "
                          "another cluster",
                          way->use, cluster.name, way->field);
  }
  return {};
}

} // namespace

Status requireRates(const fb::Plan &plan, const Cluster &cluster) {
  for (const fb::Entry *entry : *plan.entries())
    if (runsPerStep(plan, *entry) > 0)
      TRAINC_RETURN_IF_ERROR(requireRatesOf(*entry->instructions(), plan, cluster));
  return {};
}

} // namespace trainc
