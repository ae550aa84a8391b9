#include "test/emulator/libnccl/meeting.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace trainc::emulator {

Result<std::shared_ptr<Meeting>> Meeting::open(const std::string &name, uint32_t ranks, uint32_t rank) {
  const int file = shm_open(name.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, sizeof(Shared)) != 0)
    return failed("{}: {}", name, std::strerror(errno));
  void *memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (memory == MAP_FAILED)
    return failed("{}: {}", name, std::strerror(errno));
  std::shared_ptr<Meeting> meeting(new Meeting(name, static_cast<Shared *>(memory), ranks, rank));
  uint32_t agreed = 0;
  if (!meeting->shared_->ranks.compare_exchange_strong(agreed, ranks) && agreed != ranks)
    return invalidInput("rank {} says that there are {} ranks, others say {}", rank, ranks, agreed);
  if (meeting->own().taken.exchange(1) != 0)
    return invalidInput("two ranks say that they are rank {} of one unique id", rank);
  return meeting;
}

Meeting::~Meeting() {
  if (!everyoneHasCome())
    shm_unlink(name_.c_str());
  munmap(shared_, sizeof(Shared));
}

void Meeting::come() const {
  if (shared_->come.fetch_add(1, std::memory_order_acq_rel) + 1 == ranks_)
    shm_unlink(name_.c_str()); // all ranks have opened it
}

uint32_t Meeting::arrive() const {
  const uint32_t barrier = shared_->generation.load(std::memory_order_relaxed);
  if (shared_->waiting.fetch_add(1, std::memory_order_acq_rel) + 1 == ranks_) {
    shared_->waiting.store(0, std::memory_order_relaxed);
    shared_->generation.store(barrier + 1, std::memory_order_release);
  }
  return barrier;
}

} // namespace trainc::emulator
