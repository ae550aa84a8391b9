// Ranks with an emulated GPU each. They run in a child process, as the emulators read the environment once.
#pragma once

#include "runtime/comm/local/local_group.h"
#include "runtime/comm/nccl/nccl_communicator.h"
#include "test/unit/common/grid.h"
#include "test/unit/runtime/comm/nccl/child.h"
#include "test/unit/runtime/comm/support.h"

#include <functional>
#include <gtest/gtest.h>
#include <vector>

namespace trainc::test {

struct NcclJob {
  Grid grid;
  double timeoutSeconds = kNever;
};

/// Body of a rank's process or thread; does not see the effects of others on the group.
using NcclBody = std::function<void(NcclCommunicator &)>;
/// Receives the result of create() on a rank.
using NcclMade = std::function<void(uint32_t rank, Result<std::unique_ptr<NcclCommunicator>>)>;

/// Each rank as a thread.
void onThreads(const NcclJob &job, const NcclMade &made);
void onThreads(const NcclJob &job, const NcclBody &body);
/// Each rank as a process, where one that ends by a signal is reported to the others if `supervised`, or not.
void onProcesses(const NcclJob &job, bool supervised, const NcclBody &body);

/// Memory of a rank's GPU that holds elements of a type.
template <typename Element> class GpuValues {
public:
  GpuValues(NcclCommunicator &communicator, uint64_t elements) : elements_(elements) {
    const Result<DeviceAddress> memory = communicator.allocate("values", elements * sizeof(Element));
    EXPECT_TRUE(memory.ok()) << memory.status().message();
    if (memory.ok())
      address_ = *memory;
  }
  GpuValues(NcclCommunicator &communicator, const std::vector<Element> &values)
      : GpuValues(communicator, values.size()) {
    write(values);
  }

  void write(const std::vector<Element> &values) const;
  std::vector<Element> read() const;
  DeviceAddress address(uint64_t element = 0) const { return address_ + element * sizeof(Element); }

private:
  DeviceAddress address_;
  uint64_t elements_;
};

/// Puts a collective of one range on a stream of its own and waits.
Status run(NcclCommunicator &communicator, Collective collective, const CollectiveRange &range);

/// `range` with treeSumOnDevice() as its sum, and `workspaceBytes` for the data of the others.
CollectiveRange summedByKernel(NcclCommunicator &communicator, CollectiveRange range,
                               uint64_t workspaceBytes);
/// A sum over the tree, by the host on the emulated device's thread.
Status treeSumOnDevice(const LocalSumCall &call, DeviceStream stream);

/// Waits as a device does: polls stream and communicator.
Status synchronise(NcclCommunicator &communicator, CUstream stream);

} // namespace trainc::test
