// What the executor needs of a machine: memory, and something that runs the plan's entries. Implementations:
// cpu/ (thread pool, generated kernels), cuda/ (GPUs of NVIDIA's), emulated/ (asynchronous, for tests) and
// null/ (dry run).
#pragma once

#include "runtime/base/clock.h"
#include "runtime/base/device_address.h"
#include "runtime/base/status.h"
#include "runtime/device/program.h"
#include "runtime/schema/plan_generated.h"

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

/// Is told of each step that a device has run, in their order, and when it ran.
class StepObserver {
public:
  virtual ~StepObserver() = default;
  /// Whether it wants to be told of the steps that come next. Those of which nobody is told run faster.
  virtual bool isListening() const = 0;
  virtual void onStep(const Step &step, TimeSpan span) = 0;
  /// `waitedFor` is a collective or a disk's copy that the next step of the compute stream comes after.
  virtual void onWait(const Step &waitedFor, TimeSpan span) = 0;
  /// Of a device that computes in threads of the host: from its first to its last part of the `step`, which
  /// was the last that onStep() told of.
  virtual void onThread(const Step & /*step*/, unsigned /*thread*/, TimeSpan /*span*/) {}
};

/// What a device can do at most in a second; 0 where it is not known.
struct DeviceRates {
  double copiedBytes = 0;             ///< that a large copy reads and writes: measured
  double memoryBytes = 0;             ///< by the clock and the width of its memory
  double f32Flops = 0, tf32Flops = 0; ///< of products of f32 numbers, and of those rounded to TF32
  double halfFlops = 0;               ///< of products of bf16 or f16 numbers with sums in f32
  double f8Flops = 0;                 ///< of fp8 numbers, likewise; 0 where a device has no such products
  std::string flopsSource;            ///< where those come from, for people

  /// The best that is known of memory.
  double bytesPerSecond() const { return copiedBytes > 0 ? copiedBytes : memoryBytes; }
};

/// An entry in the form in which a device runs it, such as a graph.
class Executable {
public:
  explicit Executable(Program program) : program_(std::move(program)) {}
  virtual ~Executable() = default;
  const Program &program() const { return program_; }

private:
  Program program_;
};

/// Steps [begin, end) of a program: all of a loop or none.
struct StepRange {
  uint32_t begin, end;
};

/// Memory that a device has beside arenas for the blocks of kernels that run at the same time.
struct BlockMemory {
  uint64_t blocks = 0;
  uint64_t bytes = 0; ///< of each

  uint64_t together() const { return blocks * bytes; }
};

/// Memory of a device that is not the process's. Other processes may have some.
struct DeviceMemoryUse {
  uint64_t total = 0;       ///< 0: it is the process's
  uint64_t freeAtStart = 0; ///< before anything was loaded or allocated
  uint64_t arenas = 0;
  /// What has been taken besides since the start, by what took it.
  uint64_t kernels = 0, libraries = 0, others = 0;

  uint64_t beforeStart() const { return total - freeAtStart; }
  uint64_t besides() const { return kernels + libraries + others; }
};

/// One device. What is enqueued runs in the order in which it was, perhaps later, and is done after
/// synchronise(). Addresses, sizes and kernel indices come from a verified plan: enqueue(), write() and
/// read() check nothing. Not thread-safe, except for what is said to be for any
/// thread: one thread drives a device.
class Device {
public:
  virtual ~Device() = default;

  /// For messages, e.g. "cpu (x86-64-v4, 2 threads)".
  virtual std::string description() const = 0;

  /// What bits of results depend on beside the plan, since loadKernels(), e.g. "avx512_bf16": instructions
  /// that sum in an order of their own. Empty where they depend on nothing.
  virtual std::string arithmetic() const = 0;

  /// Measures what it can do, which takes a moment and memory meanwhile; without the memory it says less.
  virtual Result<DeviceRates> measureRates() = 0;

  /// Of products of bf16 and f16 numbers, as the vendor's data sheet has it; 0 where none is known.
  virtual double halfFlopsOnSheet() const { return 0; }

