#include "runtime/comm/local/shared_memory.h"

#include "runtime/comm/local/futex.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <new>
#include <sys/mman.h>

namespace trainc {

namespace {

/// Published for a rank that has found no record for its reason: this and the rank.
constexpr uint32_t kWithoutRecord = decltype(ControlBlock::failures){}.size() + 1;

uint64_t roundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

Status refuse(Grid grid, uint64_t bytesPerRank, const char *reason) {
  return failed("cannot share {} bytes for each of {} ranks: {}; compile for less with a smaller "
                "--micro-batch or --memory-limit",
                bytesPerRank, grid.ranks, reason);
}

} // namespace

Result<std::shared_ptr<SharedMemory>> SharedMemory::create(Grid grid, uint64_t bytesPerRank) {
  TRAINC_ASSIGN_OR_RETURN(std::shared_ptr<SharedMemory> memory, map(-1, grid, bytesPerRank));
  memory->initialise();
  return memory;
}

Result<std::shared_ptr<SharedMemory>> SharedMemory::createIn(int descriptor, Grid grid,
                                                             uint64_t bytesPerRank) {
  TRAINC_ASSIGN_OR_RETURN(std::shared_ptr<SharedMemory> memory, map(descriptor, grid, bytesPerRank));
  const uint64_t bytes = memory->controlBytes_ + grid.ranks * memory->bytesPerRank_;
  if (ftruncate(descriptor, static_cast<off_t>(bytes)) != 0)
    return refuse(grid, bytesPerRank, std::strerror(errno));
  memory->initialise();
  return memory;
}

Result<std::shared_ptr<SharedMemory>> SharedMemory::attach(int descriptor, Grid grid, uint64_t bytesPerRank) {
  return map(descriptor, grid, bytesPerRank);
}

/// Maps a file, which may still have to grow; without one (-1), memory that children inherit.
Result<std::shared_ptr<SharedMemory>> SharedMemory::map(int descriptor, Grid grid, uint64_t bytesPerRank) {
  TRAINC_RETURN_IF_ERROR(checkGrid(grid));
  const uint32_t ranks = grid.ranks;
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t controlBytes =
      roundUp(sizeof(ControlBlock) + ranks * sizeof(RankState) + grid.sets() * sizeof(Barrier), page);
  const uint64_t most = (std::numeric_limits<int64_t>::max() - controlBytes) / ranks / page * page;
  if (bytesPerRank > most)
    return failed("cannot share {} bytes for each of {} ranks: no machine has that much", bytesPerRank,
                  ranks);
  const uint64_t rankBytes = roundUp(bytesPerRank, page);
  const uint64_t bytes = controlBytes + ranks * rankBytes;
  const int flags = MAP_SHARED | (descriptor < 0 ? MAP_ANONYMOUS : 0);
  void *base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, descriptor, 0);
  if (base == MAP_FAILED)
    return refuse(grid, bytesPerRank, std::strerror(errno));
  madvise(base, bytes, MADV_HUGEPAGE); // a hint: without it ranks only fault more often
  return std::shared_ptr<SharedMemory>(
      new SharedMemory(static_cast<std::byte *>(base), grid, controlBytes, rankBytes));
}

void SharedMemory::initialise() const {
  new (base_) ControlBlock;
  for (uint32_t rank = 0; rank < grid_.ranks; ++rank)
    new (&state(rank)) RankState;
  for (uint32_t set = 0; set < grid_.sets(); ++set)
    new (&barrier(set)) Barrier;
}

SharedMemory::~SharedMemory() { munmap(base_, controlBytes_ + grid_.ranks * bytesPerRank_); }

void SharedMemory::fail(uint32_t rank, std::string_view reason) const {
  ControlBlock &shared = control();
  if (hasFailed())
    return;
  const uint32_t index = shared.claimed.fetch_add(1, std::memory_order_relaxed);
  uint32_t none = 0, which = index + 1;
  if (index < shared.failures.size()) {
    FailureRecord &record = shared.failures[index];
    record.rank = rank;
    const size_t length = std::min(reason.size(), record.reason.size() - 1); // the last byte stays zero
    std::copy_n(reason.begin(), length, record.reason.data());
  } else {
    which = kWithoutRecord + rank;
  }
  shared.published.compare_exchange_strong(none, which, std::memory_order_release, std::memory_order_relaxed);
  for (uint32_t set = 0; set < grid_.sets(); ++set)
    futexWakeAll(barrier(set).generation);
}

std::string SharedMemory::failure() const {
  const uint32_t published = control().published.load(std::memory_order_acquire);
  if (published >= kWithoutRecord)
    return fmt::format("rank {} failed, as others did at the same time", published - kWithoutRecord);
  const FailureRecord &record = control().failures[published - 1];
  return fmt::format("rank {} failed: {}", record.rank, record.reason.data());
}

} // namespace trainc
