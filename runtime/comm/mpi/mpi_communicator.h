// Communicator of one rank among processes connected by MPI.
#pragma once

#include "base/arena.h"
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

/// A progress thread initialises MPI, runs the queued collectives one after the other, serves peers while
/// idle, and finalises MPI.
class MpiCommunicator final : public Communicator {
public:
  /// See openMpi().
  static Status create(const JobOptions &options, std::unique_ptr<Communicator> &communicator);
  /// Fails the ranks if collectives are in flight, because peers would wait for this one in vain.
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
  explicit MpiCommunicator(const JobOptions &options) : options_(options), queue_(options.inFlight) {}
  void progressThread(std::promise<Status> opened);
  Status chooseMesh();
  Status open();
  void progressLoop();
  void waitForHosts(bool theyWait, PollBackoff &backoff);
  void watchForOthers();
  void close();

  JobOptions options_;
  MpiJob job_;
  std::optional<MpiPeers> peers_; ///< set, like collectives_, once MPI is initialised
  std::optional<MpiCollectives> collectives_;
  CollectiveQueue queue_;
  std::atomic<uint32_t> waits_{0};  ///< number of noteWait() calls
  std::atomic<bool> begins_{false}; ///< a new wait that the progress thread has not seen yet
  uint32_t waitsSeen_ = 0;          ///< calls that the progress thread has seen
  std::vector<ArenaMapping> arenas_;
  std::thread thread_;
};

} // namespace trainc
