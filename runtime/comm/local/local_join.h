// How ranks that were not forked from one parent come to share memory.
#pragma once

#include "runtime/comm/local/local_group.h"
#include "runtime/comm/local/shared_memory.h"

namespace trainc {

/// Rank 0 makes the memory and listens on a socket named after the job; the others come and get it. See
/// LocalGroup::join().
Result<std::shared_ptr<SharedMemory>> joinSharedMemory(const LocalPlace &place, Grid grid,
                                                       uint64_t bytesPerRank);

/// See LocalGroup::decline().
void declineToJoin(const LocalPlace &place, uint32_t ranks, std::string_view reason);

} // namespace trainc
