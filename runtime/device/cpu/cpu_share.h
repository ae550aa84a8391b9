// CPU affinity of a process.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace trainc {

/// CPU numbers of the operating system.
using CpuSet = std::vector<unsigned>;

/// CPUs of a machine and their topology: cores, caches, memory nodes.
class CpuTopology {
public:
  /// The topology of this machine, restricted to the CPUs that this process may use.
  CpuTopology();
  /// A synthetic topology in hwloc's notation, such as "numa:2 core:4 pu:2", for tests.
  explicit CpuTopology(const std::string &description);
  ~CpuTopology();
  CpuTopology(CpuTopology &&) = delete;

  /// CPUs that this process may use.
  const CpuSet &own() const { return own_; }
  /// Whether the affinity mask excludes CPUs that the container allows, so that a launcher has set it.
  bool isNarrowed() const { return narrowed_; }
  /// Partitions own() into `count` shares of about equal size, each of neighbouring CPUs; empty if there are
  /// fewer CPUs than shares.
  std::vector<CpuSet> shares(uint32_t count) const;
  /// Restricts this process, with all its threads, to `cpus`. Has no effect if the system refuses.
  void bind(const CpuSet &cpus) const;

private:
  struct Data;
  std::unique_ptr<Data> data_;
  CpuSet own_;
  bool narrowed_ = false;
};

/// Number of CPUs that this process may keep busy: those of its affinity mask, limited by the container's
/// quota.
unsigned availableCpus();

/// Index of a process among those of this host that compute together.
struct LocalRank {
  uint32_t index = 0, count = 1;
  bool forked = true; ///< whether all processes have one parent and so the same affinity mask; else a
                      ///< launcher may have set a mask for each
};

/// Binds the process to this rank's share of the host's CPUs, and returns how many threads to run. A rank
/// whose launcher has bound it keeps its affinity. Call it before compute threads start.
unsigned takeCpuShare(const LocalRank &rank);

} // namespace trainc
