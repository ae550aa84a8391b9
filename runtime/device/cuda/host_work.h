// What the host does among what runs on a GPU.
#pragma once

#include "runtime/device/cuda/disk_transfers.h"
#include "runtime/device/cuda/host_launches.h"

namespace trainc {

/// Functions of the host that steps have put on streams. What runs them needs this to live.
struct HostWork {
  DiskTransfers disk;
  HostLaunches launches;

  /// Forgets those that have run for the last time.
  void clear() {
    disk.clear();
    launches.clear();
  }
};

} // namespace trainc
