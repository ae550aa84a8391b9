// How ranks that were not forked from one parent come to share memory.
#pragma once

#include "runtime/comm/local/local_group.h"
#include "runtime/comm/local/local_socket.h"
#include "runtime/comm/local/shared_memory.h"

namespace trainc {

/// Rank 0 makes the memory and listens on a socket named after the job; the others come and get it. Both
/// sides make sure that the other is a process of this user. See LocalGroup::join().
Result<std::shared_ptr<SharedMemory>> joinSharedMemory(const LocalPlace &place, Grid grid,
                                                       uint64_t bytesPerRank);

/// See LocalGroup::decline().
void declineToJoin(const LocalPlace &place, uint32_t ranks, std::string_view reason);

/// The name of the socket at which a job's ranks meet. Other users' jobs, and other jobs of this user, have
/// other names; one of any length fits.
std::string meetingPlace(const LocalPlace &place);

/// Tells rank 0, at the other end of `socket`, that this rank has come, and hears what it says.
Result<std::shared_ptr<SharedMemory>> greet(const Descriptor &socket, const LocalPlace &place, Grid grid,
                                            uint64_t bytesPerRank, double deadline);

/// Says that another user has taken the meeting place.
Status strangerListens(const LocalPlace &place, uid_t user);

} // namespace trainc
