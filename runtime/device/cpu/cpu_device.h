// The CPU as a device: own threads, generated kernels.
#pragma once

#include "runtime/device/cpu/disk_stream.h"
#include "runtime/device/cpu/kernel_runner.h"
#include "runtime/device/device.h"
#include "runtime/device/disk_arena.h"

#include <deque>
#include <utility>
#include <vector>

namespace trainc {

class Interpreter;

/// Interprets entries: a step of the compute stream is done when its call returns; collectives run
/// concurrently in the communicator's thread. Addresses are host addresses. The bits of results do not depend
/// on the number of threads, because the plan fixes the tiles and one thread computes each.
class CpuDevice final : public Device {
public:
  /// `threads` 0 means availableCpus(). Create the device before other threads start.
  explicit CpuDevice(unsigned threads = 0);

  unsigned threads() const { return pool_.threads(); }
  /// Instruction-set level of the kernels in use; empty before loadKernels() and for a plan without kernels.
  const std::string &level() const { return runner_.kernels().level(); }

  std::string description() const override;
  std::string arithmetic() const override { return runner_.kernels().arithmetic(); }
  Result<DeviceRates> measureRates() override;
  Result<DeviceAddress> allocate(std::string_view name, fb::Space space, uint64_t bytes,
                                 Communicator *communicator) override;
  uint64_t allocatedBytes() const override { return bytesOf(arenas_); }
  BlockMemory blockMemory() const override { return {pool_.threads(), runner_.blockBytes()}; }
  Status loadKernels(const fb::Plan &plan) override;
  Result<std::unique_ptr<Executable>> prepare(Program program, Communicator *communicator,
                                              StepObserver *observer) override;
  void enqueue(Executable &executable, StepRange steps) override;
  Status runStep(Executable &executable, uint32_t step, uint64_t iteration) override;
  void write(DeviceAddress destination, std::span<const std::byte> source) override;
  void read(std::span<std::byte> destination, DeviceAddress source) override;
  Status synchronise() override { return status_; }
  Status waitForCopies() override;
  Status readBeside(std::span<std::byte> destination, DeviceAddress source) override;
  Status writeBeside(DeviceAddress destination, std::span<const std::byte> source) override;
  std::span<std::byte> hostView(DeviceSpan span) override;
  void onProgress(std::function<void()> callback) override { onProgress_ = std::move(callback); }

  /// Runs tiles [0, grid) of a kernel; each thread has scratch memory of its own.
  void launch(uint32_t kernel, void *const *args, uint64_t grid);
  /// Runs a library call on the operands `args`.
  void call(const fb::Instruction &call, void *const *args);
  /// Copies between memory ranges that do not overlap.
  void copy(std::byte *destination, const std::byte *source, uint64_t bytes);
  /// Starts a copy to or from disk; copies run in start order. `of`, `ran`: see DiskStream::Transfer.
  DiskStream::Number startOnDisk(DeviceAddress destination, DeviceAddress source, uint64_t bytes,
                                 StepPlace of, TimeSpan *ran);
  /// Waits for a disk copy. Fails with kFailed if this copy or an earlier one failed.
  Status waitForDisk(DiskStream::Number number) { return diskStream_.wait(number, onProgress_); }
  /// Returns the entry whose outlasting copies may still be in flight, and forgets it. From then on the
  /// caller must wait for these copies.
  Interpreter *takeOutlasting() { return std::exchange(outlasting_, nullptr); }
  /// Records that `entry` has ended except for its outlasting copies.
  void leaveOutlasting(Interpreter &entry) { outlasting_ = &entry; }
  void zero(std::byte *destination, uint64_t bytes);
  /// See ThreadPool::watch().
  void watchThreads(std::span<TimeSpan> spans) { pool_.watch(spans); }

private:
  DiskArena *diskArenaOf(DeviceAddress address);

  ThreadPool pool_;
  KernelRunner runner_;
  std::vector<ArenaMapping> arenas_;
  std::deque<DiskArena> diskArenas_;
  DiskStream diskStream_; ///< declared after the members it uses
  Interpreter *outlasting_ = nullptr;
  std::function<void()> onProgress_;
  Status status_; ///< first error of the enqueued work
};

} // namespace trainc
