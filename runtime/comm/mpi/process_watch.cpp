#include "runtime/comm/mpi/process_watch.h"

#include "runtime/base/hash.h"

#include <fcntl.h>
#include <poll.h>
#include <span>
#include <string>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace trainc {

namespace {

/// Where to find a process.
struct Address {
  uint64_t space; ///< the same where numbers of processes mean the same; 0: unknown
  int64_t process;
};

/// "9f2c...\n", anew each time that a host starts; empty where the system does not say.
std::string bootOfHost() {
  std::string text(64, '\0');
  const int file = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  const ssize_t read = file < 0 ? 0 : ::read(file, text.data(), text.size());
  if (file >= 0)
    ::close(file);
  text.resize(static_cast<size_t>(read < 0 ? 0 : read));
  return text;
}

/// Containers of one host number their processes for themselves.
uint64_t numberSpace() {
  struct stat space{};
  const std::string boot = bootOfHost();
  if (boot.empty() || ::stat("/proc/self/ns/pid", &space) != 0)
    return 0;
  const std::string both = fmt::format("{} {}", boot, space.st_ino);
  return xxh3(std::as_bytes(std::span(both)));
}

int openProcess(int64_t process) { return static_cast<int>(::syscall(SYS_pidfd_open, process, 0)); }

} // namespace

ProcessWatch::ProcessWatch(const MpiJob &job) : processes_(job.ranks(), -1) {
  const Address own{.space = numberSpace(), .process = ::getpid()};
  std::vector<Address> all(job.ranks());
  if (MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, job.control()) !=
      MPI_SUCCESS)
    return;
  for (uint32_t rank = 0; rank < job.ranks(); ++rank)
    if (rank != job.rank() && own.space != 0 && all[rank].space == own.space)
      processes_[rank] = openProcess(all[rank].process);
}

ProcessWatch::~ProcessWatch() {
  for (const int process : processes_)
    if (process >= 0)
      ::close(process);
}

bool ProcessWatch::hasEnded(uint32_t rank) const {
  pollfd process{.fd = processes_[rank], .events = POLLIN, .revents = 0};
  return process.fd >= 0 && ::poll(&process, 1, 0) > 0;
}

} // namespace trainc
