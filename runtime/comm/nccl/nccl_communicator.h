// The communicator of a rank that has a GPU: tensors go through NCCL, hosts through another communicator.
#pragma once

#include "runtime/comm/communicator.h"
#include "runtime/comm/nccl/nccl_collectives.h"
#include "runtime/comm/nccl/nccl_group.h"
#include "runtime/comm/nccl/nccl_watch.h"
#include "runtime/device/cuda/cuda_context.h"
#include "runtime/device/cuda/cuda_handles.h"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace trainc {

struct NcclOptions {
  CudaPlace place;         ///< the rank's GPU
  uint32_t shardRanks = 1; ///< of a shard group (see grid.h); divides the ranks
  /// How long NCCL may take to connect the ranks, and to leave them.
  double startSeconds = 60;
};

/// Ranks find each other, tell each other small values and hear of failures through the communicator that
/// brought them together; NCCL moves tensors, on streams that the device names or on one of its own. Ranks
/// whose devices wait in a collective tell each other so. Where one of them has failed, hangs or is silent,
/// poll() says so, and abort() ends what NCCL has under way. One thread drives it, with the device's context
/// current.
class NcclCommunicator final : public Communicator {
public:
  /// All ranks together. `hosts` has the same shard groups; it hears why a rank cannot take part. Fails
  /// (kFailed) without NCCL 2.28, where the ranks' versions differ, or when NCCL does not connect them;
  /// (kInvalidInput) where ranks share a GPU and NCCL cannot do that.
  static Result<std::unique_ptr<NcclCommunicator>> create(std::unique_ptr<Communicator> hosts,
                                                          const NcclOptions &options);
  /// Leaves the ranks; if collectives are in flight, or have failed, it ends them instead, as abort() does.
  ~NcclCommunicator() override;

  /// Whether the environment asks for several ranks on one GPU (NCCL_MULTI_RANK_GPU_ENABLE=1), which takes
  /// NCCL 2.30 or newer.
  static bool sharingIsAsked();

  /// What adds on the device where ranges have a kernel for it; before such collectives.
  void sumBy(LocalSum sum) { localSum_ = std::move(sum); }

  /// Puts a collective that moves tensors on a stream, also while it is captured. `place` says for messages
  /// which instruction it is.
  Status enqueue(const Collective &collective, CUstream stream, std::string_view place = {});
  /// For a host that waits for what enqueue() has put on streams, or for graphs of it: call it some times a
  /// second. Fails (kFailed), with the collective that the device is at and its place, when a rank is at
  /// fault, or NCCL is. Once it has failed it stays so, and what is under way does not end before abort().
  Status poll();
  /// Ends what NCCL has under way, for good; what streams have behind it then runs. Destroy graphs of it
  /// before, also those that run: NCCL waits for graphs that hold its work, without an end.
  void abort();
  /// Notes that a graph runs which moves as many bytes; see bytesSent() and bytesOf().
  void noteLaunch(uint64_t bytes) { sent_ += bytes; }
  uint64_t bytesOf(const Collective &collective) const;

  uint32_t rank() const override { return hosts_->rank(); }
  uint32_t ranks() const override { return hosts_->ranks(); }
  Result<DeviceAddress> allocate(std::string_view name, uint64_t bytes) override {
    return allocate(name, bytes, FirstBytes::Zero);
  }
  /// The same, zeroed or not.
  Result<DeviceAddress> allocate(std::string_view name, uint64_t bytes, FirstBytes first);
  uint64_t allocatedBytes() const override { return allocated_; }
  /// On a stream of its own, at once.
  Ticket start(const Collective &collective) override;
  Status wait(Ticket ticket) override;
  void noteProgress() override { hosts_->noteProgress(); }
  Status noteWait(bool begins) override { return hosts_->noteWait(begins); }
  void fail(std::string_view reason) override { hosts_->fail(reason); }
  Status failure() const override { return hosts_->failure(); }
  uint64_t bytesSent() const override { return sent_; }
  std::optional<CommunicationSeconds> seconds() const override { return std::nullopt; }

protected:
  Communicator &hosts() override { return *hosts_; }
  Status exchangeWithPeers(std::span<const std::byte> own, std::span<std::byte> all) override {
    return hosts_->exchange(own, all);
  }

private:
  /// A collective that start() has begun and nobody has waited for.
  struct Flight {
    std::string text;
    Status status;
    CudaEvent done;
    std::optional<Ticket> hosts; ///< of a barrier
  };

  NcclCommunicator(std::unique_ptr<Communicator> hosts, const NcclOptions &options, CudaContext context,
                   NcclWatch watch, CudaStream stream);
  Status connect();
  Status checkRanks();
  Status openGroup(fb::Group group);
  size_t indexOf(fb::Group group) const;
  NcclPatience patience() const;
  Status look();
  Status causeOf(Status found) const;
  Status giveUp(const std::string &text, const Status &found);
  Status begin(const Collective &collective, Flight &flight);
  Status finish(const Flight &flight);
  Status leave();

  Grid grid_;
  NcclOptions options_;
  std::unique_ptr<Communicator> hosts_;
  CudaContext context_;
  NcclWatch watch_;
  CudaStream stream_;
  std::array<NcclGroup, 3>
      groups_; ///< by fb::Group; where two are of the same ranks, the first stands for both
  std::array<std::optional<NcclCollectives>, 3> collectives_;
  std::vector<void *> arenas_;
  LocalSum localSum_;
  std::map<Ticket, Flight> flights_;
  Ticket started_ = 0;
  std::optional<uint32_t> waitsAt_; ///< the collective at which poll() last saw the device
  Status failure_;
  uint64_t allocated_ = 0, sent_ = 0;
};

} // namespace trainc
