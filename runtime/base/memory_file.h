// Files in memory that have no name, and what can no longer happen to them.
#pragma once

#include "runtime/base/descriptor.h"
#include "runtime/base/status.h"

#include <cstdint>

namespace trainc {

/// An empty file in memory; sealMemoryFile() can seal it. Fails (kFailed) with the system's reason.
Result<Descriptor> createMemoryFile(const char *name);

/// Forbids, from now on and to everybody, what `seals` (F_SEAL_SHRINK, F_SEAL_WRITE, ...) name, and to add
/// other seals. Fails (kFailed) with the system's reason.
Status sealMemoryFile(const Descriptor &file, int seals);

/// Checks a file that another process has sent: a file in memory of `bytes` bytes that nobody can make
/// shorter or longer. Fails (kFailed), saying what it is instead.
Status checkMemoryFile(const Descriptor &file, uint64_t bytes);

} // namespace trainc
