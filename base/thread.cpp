#include "base/thread.h"

#include <algorithm>
#include <pthread.h>
#include <sys/resource.h>

namespace trainc {

namespace {

constexpr rlim_t kUsualStack = rlim_t{8} << 20, kMinStack = rlim_t{1} << 20;

/// Raises the default stack size of new threads, which glibc fixed when the program was loaded.
void raiseForThreads() {
  pthread_attr_t attributes;
  if (pthread_getattr_default_np(&attributes) != 0)
    return;
  size_t bytes = 0;
  if (pthread_attr_getstacksize(&attributes, &bytes) == 0 && bytes < kUsualStack &&
      pthread_attr_setstacksize(&attributes, kUsualStack) == 0)
    (void)pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

} // namespace

Status ensureStack() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0)
    return {};
  if (limit.rlim_cur < kUsualStack) {
    limit.rlim_cur = std::min(kUsualStack, limit.rlim_max);
    (void)::setrlimit(RLIMIT_STACK, &limit);
  }
  if (limit.rlim_cur < kMinStack)
    return failed(
        "the system limits the stack to {} KiB; at least {} are needed: raise the limit (ulimit -s 8192)",
        limit.rlim_cur >> 10, kMinStack >> 10);
  raiseForThreads();
  return {};
}

} // namespace trainc
