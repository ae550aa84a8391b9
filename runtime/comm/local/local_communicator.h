// The communicator of one rank among the ranks of one host.
#pragma once

#include "runtime/comm/collective_queue.h"
#include "runtime/comm/communicator.h"
#include "runtime/comm/local/local_collectives.h"
#include "runtime/comm/local/rendezvous.h"
#include "runtime/comm/local/shared_memory.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <thread>

namespace trainc {

/// Host exchanges of one rank, called by the thread that drives the communicator. Uses a barrier separate
/// from that of the collectives.
class HostExchange {
public:
  /// `timeoutSeconds` as for Rendezvous.
  HostExchange(const SharedMemory &memory, uint32_t rank, double timeoutSeconds)
      : memory_(memory), rank_(rank), rendezvous_(memory, rank, timeoutSeconds) {}

  /// See Communicator::exchange(); returns false if a rank has failed.
  bool exchange(std::span<const std::byte> own, std::span<std::byte> all);
  /// See Communicator::noteWait(); returns false if a rank has failed.
  bool noteWait(bool begins) { return rendezvous_.watch(begins); }

private:
  const SharedMemory &memory_;
  uint32_t rank_;
  Rendezvous rendezvous_;
  uint64_t turn_ = 0; ///< number of exchanges so far
};

/// Communicator of one rank. A progress thread runs the queued collectives one after the other. A single rank
/// needs no thread: its collectives are done when started.
class LocalCommunicator final : public Communicator {
public:
  /// Allows `inFlight` collectives in flight. Fails with kFailed if the system cannot start another thread.
  static Result<std::unique_ptr<Communicator>>
  create(std::shared_ptr<const SharedMemory> memory, uint32_t rank, uint32_t inFlight, double timeoutSeconds);
  /// Fails the group if collectives are in flight, because peers would wait for this rank in vain.
  ~LocalCommunicator() override;

  uint32_t rank() const override { return rank_; }
  uint32_t ranks() const override { return memory_->ranks(); }
  Result<DeviceAddress> allocate(std::string_view name, uint64_t bytes) override;
  uint64_t allocatedBytes() const override { return allocated_; }
  Ticket start(const Collective &collective) override;
  Status wait(Ticket ticket) override;
  void noteProgress() override;
  Status noteWait(bool begins) override;
  void fail(std::string_view reason) override { memory_->fail(rank_, reason); }
  Status failure() const override;
  uint64_t bytesSent() const override { return collectives_.bytesTaken(); }
  std::optional<CommunicationSeconds> seconds() const override { return queue_.seconds(); }

private:
  Status exchangeWithPeers(std::span<const std::byte> own, std::span<std::byte> all) override;
  LocalCommunicator(std::shared_ptr<const SharedMemory> memory, uint32_t rank, uint32_t inFlight,
                    double timeoutSeconds);
  void progressLoop();
  void runNext(std::chrono::milliseconds timeout);

  std::shared_ptr<const SharedMemory> memory_;
  uint32_t rank_;
  uint64_t allocated_ = 0; ///< bytes of the rank's memory
  uint64_t end_ = 0;       ///< offset of the first free byte, alignment padding included
  LocalCollectives collectives_;
  HostExchange hosts_;
  CollectiveQueue queue_;
  std::thread thread_;
};

} // namespace trainc
