// Entry point of libtrainc_comm_mpi.so.
#pragma once

#include "runtime/comm/mpi/mpi_group.h"

namespace trainc {

inline constexpr const char *kMpiLibrary = "libtrainc_comm_mpi.so";

/// Name of the library's only exported function, which implements openMpi(). Library and program come from
/// the same build.
inline constexpr const char *kMpiEntry = "traincOpenMpi";
using MpiEntry = void (*)(const JobOptions &options, std::unique_ptr<Communicator> &communicator,
                          Status &status);

} // namespace trainc
