// Interface of a device to its peers, if collectives run on the device's streams.
#pragma once

#include "runtime/comm/communicator.h"

#include <functional>
#include <string>

namespace trainc {

/// A stream of a device, as its driver names it (CUstream).
using DeviceStream = void *;

/// Arguments of a sum that one rank computes.
struct LocalSumCall {
  uint32_t kernel = 0; ///< index in the plan; the other members are the kernel's arguments
  std::span<const DeviceAddress> inputs = {}; ///< one per place, in order of places, aligned to an element
  DeviceAddress out; ///< may be one of the inputs; otherwise the buffers do not overlap
  DeviceAddress end; ///< end of `out`
};

/// Enqueues out[i] = sum of inputs[.][i] over the tree of runtime/comm/tree_sum.h; also during stream
/// capture.
using LocalSum = std::function<Status(const LocalSumCall &call, DeviceStream stream)>;

/// A communicator that moves tensors on streams of the device. One thread drives it, with the device's
/// context current.
class StreamCommunicator : public Communicator {
public:
  StreamCommunicator *onStreams() final { return this; }

  /// Library and number of ranks: "NCCL 2.30.1 among 2 ranks".
  virtual std::string description() const = 0;
  /// Sets the function that sums on the device, for ranges that have a kernel; call it before such
  /// collectives.
  virtual void sumBy(LocalSum sum) = 0;
  /// Allocates like Communicator::allocate(). The memory is undefined if `first` says so.
  virtual Result<DeviceAddress> allocate(std::string_view name, uint64_t bytes, FirstBytes first) = 0;
  Result<DeviceAddress> allocate(std::string_view name, uint64_t bytes) final {
    return allocate(name, bytes, FirstBytes::Zero);
  }

  /// Enqueues a collective of tensors on a stream, also during capture. `place` names the instruction in
  /// messages.
  virtual Status enqueue(const Collective &collective, DeviceStream stream, std::string_view place) = 0;
  /// Records that an enqueued collective runs, once or in a graph; see bytesSent().
  virtual void noteRun(const Collective &collective) = 0;
  /// Checks on the host for failures while work of enqueue(), or graphs of it, is in flight; call it several
  /// times a second. Fails with kFailed, naming the collective and the place at which the device is, if a
  /// rank or the library is at fault. The failure is permanent, and work in flight does not end before
  /// abort().
  virtual Status poll() = 0;
  /// Ends all work in flight, permanently; later work of the streams then runs. Destroy all graphs that hold
  /// such work first, even running ones: the library waits for them without a timeout.
  virtual void abort() = 0;
};

} // namespace trainc