  /// Allocates `bytes` of zeroed memory in a space, from a multiple of kArenaAlignment on, that lives as long
  /// as the device and, where there is a communicator, as long as that: then peers can reach device memory.
  /// Fails (kFailed) when there is no such amount of it, (kInvalidInput) when the device has no such space.
  virtual Result<DeviceAddress> allocate(std::string_view name, fb::Space space, uint64_t bytes,
                                         Communicator *communicator) = 0;
  /// The same in device memory, for what entries write before they read it. A device may be asked to leave it
  /// as it is, so that tools find reads of what nobody wrote.
  virtual Result<DeviceAddress> allocateScratch(std::string_view name, uint64_t bytes,
                                                Communicator *communicator) {
    return allocate(name, fb::Space::Device, bytes, communicator);
  }
  /// Bytes of all arenas that it has allocated in memory, without what a communicator gave.
  virtual uint64_t allocatedBytes() const = 0;
  /// Since loadKernels(); none where blocks have memory of the processor's own.
  virtual BlockMemory blockMemory() const = 0;
  /// For any moment; fails where the device has failed.
  virtual Result<DeviceMemoryUse> memoryUse() const { return DeviceMemoryUse(); }

  /// Where arenas on disk are made from now on; empty: in the folder for temporary files.
  void keepDiskArenasIn(std::filesystem::path folder) { diskFolder_ = std::move(folder); }

  /// Loads the plan's kernels, which entries then name by their indices. Fails (kInvalidInput) when the
  /// machine lacks features that every object of the plan needs, or when a kernel is missing.
  virtual Status loadKernels(const fb::Plan &plan) = 0;

  /// Makes what runs an entry. `communicator` may be null where there are no collectives; it and `observer`,
  /// which may be null, must outlive what is returned.
  virtual Result<std::unique_ptr<Executable>> prepare(Program program, Communicator *communicator,
                                                      StepObserver *observer) = 0;

  /// A training step begins, the `number`-th: for profilers of the vendor's.
  virtual void beginTrainingStep(uint64_t) {}
  virtual void endTrainingStep() {}

  /// Runs steps of what prepare() made. Streams begin together, and all steps are done before what is
  /// enqueued next, except for outlasting copies (runtime/plan/outlasting.h): of those a device may wait
  /// later, when something needs their memory or what they bring.
  virtual void enqueue(Executable &executable, StepRange steps) = 0;
  /// Runs one step in one iteration of its block, and waits for it. Fails as synchronise() does.
  virtual Status runStep(Executable &executable, uint32_t step, uint64_t iteration) = 0;

  /// Copies from the host. `source` must stay as it is until synchronise().
  virtual void write(DeviceAddress destination, std::span<const std::byte> source) = 0;
  /// Copies to the host, where it is after synchronise().
  virtual void read(std::span<std::byte> destination, DeviceAddress source) = 0;

  /// Waits until all that was enqueued is done. Fails (kFailed), with the instruction's place and source,
  /// when a collective could not be completed; nothing after it has run, and nothing more will.
  /// Outlasting copies may go on.
  virtual Status synchronise() = 0;
  /// Waits for them, too. Fails as synchronise() does.
  virtual Status settle() { return synchronise(); }

  /// Copies to the host at once, beside what runs meanwhile, which must not write there. Fails (kFailed) when
  /// the copy does. For any thread.
  virtual Status readBeside(std::span<std::byte> destination, DeviceAddress source) = 0;
  /// Copies from the host at once, beside what runs meanwhile, which must not use it. Fails as readBeside()
  /// does. For any thread.
  virtual Status writeBeside(DeviceAddress destination, std::span<const std::byte> source) = 0;
  /// The bytes themselves, where the host can reach them; else empty.
  virtual std::span<std::byte> hostView(DeviceSpan span) = 0;

  /// Sets what operations that take long call now and then, from any thread; nothing may be called.
  virtual void onProgress(std::function<void()> callback) = 0;

protected:
  const std::filesystem::path &diskFolder() const { return diskFolder_; }

private:
  std::filesystem::path diskFolder_;
};

} // namespace trainc
