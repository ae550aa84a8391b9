// Which ranks' processes have ended, of those that this host can see.
#pragma once

#include "runtime/comm/mpi/job.h"

#include <cstdint>
#include <vector>

namespace trainc {

/// The operating system knows at once that a process has died, where messages only stop coming, and before
/// mpirun has ended the others. (Ranks of comm/local have trainrun watch them, or a launcher that gives them
/// time.) For the thread that calls MPI.
class ProcessWatch {
public:
  /// All ranks make theirs together.
  explicit ProcessWatch(const MpiJob &job);
  ProcessWatch(const ProcessWatch &) = delete;
  ProcessWatch &operator=(const ProcessWatch &) = delete;
  ~ProcessWatch();

  /// False, too, where this cannot be known: of another host's rank, or on a kernel that does not tell.
  bool hasEnded(uint32_t rank) const;

private:
  std::vector<int> processes_; ///< a descriptor of each, or -1
};

} // namespace trainc
