// Lifetime of MPI in this process.
#pragma once

#include "base/status.h"

#include <cstdint>
#include <mpi.h>
#include <string>

namespace trainc {

/// MPI between initialisation and finalisation. One thread constructs it and makes all MPI calls, so
/// MPI_THREAD_FUNNELED suffices.
class MpiJob {
public:
  /// Initialises MPI. Fails with kFailed if MPI was already initialised in this process.
  Status start();
  /// Finalises MPI; returns when all ranks have arrived. MPI_Finalize cannot be interrupted: if it takes
  /// longer than `seconds`, because a rank has died or is stopped, a message is printed and the process ends.
  void end(double seconds);

  uint32_t rank() const { return rank_; }
  uint32_t ranks() const { return ranks_; }
  /// Communicators for collectives, and for messages beside them.
  MPI_Comm data() const { return data_; }
  MPI_Comm control() const { return control_; }

private:
  uint32_t rank_ = 0, ranks_ = 1;
  MPI_Comm data_ = MPI_COMM_NULL, control_ = MPI_COMM_NULL;
};

/// MPI's text for an error code.
std::string mpiError(int code);

} // namespace trainc
