#include "runtime/comm/mpi/mpi_communicator.h"

#include "runtime/base/thread.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <sys/mman.h>

namespace trainc {

namespace {

/// How long peers may wait for an answer from a rank that computes.
constexpr std::chrono::milliseconds kIdle{20};

} // namespace

Status MpiCommunicator::create(const MpiOptions &options, std::unique_ptr<Communicator> &communicator) {
  std::unique_ptr<MpiCommunicator> made(new MpiCommunicator(options));
  std::promise<Status> promise;
  std::future<Status> opened = promise.get_future();
  made->thread_ = tryStartThread([self = made.get(), promise = std::move(promise)]() mutable {
    self->progressThread(std::move(promise));
  });
  if (!made->thread_.joinable())
    return failed("cannot start the thread that communicates: the system starts no more");
  if (opened.wait_for(std::chrono::duration<double>(options.startSeconds)) != std::future_status::ready) {
    made->thread_.detach(); // nothing interrupts MPI, and it uses the communicator
    (void)made.release();
    return failed(
        "MPI has not started within {} s, as it waits for ranks that have not come: they have died, "
        "hang or are stopped; see what the launcher says of them, and start the job again",
        options.startSeconds);
  }
  TRAINC_RETURN_IF_ERROR(opened.get());
  communicator = std::move(made);
  return {};
}

MpiCommunicator::~MpiCommunicator() {
  if (queue_.anyInFlight())
    fail("it ended before its collectives");
  queue_.stop();
  if (thread_.joinable())
    thread_.join();
  if (peers_ && peers_->hasFailed())
    return; // messages may be under way into and out of this memory
  for (const Mapping &mapping : mappings_)
    munmap(mapping.data, mapping.bytes);
}

Result<std::byte *> MpiCommunicator::allocate(std::string_view name, uint64_t bytes) {
  const uint64_t size = std::max<uint64_t>(bytes, 1);
  void *data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED)
    return failed("cannot allocate {} bytes for '{}' on rank {}: {}", bytes, name, rank(),
                  std::strerror(errno));
  madvise(data, size, MADV_HUGEPAGE); // a hint: without it there are only more page faults
  mappings_.push_back({data, size});
  allocated_ += bytes;
  return static_cast<std::byte *>(data);
}

Status MpiCommunicator::wait(uint32_t slot) {
  if (queue_.wait(slot))
    return {};
  return failed("rank {}: {} cannot be completed: {}", rank(), queue_.describe(slot), peers_->failure());
}

Status MpiCommunicator::barrier() {
  start(queue_.barrierSlot(), {.kind = CollectiveKind::kBarrier});
  return wait(queue_.barrierSlot());
}

void MpiCommunicator::progressThread(std::promise<Status> opened) {
  const Status status = open();
  opened.set_value(status);
  if (!status.ok())
    return;
  progressLoop();
  close();
}

Status MpiCommunicator::checkRanks(Grid grid) const {
  if (options_.ranks != 0 && grid.ranks != options_.ranks)
    return invalidInput("the plan is for {} ranks, but MPI has started {}: start it with mpirun -n {} or "
                        "srun --mpi=pmix -n {}; torchrun starts no ranks of MPI",
                        options_.ranks, grid.ranks, options_.ranks, options_.ranks);
  return checkGrid(grid);
}

Status MpiCommunicator::open() {
  TRAINC_RETURN_IF_ERROR(job_.start());
  const Grid grid{.ranks = job_.ranks(), .shardRanks = options_.shardRanks};
  if (Status status = checkRanks(grid); !status.ok()) {
    job_.end(options_.timeoutSeconds); // all ranks have the same options
    return status;
  }
  peers_.emplace(job_, options_.timeoutSeconds);
  collectives_.emplace(job_, grid, *peers_);
  return {};
}

void MpiCommunicator::progressLoop() {
  for (;;) {
    const std::optional<uint32_t> slot = queue_.nextWithin(kIdle);
    noteOwnTime();
    peers_->service();
    if (!slot)
      continue;
    if (*slot == CollectiveQueue::kStop)
      return;
    queue_.noteUnderWay();
    queue_.finish(*slot, collectives_->run(queue_.collective(*slot)));
  }
}

/// Ends MPI once all ranks are at it, who may take their own time until then.
void MpiCommunicator::close() {
  if (!collectives_->run({.kind = CollectiveKind::kFarewell})) {
    peers_->lingerAfterFailure();
    return;
  }
  peers_->close();
  job_.end(options_.timeoutSeconds);
}

} // namespace trainc
