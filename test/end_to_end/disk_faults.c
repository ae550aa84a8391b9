// A disk that fails, for trainrun with LD_PRELOAD: DISK_FAULTS="KIND NUMBER" says what becomes of the disk's
// transfer NUMBER (from 1; 0: of all).
//
//  error   EIO
//  full    ENOSPC
//  short   half of it is done, in blocks
//  slow    it takes 20 ms longer
//  refuse  ENXIO, of the kernel's call NUMBER for io_uring, which then takes no request
//
// Before them "plain" forbids io_uring, as containers do. "none" alone makes files of no size: ENOSPC at
// start.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_long transfers, calls;

static const char *faults(void) {
  const char *text = getenv("DISK_FAULTS");
  return text ? text : "";
}

static long faulted(const char *kind, long result) {
  if (strcmp(kind, "error") == 0)
    return -EIO;
  if (strcmp(kind, "full") == 0)
    return -ENOSPC;
  if (strcmp(kind, "slow") == 0)
    usleep(20000);
  return strcmp(kind, "short") == 0 && result > 4096 ? result / 2 / 4096 * 4096 : result;
}

/// What a transfer gives that gave `result`.
static long altered(long result) {
  char text[64] = "";
  strncpy(text, faults(), sizeof text - 1);
  char *kind = strncmp(text, "plain ", 6) == 0 ? text + 6 : text;
  char *number = strchr(kind, ' ');
  if (!number)
    return result;
  *number = 0;
  const long wanted = atol(number + 1), own = atomic_fetch_add(&transfers, 1) + 1;
  return wanted == 0 || wanted == own ? faulted(kind, result) : result;
}

/// A disk's arenas have no name.
static int isArena(int file) {
  struct stat about;
  return fstat(file, &about) == 0 && about.st_nlink == 0;
}

static ssize_t given(long result) {
  if (result >= 0)
    return result;
  errno = (int)-result;
  return -1;
}

ssize_t pread64(int file, void *memory, size_t bytes, off64_t offset) {
  ssize_t (*real)(int, void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pread64");
  const ssize_t result = real(file, memory, bytes, offset);
  return result > 0 && isArena(file) ? given(altered(result)) : result;
}
ssize_t pread(int file, void *memory, size_t bytes, off_t offset) {
  return pread64(file, memory, bytes, offset);
}

ssize_t pwrite64(int file, const void *memory, size_t bytes, off64_t offset) {
  ssize_t (*real)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
  const ssize_t result = real(file, memory, bytes, offset);
  return result > 0 && isArena(file) ? given(altered(result)) : result;
}
ssize_t pwrite(int file, const void *memory, size_t bytes, off_t offset) {
  return pwrite64(file, memory, bytes, offset);
}

int io_uring_queue_init(unsigned entries, struct io_uring *ring, unsigned flags) {
  int (*real)(unsigned, struct io_uring *, unsigned) = dlsym(RTLD_NEXT, "io_uring_queue_init");
  return strncmp(faults(), "plain", 5) == 0 ? -EPERM : real(entries, ring, flags);
}

/// Waits for all requests: none may end after its call and miss its count. What refuses a call counts calls.
int io_uring_submit_and_wait(struct io_uring *ring, unsigned wanted) {
  int (*real)(struct io_uring *, unsigned) = dlsym(RTLD_NEXT, "io_uring_submit_and_wait");
  const int refuses = strncmp(faults(), "refuse ", 7) == 0;
  if (refuses && atol(faults() + 7) == atomic_fetch_add(&calls, 1) + 1)
    return -ENXIO;
  const int submitted = real(ring, refuses ? wanted : io_uring_sq_ready(ring));
  struct io_uring_cqe *done;
  unsigned head;
  io_uring_for_each_cqe(ring, head, done) if (done->res > 0) done->res = (int)altered(done->res);
  return submitted;
}

int posix_fallocate64(int file, off64_t offset, off64_t bytes) {
  int (*real)(int, off64_t, off64_t) = dlsym(RTLD_NEXT, "posix_fallocate64");
  return strcmp(faults(), "none") == 0 ? ENOSPC : real(file, offset, bytes);
}
int posix_fallocate(int file, off_t offset, off_t bytes) { return posix_fallocate64(file, offset, bytes); }
