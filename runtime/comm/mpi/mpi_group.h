// Ranks on any number of hosts, over MPI.
#pragma once

#include "runtime/comm/communicator_kinds.h"

#include <memory>

namespace trainc {

/// Returns the communicator of this process among those started by mpirun, srun or another MPI launcher,
/// which determines the number of ranks. Call it once per process. MPI comes with libtrainc_comm_mpi.so,
/// which lies beside the program and is loaded here, so a program without ranks needs no MPI.
///
/// The destructor waits for the other ranks' destructors, as at a barrier. If a rank has failed, the
/// destructor skips MPI_Finalize; the launcher then ends the job when the first process has ended. If a rank
/// fails during MPI_Finalize, this process ends with exit code 1 after timeoutSeconds.
///
/// Fails with kInvalidInput if MPI started another number of ranks than the mesh has; with kFailed if the
/// library or MPI is missing, the system cannot start another thread, or not all ranks come in time. MPI_Init
/// cannot be interrupted, so its thread keeps running after a timeout: end the process then. If MPI_Init
/// itself fails, MPI ends the process.
Result<std::unique_ptr<Communicator>> openMpi(const JobOptions &options = {});

} // namespace trainc
