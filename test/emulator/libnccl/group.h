// Operations of the calling thread between ncclGroupStart() and ncclGroupEnd().
#pragma once

#include "test/emulator/libnccl/communicator.h"

namespace trainc::emulator {

void beginGroup();
/// Enqueues the operations of the outermost group, and waits for graphs of aborted communicators. Returns the
/// first error of a call within the group.
ncclResult_t endGroup();
/// Enqueues an operation, or defers it to the end of the open group.
ncclResult_t submit(const std::shared_ptr<Comm> &comm, const Operation &operation, CUstream stream);
/// Aborts a communicator's work at once. The wait for its graphs is deferred to the end of an open group, so
/// that all communicators aborted there are told first.
ncclResult_t abort(const std::shared_ptr<Comm> &comm);

} // namespace trainc::emulator
