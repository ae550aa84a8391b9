// Operations between ncclGroupStart() and ncclGroupEnd(), of the thread that calls.
#pragma once

#include "test/emulator/libnccl/communicator.h"

namespace trainc::emulator {

void beginGroup();
/// Enqueues what the outermost group holds. The first error of a call within it is its result.
ncclResult_t endGroup();
/// Enqueues an operation now, or at the end of the group that is open.
ncclResult_t submit(const std::shared_ptr<Comm> &comm, const Operation &operation, CUstream stream);

} // namespace trainc::emulator
