// Communicator of a rank with a GPU: NCCL moves tensors, another communicator serves the hosts.
#pragma once

#include "runtime/comm/nccl/nccl_collectives.h"
#include "runtime/comm/nccl/nccl_group.h"
#include "runtime/comm/nccl/nccl_watch.h"
#include "runtime/comm/stream_communicator.h"
#include "runtime/cuda/cuda_context.h"
#include "runtime/cuda/cuda_handles.h"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace trainc {

struct NcclOptions {
  CudaPlace place; ///< GPU of the rank
  Mesh mesh;       ///< of all ranks
  /// Timeout of connecting and of leaving NCCL's communicators.
  double startSeconds = 60;
};

/// Combines a host communicator, through which ranks find each other, exchange small values and learn of
/// failures, with NCCL, which moves tensors on streams of the device or on one of its own. Ranks whose
/// devices wait in a collective report so. poll() reports a rank that has failed, hangs or is silent.
class NcclCommunicator final : public StreamCommunicator {
public:
  /// Collective: called by all ranks together. `hosts` has the same mesh and is told why a rank
  /// cannot take part. Fails with kFailed if NCCL 2.28 is missing, the ranks' versions differ or NCCL cannot
  /// connect them; with kInvalidInput if ranks share a GPU and NCCL does not support this.
  static Result<std::unique_ptr<NcclCommunicator>> create(std::unique_ptr<Communicator> hosts,
                                                          const NcclOptions &options);
  /// Leaves the group. If collectives are in flight or have failed, ends them like abort().
  ~NcclCommunicator() override;

  /// Whether the environment requests several ranks per GPU (NCCL_MULTI_RANK_GPU_ENABLE=1), which needs NCCL
  /// 2.30 or newer.
  static bool sharingIsAsked();

  std::string description() const override;
  void sumBy(LocalSum sum) override { localSum_ = std::move(sum); }
  Status enqueue(const Collective &collective, DeviceStream stream, std::string_view place = {}) override;
  void noteRun(const Collective &collective) override { sent_ += bytesOf(collective); }
  Status poll() override;
  void abort() override;
  using StreamCommunicator::allocate;
  Result<DeviceAddress> allocate(std::string_view name, uint64_t bytes, FirstBytes first) override;

  uint32_t rank() const override { return hosts_->rank(); }
  uint32_t ranks() const override { return hosts_->ranks(); }
  uint64_t allocatedBytes() const override { return allocated_; }
  /// Runs at once, on a stream of the communicator's own.
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
  /// A collective that was started but not waited for.
  struct Flight {
    std::string text;
    Status status;
    CudaEvent done;
    std::optional<Ticket> hosts; ///< ticket of a barrier
  };

  NcclCommunicator(std::unique_ptr<Communicator> hosts, const NcclOptions &options, CudaContext context,
                   NcclWatch watch, CudaStream stream);
  uint64_t bytesOf(const Collective &collective) const;
  Status connect();
  Status checkRanks();
  Status openGroup(Axes axes);
  NcclTimeout timeout() const;
  Status look();
  Status causeOf(Status found) const;
  Status giveUp(const std::string &text, const Status &found);
  Status begin(const Collective &collective, Flight &flight);
  Status finish(const Flight &flight);
  Status leave();

  NcclOptions options_;
  std::unique_ptr<Communicator> hosts_;
  CudaContext context_;
  NcclWatch watch_;
  CudaStream stream_;
  /// The groups that contain this rank, by Mesh::choiceOf() of their axes.
  std::array<NcclGroup, Mesh::kMaxChoices> groups_;
  std::array<std::optional<NcclCollectives>, Mesh::kMaxChoices> collectives_;
  std::vector<void *> arenas_;
  LocalSum localSum_;
  std::map<Ticket, Flight> flights_;
  Ticket started_ = 0;
  std::optional<uint32_t> waitsAt_; ///< collective at which poll() last saw the device
  Status failure_;
  uint64_t allocated_ = 0, sent_ = 0;
};

} // namespace trainc
