// Hosts of ranks that no MPI connects: what they tell each other goes through rank 0.
#pragma once

#include "runtime/comm/communicator.h"
#include "runtime/comm/host_message.h"
#include "runtime/comm/stall_watch.h"
#include "runtime/comm/tcp/tcp_join.h"
#include "runtime/comm/tcp/tcp_link.h"

#include <array>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace trainc {

struct TcpOptions {
  /// How long a rank that is waited for may make no progress before it counts as dead.
  double timeoutSeconds = 5;
};

/// It moves no tensors, and so has no memory to give: another communicator does that, such as NCCL's.
class TcpCommunicator final : public Communicator {
public:
  /// Fails as meetOverTcp() does.
  static Result<std::unique_ptr<Communicator>> create(const TcpPlace &place, TcpOptions options = {});
  /// Says farewell. Rank 0 stays until all have, as what they tell goes through it.
  ~TcpCommunicator() override;

  uint32_t rank() const override { return rank_; }
  uint32_t ranks() const override { return static_cast<uint32_t>(lives_.size()); }
  Result<DeviceAddress> allocate(std::string_view name, uint64_t bytes) override;
  uint64_t allocatedBytes() const override { return 0; }
  /// Of barriers alone; who waits for one says that this rank has come.
  Ticket start(const Collective &collective) override;
  Status wait(Ticket ticket) override;
  void noteProgress() override { progress_.fetch_add(1, std::memory_order_relaxed); }
  Status noteWait(bool begins) override;
  void fail(std::string_view reason) override;
  Status failure() const override;
  uint64_t bytesSent() const override { return 0; }
  std::optional<CommunicationSeconds> seconds() const override { return std::nullopt; }

private:
  Status exchangeWithPeers(std::span<const std::byte> own, std::span<std::byte> all) override;
  enum Channel : uint32_t { kHosts, kBarriers, kChannels };

  /// What each rank says of itself, twice a second or more.
  struct Life {
    uint32_t progress = 0, waits = 0;
    uint32_t left = 0;                          ///< its run has ended
    std::array<uint32_t, kChannels> turns = {}; ///< of each channel, in how many it has told
  };
  /// Rank 0 collects what ranks tell in a turn, and gives it to all.
  struct Turns {
    std::vector<HostMessage> told;   ///< by rank, in the last turn that is done
    std::vector<HostMessage> coming; ///< in the one in progress, where this is rank 0
    uint32_t come = 0;               ///< how many
    uint32_t done = 0;               ///< turns
  };

  TcpCommunicator(uint32_t rank, uint32_t ranks, TcpOptions options);
  Life &own() { return lives_[rank_]; }
  bool isHost() const { return rank_ == 0; }

  void serve();
  void serveLinks();
  void beat(double now);
  void handle(uint32_t sender, const TcpHeader &header, std::span<const std::byte> payload);
  void noteTold(uint32_t sender, Channel channel, const HostMessage &message);
  void noteFailure(uint32_t rank, std::string_view reason);
  void send(const TcpHeader &header, std::span<const std::byte> payload,
            std::optional<uint32_t> except = std::nullopt);
  void wake() const;

  void tell(Channel channel, const HostMessage &message);
  bool waitForTurn(Channel channel, std::unique_lock<std::mutex> &held);
  bool farewellIsOver(double seconds);
  void look(double seconds, const std::function<bool(const Life &)> &isMissing, const std::string &circle);

  uint32_t rank_;
  double timeout_;
  Descriptor wake_;
  std::atomic<uint32_t> progress_{0};
  mutable std::mutex mutex_; ///< of all that follows but the watches, which the waiting thread has
  std::condition_variable changed_;
  std::vector<std::unique_ptr<TcpLink>> links_; ///< by rank: of rank 0 to all, else to rank 0 at place 0
  std::vector<Life> lives_;                     ///< by rank
  std::array<Turns, kChannels> turns_;
  std::string failure_;
  bool stops_ = false;
  double lastBeat_ = 0;
  StallWatch peers_, everyone_; ///< of who waits; at the end of the thread that serves the links
  double lastLook_ = 0;
  Ticket started_ = 0, barriers_ = 0; ///< barriers, and those that were waited for
  std::thread thread_;
};

} // namespace trainc
