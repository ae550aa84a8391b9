// Communicator of a rank with a GPU: NCCL moves tensors, another communicator serves the hosts.
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
  CudaPlace place;         ///< GPU of the rank
  uint32_t shardRanks = 1; ///< ranks per shard group (see grid.h); divides the number of ranks
  /// Timeout of connecting and of leaving NCCL's communicators.
  double startSeconds = 60;
};

/// Combines a host communicator, through which ranks find each other, exchange small values and learn of
/// failures, with NCCL, which moves tensors on streams of the device or on one of its own. Ranks whose
/// devices wait in a collective report so. poll() reports a rank that has failed, hangs or is silent; abort()
/// ends the NCCL work in flight. One thread drives it, with the device's context current.
class NcclCommunicator final : public Communicator {
public:
  /// Collective: called by all ranks together. `hosts` has the same shard groups and is told why a rank
  /// cannot take part. Fails with kFailed if NCCL 2.28 is missing, the ranks' versions differ or NCCL cannot
  /// connect them; with kInvalidInput if ranks share a GPU and NCCL does not support this.
  static Result<std::unique_ptr<NcclCommunicator>> create(std::unique_ptr<Communicator> hosts,
                                                          const NcclOptions &options);
  /// Leaves the group. If collectives are in flight or have failed, ends them like abort().
  ~NcclCommunicator() override;

  /// Whether the environment requests several ranks per GPU (NCCL_MULTI_RANK_GPU_ENABLE=1), which needs NCCL
  /// 2.30 or newer.
  static bool sharingIsAsked();

  /// Sets the function that sums on the device, for ranges that have a kernel; call it before such
  /// collectives.
  void sumBy(LocalSum sum) { localSum_ = std::move(sum); }

  /// Enqueues a collective of tensors on a stream, also during capture. `place` names the instruction in
  /// messages.
  Status enqueue(const Collective &collective, CUstream stream, std::string_view place = {});
  /// Checks on the host for failures while work of enqueue(), or graphs of it, is in flight; call it several
  /// times a second. Fails with kFailed, naming the collective and the place at which the device is, if a
  /// rank or NCCL is at fault. The failure is permanent, and work in flight does not end before abort().
  Status poll();
  /// Ends all NCCL work in flight, permanently; later work of the streams then runs. Destroy all graphs that
  /// hold such work first, even running ones: NCCL waits for them without a timeout.
  void abort();
  /// Adds the bytes that a launched graph transfers; see bytesSent() and bytesOf().
  void noteLaunch(uint64_t bytes) { sent_ += bytes; }
  uint64_t bytesOf(const Collective &collective) const;

  uint32_t rank() const override { return hosts_->rank(); }
  uint32_t ranks() const override { return hosts_->ranks(); }
  Result<DeviceAddress> allocate(std::string_view name, uint64_t bytes) override {
    return allocate(name, bytes, FirstBytes::Zero);
  }
  /// Overload that leaves the memory uninitialised if `first` says so.
  Result<DeviceAddress> allocate(std::string_view name, uint64_t bytes, FirstBytes first);
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
  Status connect();
  Status checkRanks();
  Status openGroup(fb::Group group);
  size_t indexOf(fb::Group group) const;
  NcclTimeout timeout() const;
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
  std::array<NcclGroup, 3> groups_; ///< by fb::Group; groups of the same ranks share the first entry
  std::array<std::optional<NcclCollectives>, 3> collectives_;
  std::vector<void *> arenas_;
  LocalSum localSum_;
  std::map<Ticket, Flight> flights_;
  Ticket started_ = 0;
  std::optional<uint32_t> waitsAt_; ///< collective at which poll() last saw the device
  Status failure_;
  uint64_t allocated_ = 0, sent_ = 0;
};

} // namespace trainc
