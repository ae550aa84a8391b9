// What libtrainc_comm_mpi.so offers to the program that loads it.
#pragma once

#include "runtime/comm/mpi/mpi_group.h"

namespace trainc {

inline constexpr const char *kMpiLibrary = "libtrainc_comm_mpi.so";

/// Name of the library's one function, which does what openMpi() says. Library and program come from one
/// build.
inline constexpr const char *kMpiEntry = "traincOpenMpi";
using MpiEntry = void (*)(const MpiOptions &options, std::unique_ptr<Communicator> &communicator,
                          Status &status);

} // namespace trainc
