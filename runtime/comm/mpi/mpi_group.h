// Ranks on any number of hosts, over MPI.
#pragma once

#include "runtime/comm/communicator.h"

#include <cstdint>
#include <memory>

namespace trainc {

struct MpiOptions {
  /// How long a rank that is waited for may make no progress before it counts as dead.
  double timeoutSeconds = 5;
  /// Collectives that a rank may have in flight.
  uint32_t inFlight = 64;
  /// How many ranks MPI must have started; 0: any number.
  uint32_t ranks = 0;
  /// Ranks of a shard group (see grid.h); divides the ranks.
  uint32_t shardRanks = 1;
  /// How long MPI may take to start, which waits for all ranks.
  double startSeconds = 60;
};

/// The communicator of this process among those that mpirun, srun or another launcher of MPI has started,
/// which says how many there are; once per process. MPI comes with libtrainc_comm_mpi.so, which lies beside
/// the program and is loaded here, so that a program without ranks needs no MPI.
///
/// To destroy it waits for the other ranks to do so too, as for a barrier. Where a rank has failed, MPI is
/// left without its farewell: the launcher then ends the job, when the first process has ended. Where one
/// does during MPI's farewell, this process ends with exit code 1 after timeoutSeconds.
///
/// Fails (kInvalidInput) where MPI has started another number of ranks or shard groups do not divide it,
/// (kFailed) where the library or MPI is missing, the system starts no more threads, or not all ranks come in
/// time. Nothing interrupts MPI's start, so the thread that is at it stays: end the process then. Where MPI
/// itself cannot start it ends the process.
Result<std::unique_ptr<Communicator>> openMpi(MpiOptions options = {});

} // namespace trainc
