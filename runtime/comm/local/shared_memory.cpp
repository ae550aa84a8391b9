#include "runtime/comm/local/shared_memory.h"

#include "base/memory_file.h"
#include "runtime/comm/local/futex.h"
#include "runtime/comm/stall_watch.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <new>
#include <sys/mman.h>

namespace trainc {

namespace {

/// Published value of a failure without a record: this plus the rank.
constexpr uint32_t kWithoutRecord = decltype(ControlBlock::failures){}.size() + 1;

uint64_t roundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

Status refuse(uint32_t ranks, uint64_t rankBytes, std::string_view reason) {
  return failed("cannot share {} bytes for each of {} ranks: {}; compile for less with a smaller "
                "--micro-batch or --memory-limit",
                rankBytes, ranks, reason);
}

/// Whether the system grants one process that much memory. A memory file alone proves nothing, because its
/// pages are allocated when touched.
bool isThere(uint64_t bytes) {
  void *probe = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return probe != MAP_FAILED && munmap(probe, bytes) == 0;
}

} // namespace

Result<SharedMemory::Layout> SharedMemory::Layout::of(const Mesh &mesh, uint64_t bytesPerRank) {
  TRAINC_RETURN_IF_ERROR(checkMesh(mesh));
  const uint32_t ranks = mesh.ranks();
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t controlBytes =
      roundUp(sizeof(ControlBlock) + ranks * sizeof(RankState) + (mesh.groups() + 1) * sizeof(Barrier), page);
  const uint64_t maximum = (std::numeric_limits<int64_t>::max() - controlBytes) / ranks - 2 * page;
  if (bytesPerRank > maximum)
    return refuse(ranks, bytesPerRank, "no machine has that much");
  return Layout{mesh, ranks, page, controlBytes, roundUp(bytesPerRank, page)};
}

Result<std::shared_ptr<SharedMemory>> SharedMemory::create(const Mesh &mesh, uint64_t bytesPerRank) {
  TRAINC_ASSIGN_OR_RETURN(const Layout layout, Layout::of(mesh, bytesPerRank));
  TRAINC_ASSIGN_OR_RETURN(Descriptor file, createMemoryFile("trainc-ranks"));
  if (!isThere(layout.fileBytes()) || ftruncate(file.get(), static_cast<off_t>(layout.fileBytes())) != 0)
    return refuse(layout.ranks, bytesPerRank, std::strerror(errno));
  TRAINC_RETURN_IF_ERROR(sealMemoryFile(file, F_SEAL_SHRINK | F_SEAL_GROW));
  TRAINC_ASSIGN_OR_RETURN(
      std::shared_ptr<SharedMemory> memory,
      reserve(std::make_shared<const Descriptor>(std::move(file)), layout, layout.controlBytes));
  memory->initialise();
  return memory;
}

Result<std::shared_ptr<SharedMemory>> SharedMemory::attach(Descriptor file, const Mesh &mesh,
                                                           uint64_t bytesPerRank) {
  TRAINC_ASSIGN_OR_RETURN(const Layout layout, Layout::of(mesh, bytesPerRank));
  if (const Status status = checkMemoryFile(file, layout.fileBytes()); !status.ok())
    return failed("rank 0 has sent something else than the ranks' memory: {}", status.message());
  return reserve(std::make_shared<const Descriptor>(std::move(file)), layout, layout.controlBytes);
}

Result<std::shared_ptr<SharedMemory>> SharedMemory::viewOf(uint32_t rank) const {
  TRAINC_ASSIGN_OR_RETURN(std::shared_ptr<SharedMemory> view, reserve(file_, layout_, layout_.viewBytes()));
  for (uint32_t each = 0; each < ranks(); ++each)
    if (!view->map(layout_.inView(each), layout_.inFile(each), layout_.rankBytes, each == rank))
      return refuse(ranks(), layout_.rankBytes, std::strerror(errno));
  return view;
}

/// Maps the control block, and reserves inaccessible address space, `bytes` in total.
Result<std::shared_ptr<SharedMemory>> SharedMemory::reserve(std::shared_ptr<const Descriptor> file,
                                                            const Layout &layout, uint64_t bytes) {
  void *base = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED)
    return refuse(layout.ranks, layout.rankBytes, std::strerror(errno));
  std::shared_ptr<SharedMemory> view(
      new SharedMemory(std::move(file), layout, static_cast<std::byte *>(base), bytes));
  if (!view->map(0, 0, layout.controlBytes, /*writable=*/true))
    return refuse(layout.ranks, layout.rankBytes, std::strerror(errno));
  return view;
}

bool SharedMemory::map(uint64_t inView, uint64_t inFile, uint64_t bytes, bool writable) const {
  if (bytes == 0)
    return true;
  void *place = base_ + inView;
  if (mmap(place, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED | MAP_FIXED, file_->get(),
           static_cast<off_t>(inFile)) == MAP_FAILED)
    return false;
  madvise(place, bytes, MADV_HUGEPAGE); // only a hint: without huge pages there are more page faults
  return true;
}

void SharedMemory::initialise() const {
  new (base_) ControlBlock;
  for (uint32_t rank = 0; rank < ranks(); ++rank)
    new (&state(rank)) RankState;
  for (uint32_t index = 0; index < barriers(); ++index)
    new (&barrier(index)) Barrier;
}

SharedMemory::~SharedMemory() { munmap(base_, bytes_); }

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
  for (uint32_t index = 0; index < barriers(); ++index)
    futexWakeAll(barrier(index).generation);
}

std::string SharedMemory::failure() const {
  const uint32_t published = control().published.load(std::memory_order_acquire);
  if (published >= kWithoutRecord)
    return fmt::format("rank {} failed, as others did at the same time", published - kWithoutRecord);
  const FailureRecord &record = control().failures[published - 1];
  return failureText(record.rank, record.reason.data());
}

} // namespace trainc
