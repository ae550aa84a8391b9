// Host functions between the work of a GPU stream.
#pragma once

#include "runtime/device/cuda/disk_transfers.h"
#include "runtime/device/cuda/host_launches.h"

namespace trainc {

/// Host functions that steps have enqueued. Streams and graphs that run them must not outlive this object.
struct HostWork {
  DiskTransfers disk;
  HostLaunches launches;

  /// Deletes the functions; none may run any more.
  void clear() {
    disk.clear();
    launches.clear();
  }
};

} // namespace trainc
