// Annotations of kernels for ThreadSanitizer, which cannot instrument their machine code.
#pragma once

#include "plan/schema/plan_generated.h"

#ifdef __SANITIZE_THREAD__
extern "C" {
void __tsan_read_range(void *address, unsigned long bytes);
void __tsan_write_range(void *address, unsigned long bytes);
}
#endif

namespace trainc {

/// Reports the memory accesses of a launch of `kernel`, on the thread that starts it. Does nothing in builds
/// without ThreadSanitizer.
inline void tellRaceDetector([[maybe_unused]] const fb::Kernel &kernel, [[maybe_unused]] void *const *args) {
#ifdef __SANITIZE_THREAD__
  for (const fb::Param *param : *kernel.params()) {
    const bool reads = param->access() == fb::Access::Read;
    (reads ? __tsan_read_range : __tsan_write_range)(*args++, param->bytes());
  }
#endif
}

} // namespace trainc
