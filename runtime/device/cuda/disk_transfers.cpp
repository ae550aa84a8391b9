#include "runtime/device/cuda/disk_transfers.h"

#include <algorithm>

namespace trainc {

/// Runs on a driver thread, which must not call the driver. Skipped after an error, because the results are
/// lost anyway.
void DiskTransfers::run(void *transfer) {
  const Transfer &each = *static_cast<const Transfer *>(transfer);
  if (!each.fault.status().ok())
    return;
  each.fault.note(located(each.program, each.step,
                          each.toDisk ? each.arena.write(each.onDisk, each.memory)
                                      : each.arena.read(each.memory, each.onDisk)));
}

Status DiskTransfers::enqueueFile(const Transfer &transfer, CUstream stream) {
  return driver().cuLaunchHostFunc(stream, &DiskTransfers::run, &transfers_.emplace_back(transfer));
}

Status DiskTransfers::enqueue(const Program &program, const Step &step, const CopyStep &copy,
                              uint64_t iteration, CUstream stream) {
  const DeviceAddress source = copy.source.at(iteration), destination = copy.destination.at(iteration);
  DiskArena *written = arenas_.diskArenaOf(destination);
  const bool toDisk = written != nullptr;
  DiskArena &arena = toDisk ? *written : *arenas_.diskArenaOf(source);
  const DeviceAddress onDisk = toDisk ? destination : source, inMemory = toDisk ? source : destination;
  const auto transfer = [&](uint64_t offset, std::span<std::byte> memory) {
    return enqueueFile({fault_, program, step, arena, onDisk + offset, memory, toDisk}, stream);
  };
  if (arenas_.isOnHost(inMemory))
    return transfer(0, {inMemory.pointer(), copy.bytes});
  for (uint64_t done = 0; done < copy.bytes; done += stage_.size()) {
    const uint64_t bytes = std::min(copy.bytes - done, stage_.size());
    const CUdeviceptr device = inMemory.value() + done;
    if (toDisk)
      TRAINC_RETURN_IF_ERROR(driver().cuMemcpyDtoHAsync(stage_.data(), device, bytes, stream));
    TRAINC_RETURN_IF_ERROR(transfer(done, {stage_.data(), bytes}));
    if (!toDisk)
      TRAINC_RETURN_IF_ERROR(driver().cuMemcpyHtoDAsync(device, stage_.data(), bytes, stream));
  }
  return {};
}

} // namespace trainc
