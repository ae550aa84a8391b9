#include "runtime/comm/local/local_communicator.h"

#include "runtime/base/thread.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace trainc {

namespace {

constexpr uint64_t kAlignment = 64;

} // namespace

Result<std::unique_ptr<Communicator>> LocalCommunicator::create(std::shared_ptr<const SharedMemory> memory,
                                                                uint32_t rank, uint32_t slots,
                                                                double timeoutSeconds) {
  std::unique_ptr<LocalCommunicator> communicator(
      new LocalCommunicator(std::move(memory), rank, slots, timeoutSeconds));
  if (communicator->ranks() == 1)
    return std::unique_ptr<Communicator>(std::move(communicator));
  communicator->thread_ = tryStartThread([self = communicator.get()] { self->progressLoop(); });
  if (!communicator->thread_.joinable())
    return failed("rank {} cannot start the thread that communicates: the system starts no more", rank);
  return std::unique_ptr<Communicator>(std::move(communicator));
}

LocalCommunicator::LocalCommunicator(std::shared_ptr<const SharedMemory> memory, uint32_t rank,
                                     uint32_t slots, double timeoutSeconds)
    : memory_(std::move(memory)), rank_(rank), collectives_(*memory_, rank, timeoutSeconds),
      slots_(slots + 1), queue_(std::bit_ceil(slots + 1)) {}

LocalCommunicator::~LocalCommunicator() {
  const auto inFlight = [](const Slot &slot) { return slot.state.load() == State::kInFlight; };
  if (std::any_of(slots_.begin(), slots_.end(), inFlight))
    fail("it ended before its collectives");
  if (!thread_.joinable())
    return;
  stop_.store(true, std::memory_order_relaxed);
  started_.fetch_add(1, std::memory_order_release);
  started_.notify_one();
  thread_.join();
}

Result<std::byte *> LocalCommunicator::allocate(std::string_view name, uint64_t bytes) {
  const uint64_t left = memory_->bytesPerRank() - allocated_;
  if (bytes > left)
    return failed("cannot allocate {} bytes for '{}' on rank {}: {} of its {} shared bytes are left", bytes,
                  name, rank_, left, memory_->bytesPerRank());
  std::byte *data = memory_->memory(rank_) + allocated_;
  allocated_ += (bytes + kAlignment - 1) / kAlignment * kAlignment; // a page has room for that
  return data;
}

void LocalCommunicator::start(uint32_t index, const Collective &collective) {
  Slot &slot = slots_[index];
  assert(slot.state.load() != State::kInFlight && "a slot is waited for before it is used again");
  if (ranks() == 1) {
    collectives_.run(collective); // waits for nobody
    return;
  }
  slot.collective = collective;
  slot.state.store(State::kInFlight, std::memory_order_relaxed);
  const uint32_t position = started_.load(std::memory_order_relaxed);
  queue_[position % queue_.size()] = index;
  started_.store(position + 1, std::memory_order_release);
  started_.notify_one();
}

Status LocalCommunicator::wait(uint32_t index) {
  Slot &slot = slots_[index];
  slot.state.wait(State::kInFlight, std::memory_order_acquire);
  if (slot.state.load(std::memory_order_acquire) == State::kDone)
    return {};
  const std::string where = index + 1 < slots_.size() ? fmt::format(" (slot {})", index) : "";
  return failed("rank {}: {}{} cannot be completed: {}", rank_, describe(slot.collective), where,
                memory_->failure());
}

Status LocalCommunicator::barrier() {
  const auto slot = static_cast<uint32_t>(slots_.size() - 1);
  start(slot, {.kind = CollectiveKind::kBarrier});
  return wait(slot);
}

void LocalCommunicator::noteProgress() {
  memory_->state(rank_).progress.fetch_add(1, std::memory_order_relaxed);
}

uint32_t LocalCommunicator::ranksThatMeet(const Collective &collective) const {
  return memory_->grid().members(collective.group, rank_).count;
}

void LocalCommunicator::progressLoop() {
  for (uint32_t next = 0;; ++next) {
    started_.wait(next, std::memory_order_acquire);
    if (stop_.load(std::memory_order_relaxed))
      return;
    Slot &slot = slots_[queue_[next % queue_.size()]];
    const bool done = collectives_.run(slot.collective);
    if (done)
      bytesSent_.fetch_add(ringBytes(slot.collective, ranksThatMeet(slot.collective)),
                           std::memory_order_relaxed);
    slot.state.store(done ? State::kDone : State::kFailed, std::memory_order_release);
    slot.state.notify_one();
  }
}

} // namespace trainc
