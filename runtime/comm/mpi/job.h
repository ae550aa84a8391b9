// MPI's life in this process.
#pragma once

#include "runtime/base/status.h"

#include <cstdint>
#include <mpi.h>
#include <string>

namespace trainc {

/// MPI between its start and its end. All its functions are called by the thread that started it, which is
/// the only one that ever calls MPI, so that the least that MPI libraries promise about threads suffices.
class MpiJob {
public:
  /// Fails (kFailed) where MPI has been started in this process before.
  Status start();
  /// Says farewell to the other ranks; returns when all have. Nothing interrupts MPI's end either, so where
  /// that takes longer, because a rank has died meanwhile or is stopped, it says so and ends the process.
  void end(double seconds);

  uint32_t rank() const { return rank_; }
  uint32_t ranks() const { return ranks_; }
  /// For collectives, and for what ranks tell each other beside them.
  MPI_Comm data() const { return data_; }
  MPI_Comm control() const { return control_; }

private:
  uint32_t rank_ = 0, ranks_ = 1;
  MPI_Comm data_ = MPI_COMM_NULL, control_ = MPI_COMM_NULL;
};

/// What MPI says of an error code.
std::string mpiError(int code);

} // namespace trainc
