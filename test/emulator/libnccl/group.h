// Operations between ncclGroupStart() and ncclGroupEnd(), of the thread that calls.
#pragma once

#include "test/emulator/libnccl/communicator.h"

namespace trainc::emulator {

void beginGroup();
/// Enqueues what the outermost group holds, and waits for what abort() leaves to it. The first error of a
/// call within it is its result.
ncclResult_t endGroup();
/// Enqueues an operation now, or at the end of the group that is open.
ncclResult_t submit(const std::shared_ptr<Comm> &comm, const Operation &operation, CUstream stream);
/// Ends a communicator's work at once. The wait for its graphs is the end of the group's that is open: all
/// that are aborted there have then been told to end.
ncclResult_t abort(const std::shared_ptr<Comm> &comm);

} // namespace trainc::emulator
