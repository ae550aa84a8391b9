// Files in memory that have no name, and what can no longer happen to them.
#pragma once

#include "base/descriptor.h"
#include "base/status.h"

#include <cstdint>

namespace trainc {

/// Creates an empty file in memory (memfd) that sealMemoryFile() can seal. Fails with kFailed and the
/// system's reason.
Result<Descriptor> createMemoryFile(const char *name);

/// Adds `seals` (F_SEAL_SHRINK, F_SEAL_WRITE, ...) and F_SEAL_SEAL, for every process. Fails with kFailed and
/// the system's reason.
Status sealMemoryFile(const Descriptor &file, int seals);

/// Checks a file received from another process: it must be a memory file of `bytes` bytes whose size is
/// sealed. Fails with kFailed and a message that says what it is instead.
Status checkMemoryFile(const Descriptor &file, uint64_t bytes);

} // namespace trainc
