#include "runtime/comm/local/local_communicator.h"

#include "base/thread.h"
#include "plan/schema/limits.h"
#include "runtime/comm/host_message.h"

namespace trainc {

namespace {

/// Period at which an idle progress thread reports this rank's own time; far below any sensible timeout.
constexpr std::chrono::milliseconds kIdle{100};

} // namespace

Result<std::unique_ptr<Communicator>> LocalCommunicator::create(std::shared_ptr<const SharedMemory> memory,
                                                                uint32_t rank, uint32_t inFlight,
                                                                double timeoutSeconds) {
  std::unique_ptr<LocalCommunicator> communicator(
      new LocalCommunicator(std::move(memory), rank, inFlight, timeoutSeconds));
  if (communicator->ranks() == 1)
    return std::unique_ptr<Communicator>(std::move(communicator));
  communicator->thread_ = tryStartThread([self = communicator.get()] { self->progressLoop(); });
  if (!communicator->thread_.joinable())
    return failed("rank {} cannot start the thread that communicates: the system starts no more", rank);
  return std::unique_ptr<Communicator>(std::move(communicator));
}

LocalCommunicator::LocalCommunicator(std::shared_ptr<const SharedMemory> memory, uint32_t rank,
                                     uint32_t inFlight, double timeoutSeconds)
    : memory_(std::move(memory)), rank_(rank), collectives_(*memory_, rank, timeoutSeconds),
      hosts_(*memory_, rank, timeoutSeconds), queue_(inFlight) {}

LocalCommunicator::~LocalCommunicator() {
  if (queue_.anyInFlight())
    fail("it ended before its collectives");
  if (thread_.joinable()) {
    queue_.stop();
    thread_.join();
  }
  memory_->state(rank_).left.store(true, std::memory_order_release);
}

Result<DeviceAddress> LocalCommunicator::allocate(std::string_view name, uint64_t bytes) {
  const uint64_t left = memory_->bytesPerRank() - end_;
  if (bytes > left)
    return failed("cannot allocate {} bytes for '{}' on rank {}: {} of its {} shared bytes are left", bytes,
                  name, rank_, left, memory_->bytesPerRank());
  std::byte *data = memory_->memory(rank_) + end_;
  allocated_ += bytes;
  end_ += (bytes + kArenaAlignment - 1) / kArenaAlignment *
          kArenaAlignment; // the page-aligned memory has room for the padding
  return DeviceAddress(data);
}

Ticket LocalCommunicator::start(const Collective &collective) {
  const Ticket ticket = queue_.start(collective);
  if (ranks() == 1)
    runNext(std::chrono::milliseconds(0)); // does not block
  return ticket;
}

Status LocalCommunicator::wait(Ticket ticket) {
  if (queue_.wait(ticket))
    return {};
  return failed("rank {}: {} cannot be completed: {}", rank_, describe(queue_.at(ticket), memory_->mesh()),
                memory_->failure());
}

Status LocalCommunicator::exchangeWithPeers(std::span<const std::byte> own, std::span<std::byte> all) {
  if (hosts_.exchange(own, all))
    return {};
  return failed("rank {}: the ranks cannot agree: {}", rank_, memory_->failure());
}

void LocalCommunicator::noteProgress() {
  memory_->state(rank_).progress.fetch_add(1, std::memory_order_relaxed);
}

Status LocalCommunicator::noteWait(bool begins) {
  return ranks() == 1 || hosts_.noteWait(begins) ? Status() : failure();
}

Status LocalCommunicator::failure() const {
  return memory_->hasFailed() ? failed("{}", memory_->failure()) : Status();
}

void LocalCommunicator::progressLoop() {
  while (!queue_.stopped()) {
    runNext(kIdle);
    noteLocalWait();
  }
}

void LocalCommunicator::runNext(std::chrono::milliseconds timeout) {
  if (const Collective *next = queue_.nextWithin(timeout))
    queue_.finish(collectives_.run(*next, [this] { queue_.noteInFlight(); }));
}

/// Values alternate between two buffers: a rank that arrives at the next barrier has read the values of this
/// one.
bool HostExchange::exchange(std::span<const std::byte> own, std::span<std::byte> all) {
  const uint64_t turn = turn_++ % 2;
  memory_.state(rank_).messages[turn].set(own);
  if (!rendezvous_.arrive(memory_.hosts()))
    return false;
  return gatherValues(
      memory_.ranks(), own.size(),
      [&](uint32_t rank) -> const HostMessage & { return memory_.state(rank).messages[turn]; },
      [&](uint32_t rank, const std::string &reason) { memory_.fail(rank, reason); }, all);
}

} // namespace trainc
