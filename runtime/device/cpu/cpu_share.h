// Which CPUs a process computes on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace trainc {

/// CPUs by the numbers that the system gives them.
using CpuSet = std::vector<unsigned>;

/// The CPUs of a machine, and what lies together: those of a core, of a cache, of a memory.
class CpuTopology {
public:
  /// Of this machine, as far as this process may use it.
  CpuTopology();
  /// Of one that hwloc describes, such as "numa:2 core:4 pu:2", for tests.
  explicit CpuTopology(const std::string &description);
  ~CpuTopology();
  CpuTopology(CpuTopology &&) = delete;

  /// Those that this process may use.
  const CpuSet &own() const { return own_; }
  /// Whether somebody has given this process less than all that its container may use.
  bool isNarrowed() const { return narrowed_; }
  /// As many shares of own(), of about one size, each of CPUs that lie together; none where there are fewer
  /// CPUs.
  std::vector<CpuSet> shares(uint32_t count) const;
  /// Lets this process, with all its threads, use these CPUs alone. Where the system refuses, nothing
  /// changes.
  void bind(const CpuSet &cpus) const;

private:
  struct Data;
  std::unique_ptr<Data> data_;
  CpuSet own_;
  bool narrowed_ = false;
};

/// CPUs that this process may keep busy: those it may run on, or fewer where a quota says so.
unsigned availableCpus();

/// A process among those of this host that compute together.
struct LocalRank {
  uint32_t index = 0, count = 1;
  bool forked =
      true; ///< by one parent, from which all have the same CPUs; else a launcher may have given each its own
};

/// Takes this rank's share of the host's CPUs, apart from those of the others: binds the process to it, and
/// returns how many threads it may keep busy. A rank whose launcher has bound it keeps what it has. Call it
/// before threads start that compute.
unsigned takeCpuShare(const LocalRank &rank);

} // namespace trainc
