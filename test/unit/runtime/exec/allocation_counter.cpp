#include "test/unit/runtime/exec/allocation_counter.h"

#include <atomic>
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TRAINC_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TRAINC_SANITIZED 1
#endif
#endif

namespace {
std::atomic<bool> counting{false};
std::atomic<uint64_t> allocations{0};

void count() {
  if (counting.load(std::memory_order_relaxed))
    allocations.fetch_add(1, std::memory_order_relaxed);
}
} // namespace

#ifdef TRAINC_SANITIZED
// Sanitizers own malloc, and offer hooks.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*allocated)(const volatile void *, size_t),
                                                         void (*freed)(const volatile void *));
namespace {
const int installed = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void *, size_t) { count(); }, [](const volatile void *) {});
} // namespace
#else
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): glibc's own, declared in no header.
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
// NOLINTEND(bugprone-reserved-identifier)

void *malloc(size_t size) {
  count();
  return __libc_malloc(size);
}
void *calloc(size_t number, size_t size) {
  count();
  return __libc_calloc(number, size);
}
void *realloc(void *memory, size_t size) {
  count();
  return __libc_realloc(memory, size);
}
void *memalign(size_t alignment, size_t size) {
  count();
  return __libc_memalign(alignment, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
  count();
  return __libc_memalign(alignment, size);
}
int posix_memalign(void **memory, size_t alignment, size_t size) {
  count();
  *memory = __libc_memalign(alignment, size);
  return *memory ? 0 : 12; // ENOMEM
}
}
#endif

namespace trainc::test {

uint64_t countAllocations(const std::function<void()> &body) {
  allocations = 0;
  counting = true;
  body();
  counting = false;
  return allocations;
}

} // namespace trainc::test
