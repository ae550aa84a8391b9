// What the system lets this process have.
#pragma once

#include "runtime/base/status.h"

namespace trainc {

/// Raises the limit of the stack to 8 MiB, of this thread and of those that it starts, if it is lower and may
/// be raised. Fails (kFailed) where less than 1 MiB is allowed. Call it at the start of main().
Status ensureStack();

} // namespace trainc
