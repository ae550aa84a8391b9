// The communicator of one rank among processes that MPI connects.
#pragma once

#include "runtime/base/arena.h"
#include "runtime/comm/collective_queue.h"
#include "runtime/comm/communicator.h"
#include "runtime/comm/mpi/job.h"
#include "runtime/comm/mpi/mpi_collectives.h"
#include "runtime/comm/mpi/mpi_group.h"
#include "runtime/comm/mpi/mpi_peers.h"
#include "runtime/comm/mpi/poll_backoff.h"

#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace trainc {

/// Collectives wait in a queue for the progress thread, which starts MPI, runs one after the other, listens
/// to peers when there is none, and ends MPI.
class MpiCommunicator final : public Communicator {
public:
  /// As openMpi().
  static Status create(const MpiOptions &options, std::unique_ptr<Communicator> &communicator);
  /// Fails the ranks if collectives are in flight, as peers would wait for this one in vain.
  ~MpiCommunicator() override;

  uint32_t rank() const override { return job_.rank(); }
  uint32_t ranks() const override { return job_.ranks(); }
  Result<DeviceAddress> allocate(std::string_view name, uint64_t bytes) override;
  uint64_t allocatedBytes() const override { return bytesOf(arenas_); }
  Ticket start(const Collective &collective) override { return queue_.start(collective); }
  Status wait(Ticket ticket) override;
  void noteProgress() override { peers_->noteProgress(); }
  Status noteWait(bool begins) override;
  void fail(std::string_view reason) override { peers_->fail(rank(), reason); }
  Status failure() const override;
  uint64_t bytesSent() const override { return collectives_->bytesSent(); }
  std::optional<CommunicationSeconds> seconds() const override { return queue_.seconds(); }

private:
  Status exchangeWithPeers(std::span<const std::byte> own, std::span<std::byte> all) override;
  explicit MpiCommunicator(const MpiOptions &options) : options_(options), queue_(options.inFlight) {}
  void progressThread(std::promise<Status> opened);
  Status checkRanks(Grid grid) const;
  Status open();
  void progressLoop();
  void waitForHosts(bool theyWait, PollBackoff &backoff);
  void watchForOthers();
  void close();

  MpiOptions options_;
  MpiJob job_;
  std::optional<MpiPeers> peers_; ///< like the next, once MPI has started
  std::optional<MpiCollectives> collectives_;
  CollectiveQueue queue_;
  std::atomic<uint32_t> waits_{0};  ///< how often noteWait() was called
  std::atomic<bool> begins_{false}; ///< a wait that the thread has not seen yet
  uint32_t waitsSeen_ = 0;          ///< by the thread
  std::vector<ArenaMapping> arenas_;
  std::thread thread_;
};

} // namespace trainc
