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

/// Interprets entries: each step of the compute stream is done when it returns, collectives run beside them
/// in the communicator's thread. Addresses are the host's. The bits of results do not depend on the number of
/// threads: tiles are fixed by the plan, and each is computed by one thread.
class CpuDevice final : public Device {
public:
  /// `threads` 0: availableCpus(). Create it before other threads start.
  explicit CpuDevice(unsigned threads = 0);

  unsigned threads() const { return pool_.threads(); }
  /// The instruction-set level of the kernels in use; empty before loadKernels() and for a plan without
  /// kernels.
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
  Status settle() override;
  Status readBeside(std::span<std::byte> destination, DeviceAddress source) override;
  Status writeBeside(DeviceAddress destination, std::span<const std::byte> source) override;
  std::span<std::byte> hostView(DeviceSpan span) override;
  void onProgress(std::function<void()> callback) override { onProgress_ = std::move(callback); }

  /// Runs tiles [0, grid) of a kernel, each thread with memory of its own for its blocks.
  void launch(uint32_t kernel, void *const *args, uint64_t grid);
  /// Runs a library call whose operands are `args`.
  void call(const fb::Instruction &call, void *const *args);
  /// Copies between ranges of memory that do not overlap.
  void copy(std::byte *destination, const std::byte *source, uint64_t bytes);
  /// Starts a copy of which one side is on disk, behind those that were started before. `of`, `ran`: see
  /// DiskStream.
  DiskStream::Number startOnDisk(DeviceAddress destination, DeviceAddress source, uint64_t bytes,
                                 StepPlace of, TimeSpan *ran);
  /// Waits for it. Fails (kFailed) when it, or one before, did.
  Status waitForDisk(DiskStream::Number number) { return diskStream_.wait(number, onProgress_); }
  /// The entry whose outlasting copies may still run, if there is one. Who asks sees to them.
  Interpreter *takeOutlasting() { return std::exchange(outlasting_, nullptr); }
  /// The entry has ended, except for its outlasting copies.
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
  DiskStream diskStream_; ///< behind what it uses
  Interpreter *outlasting_ = nullptr;
  std::function<void()> onProgress_;
  Status status_; ///< of all that was enqueued
};

} // namespace trainc
