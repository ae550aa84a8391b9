// Interface of the executor to a machine: memory, and execution of the plan's entries. Implementations: cpu/
// (thread pool, generated kernels), cuda/ (NVIDIA GPUs), emulated/ (asynchronous, for tests) and null/ (dry
// run).
#pragma once

#include "base/clock.h"
#include "base/device_address.h"
#include "base/status.h"
#include "plan/schema/plan_generated.h"
#include "runtime/device/program.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace trainc {

class Communicator;

/// Callback for every step that a device has run, in order, with its time span.
class StepObserver {
public:
  virtual ~StepObserver() = default;
  /// Whether the observer wants the steps that come next. Steps without an observer run faster.
  virtual bool isListening() const = 0;
  virtual void onStep(const Step &step, TimeSpan span) = 0;
  /// The compute stream waited during `span` for `waitedFor`, a collective or a disk copy.
  virtual void onWait(const Step &waitedFor, TimeSpan span) = 0;
  /// For devices that compute in host threads: the span from a thread's first to its last tile of the step
  /// last passed to onStep().
  virtual void onThread(const Step & /*step*/, unsigned /*thread*/, TimeSpan /*span*/) {}
};

/// Peak rates of a device, per second; 0 if unknown.
struct DeviceRates {
  double copiedBytes = 0;             ///< bytes read and written by a large copy; measured
  double memoryBytes = 0;             ///< memory bandwidth computed from clock and bus width
  double f32Flops = 0, tf32Flops = 0; ///< of products of f32 numbers, and of f32 rounded to TF32
  double halfFlops = 0;               ///< of bf16 or f16 products with f32 accumulation
  double f8Flops = 0;                 ///< of fp8 products with f32 accumulation; 0 if the device has none
  std::string flopsSource;            ///< origin of the FLOP rates, for people

  /// Best known memory bandwidth.
  double bytesPerSecond() const { return copiedBytes > 0 ? copiedBytes : memoryBytes; }
};

/// An entry prepared for one device, for example as a graph.
class Executable {
public:
  explicit Executable(Program program) : program_(std::move(program)) {}
  virtual ~Executable() = default;
  const Program &program() const { return program_; }

private:
  Program program_;
};

/// Steps [begin, end) of a program; a loop is included as a whole or not at all.
struct StepRange {
  uint32_t begin, end;
};

/// Scratch memory beside arenas for the blocks of kernels that run concurrently.
struct BlockMemory {
  uint64_t blocks = 0;
  uint64_t bytes = 0; ///< size of each block

  uint64_t together() const { return blocks * bytes; }
};

/// Memory of a device with memory of its own, including what other processes use.
struct DeviceMemoryUse {
  uint64_t total = 0;       ///< 0 if the device uses the memory of the process
  uint64_t freeAtStart = 0; ///< before anything was loaded or allocated
  uint64_t arenas = 0;
  /// Bytes taken since the start beside arenas, by consumer.
  uint64_t kernels = 0, libraries = 0, others = 0;

  uint64_t beforeStart() const { return total - freeAtStart; }
  uint64_t besides() const { return kernels + libraries + others; }
};

/// One device. Enqueued work runs in order, possibly later, and is done after synchronise(). Addresses, sizes
/// and kernel indices come from a verified plan: enqueue(), write() and read() validate nothing. Not
/// thread-safe except where stated: one thread drives a device.
class Device {
public:
  virtual ~Device() = default;

  /// Description for messages, e.g. "cpu (x86-64-v4, 2 threads)".
  virtual std::string description() const = 0;

  /// Properties beside the plan on which the bits of results depend, known after loadKernels(), e.g.
  /// "avx512_bf16": instructions with a summation order of their own. Empty if there are none.
  virtual std::string arithmetic() const = 0;

  /// Measures the device's rates; takes a moment and some memory. Rates that could not be measured for lack
  /// of memory stay 0.
  virtual Result<DeviceRates> measureRates() = 0;

  /// FLOP rate of bf16 and f16 products according to the vendor's data sheet; 0 if unknown.
  virtual double halfFlopsOnSheet() const { return 0; }

