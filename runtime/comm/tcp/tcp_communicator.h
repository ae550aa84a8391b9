// Host communicator over TCP, for ranks without MPI; all messages pass through rank 0.
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
#include <type_traits>
#include <vector>

namespace trainc {

struct TcpOptions {
  /// Timeout: seconds without progress after which a rank that others wait for counts as dead.
  double timeoutSeconds = 5;
};

/// Moves no tensors and allocates no memory: another communicator, such as NcclCommunicator, does that.
class TcpCommunicator final : public Communicator {
public:
  /// Fails like meetOverTcp().
  static Result<std::unique_ptr<Communicator>> create(const TcpPlace &place, TcpOptions options = {});
  /// Runs the shutdown barrier. Rank 0 stays until all ranks have left, because their messages pass through
  /// it.
  ~TcpCommunicator() override;

  uint32_t rank() const override { return rank_; }
  uint32_t ranks() const override { return static_cast<uint32_t>(heartbeats_.size()); }
  Result<DeviceAddress> allocate(std::string_view name, uint64_t bytes) override;
  uint64_t allocatedBytes() const override { return 0; }
  /// Supports barriers only. The rank arrives at a barrier when it calls wait(), not here.
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

  /// Heartbeat of a rank, sent at least twice a second.
  struct Heartbeat {
    uint32_t progress = 0, waits = 0;
    uint32_t left = 0;                          ///< whether the rank's run has ended
    std::array<uint32_t, kChannels> turns = {}; ///< for each channel, the number of turns it took part in
  };
  static_assert(sizeof(Heartbeat) == 12 + 4 * kChannels &&
                std::has_unique_object_representations_v<Heartbeat>);
  /// State of a channel: rank 0 collects the values of a turn and sends all of them to every rank.
  struct Turns {
    std::vector<HostMessage> messages; ///< by rank, values of the last complete turn
    std::vector<HostMessage> coming;   ///< values of the current turn, on rank 0
    uint32_t come = 0;                 ///< number of values in `coming`
    uint32_t done = 0;                 ///< number of complete turns
  };

  TcpCommunicator(uint32_t rank, uint32_t ranks, TcpOptions options);
  Heartbeat &own() { return heartbeats_[rank_]; }
  bool isHost() const { return rank_ == 0; }

  void serve();
  void serveLinks();
  void sendHeartbeat(double now);
  void handle(uint32_t sender, const TcpHeader &header, std::span<const std::byte> payload);
  void noteValue(uint32_t sender, Channel channel, const HostMessage &message);
  void noteFailure(uint32_t rank, std::string_view reason);
  void send(const TcpHeader &header, std::span<const std::byte> payload,
            std::optional<uint32_t> except = std::nullopt);
  void wake() const;

  void tell(Channel channel, const HostMessage &message);
  bool waitForTurn(Channel channel, std::unique_lock<std::mutex> &held);
  bool shutdownIsOver(double seconds);
  void look(double seconds, const std::function<bool(const Heartbeat &)> &isMissing,
            const std::string &circle);

  uint32_t rank_;
  double timeout_;
  Descriptor wake_;
  std::atomic<uint32_t> progress_{0};
  mutable std::mutex
      mutex_; ///< guards all members below except the watches, which belong to the waiting thread
  std::condition_variable changed_;
  std::vector<std::unique_ptr<TcpLink>>
      links_;                         ///< by rank on rank 0; else only the link to rank 0, at index 0
  std::vector<Heartbeat> heartbeats_; ///< by rank
  std::array<Turns, kChannels> turns_;
  std::string failure_;
  bool stops_ = false;
  double lastHeartbeat_ = 0;
  StallWatch peers_,
      everyone_; ///< used by the waiting thread; during shutdown by the thread that serves the links
  double lastLook_ = 0;
  Ticket started_ = 0, barriers_ = 0; ///< barriers started, and barriers waited for
  std::thread thread_;
};

} // namespace trainc
