// The state of the emulated driver in this process.
#pragma once

#include "test/emulator/calls/calls.h"
#include "test/emulator/calls/handles.h"
#include "test/emulator/device_memory.h"
#include "test/emulator/libcuda/objects.h"
#include "test/emulator/libcuda/scheduler.h"
#include "test/emulator/libcuda/settings.h"

#include <optional>
#include <sys/types.h>

namespace trainc::emulator {

/// Shared memory of a block, as on an H100: default and maximum.
constexpr uint32_t kSharedBytes = 48 << 10, kMaxSharedBytes = 227 << 10;
constexpr uint32_t kMaxThreads = 1024;
/// Device memory of a context itself.
constexpr uint64_t kContextBytes = uint64_t{1} << 20;

struct Device {
  Device(DriverLock &lock, uint32_t index, const Settings &settings)
      : index(index), memory(settings.memory),
        scheduler(lock, "device " + std::to_string(index), settings.seed * 64 + index) {}

  uint32_t index; ///< among all devices, visible or not
  DeviceMemory memory;
  Scheduler scheduler;
  CUcontext context = nullptr; ///< the primary context while it is retained
};

/// Members are guarded by the lock.
class Driver {
public:
  /// Never destroyed: threads may be inside.
  static Driver &get();

  DriverLock lock;
  Calls calls;
  Settings settings;
  pid_t process = 0; ///< process that called cuInit; 0 if none did

  HandleTable<CUcontext, Context> contexts{1, "context"};
  HandleTable<CUstream, Stream> streams{2, "stream"};
  HandleTable<CUevent, Event> events{3, "event"};
  HandleTable<CUgraph, Graph> graphs{4, "graph"};
  HandleTable<CUgraphExec, GraphExec> graphExecs{5, "executable graph"};
  HandleTable<CUmodule, Module> modules{6, "module"};
  HandleTable<CUfunction, Function> functions{7, "function"};
  std::map<uint64_t, std::shared_ptr<PinnedMemory>> pinned; ///< by address
  std::vector<std::shared_ptr<Capture>> captures;           ///< in progress
  uint64_t lanes = 0;                                       ///< number of lanes (streams and similar) so far

  /// Reads the environment and creates the devices anew, unless a context is live. `held` is the lock.
  void configure(std::unique_lock<std::mutex> &held);
  size_t deviceCount() const { return devices_.size(); }
  /// Null if there is no such device.
  Device *device(CUdevice index);
  /// The device whose live memory contains all the bytes, or null.
  Device *deviceOf(CUdeviceptr address, size_t count);
  /// The pinned memory that contains some of the bytes, or null.
  std::shared_ptr<PinnedMemory> pinnedAt(const void *address, size_t count) const;

private:
  Driver();

  std::vector<std::unique_ptr<Device>> devices_;
};

} // namespace trainc::emulator