  /// Allocates `bytes` of zeroed memory in a space, aligned to kArenaAlignment. It lives as long as the
  /// device and, if there is a communicator, as long as the communicator: peers may then access device
  /// memory. Fails with kFailed if there is not enough memory, with kInvalidInput if the device has no such
  /// space.
  virtual Result<DeviceAddress> allocate(std::string_view name, fb::Space space, uint64_t bytes,
                                         Communicator *communicator) = 0;
  /// Allocates device memory that entries write before they read. A device may be configured to leave the
  /// memory uninitialised, so that tools find reads of unwritten bytes.
  virtual Result<DeviceAddress> allocateScratch(std::string_view name, uint64_t bytes,
                                                Communicator *communicator) {
    return allocate(name, fb::Space::Device, bytes, communicator);
  }
  /// Bytes of all arenas that the device allocated in memory, excluding those of a communicator.
  virtual uint64_t allocatedBytes() const = 0;
  /// Valid after loadKernels(); empty if blocks use the processor's own memory.
  virtual BlockMemory blockMemory() const = 0;
  /// May be called at any time; fails if the device has failed.
  virtual Result<DeviceMemoryUse> memoryUse() const { return DeviceMemoryUse(); }

  /// Sets the folder of later disk arenas; empty: the folder for temporary files.
  void keepDiskArenasIn(std::filesystem::path folder) { diskFolder_ = std::move(folder); }

  /// Loads the plan's kernels, which entries refer to by index. Fails with kInvalidInput if the machine lacks
  /// features that every object of the plan needs, or if a kernel is missing.
  virtual Status loadKernels(const fb::Plan &plan) = 0;

  /// Prepares an entry for execution. `communicator` may be null if there are no collectives; `observer` may
  /// be null. Both must outlive the result.
  virtual Result<std::unique_ptr<Executable>> prepare(Program program, Communicator *communicator,
                                                      StepObserver *observer) = 0;

  /// Marks the begin of training step `number` for the vendor's profilers.
  virtual void beginTrainingStep(uint64_t) {}
  virtual void endTrainingStep() {}

  /// Enqueues steps of a prepared entry. All streams begin together, and all steps are done before work that
  /// is enqueued later, except for outlasting copies (plan/facts/outlasting.h): the device waits for these
  /// only when their memory or their result is needed.
  virtual void enqueue(Executable &executable, StepRange steps) = 0;
  /// Runs one step in one iteration of its block, and waits for it. Fails like synchronise().
  virtual Status runStep(Executable &executable, uint32_t step, uint64_t iteration) = 0;

  /// Copies from the host. `source` must stay unchanged until synchronise().
  virtual void write(DeviceAddress destination, std::span<const std::byte> source) = 0;
  /// Copies to the host; the bytes have arrived after synchronise().
  virtual void read(std::span<std::byte> destination, DeviceAddress source) = 0;

  /// Waits until all enqueued work is done. Fails with kFailed, naming the instruction and its source op, if
  /// a collective could not be completed; no later work has run or will run. Outlasting copies may still be
  /// in flight.
  virtual Status synchronise() = 0;
  /// Like synchronise(), and also waits for outlasting copies.
  virtual Status waitForCopies() { return synchronise(); }

  /// Copies to the host at once, concurrently with running work, which must not write to `source`. Fails with
  /// kFailed if the copy does. Thread-safe.
  virtual Status readBeside(std::span<std::byte> destination, DeviceAddress source) = 0;
  /// Copies from the host at once, concurrently with running work, which must not access `destination`. Fails
  /// like readBeside(). Thread-safe.
  virtual Status writeBeside(DeviceAddress destination, std::span<const std::byte> source) = 0;
  /// The bytes themselves if the host can access them; else empty.
  virtual std::span<std::byte> hostView(DeviceSpan span) = 0;

  /// Sets a callback that long operations call from time to time, from any thread. The callback must not call
  /// the device.
  virtual void onProgress(std::function<void()> callback) = 0;

protected:
  const std::filesystem::path &diskFolder() const { return diskFolder_; }

private:
  std::filesystem::path diskFolder_;
};

} // namespace trainc
