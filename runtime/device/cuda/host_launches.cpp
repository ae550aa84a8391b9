#include "runtime/device/cuda/host_launches.h"

namespace trainc {

/// Runs on a driver thread, which must not call the driver. Skipped after an error, because the results are
/// lost anyway.
void HostLaunches::run(void *launch) {
  const Launch &each = *static_cast<const Launch *>(launch);
  if (each.fault.status().ok())
    each.kernels.launch(each.kernel, each.args.data(), each.grid);
}

Status HostLaunches::enqueue(const HostKernels &kernels, const LaunchStep &launch,
                             std::span<const DeviceAddress> args, CUstream stream) {
  Launch made{kernels, fault_, launch.kernel, launch.grid, {}};
  for (const DeviceAddress &address : args)
    made.args.push_back(address.pointer());
  return driver().cuLaunchHostFunc(stream, &HostLaunches::run, &launches_.emplace_back(std::move(made)));
}

} // namespace trainc
