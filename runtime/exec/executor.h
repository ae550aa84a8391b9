// Runs the entries of one plan on one device.
#pragma once

#include "base/status.h"
#include "plan/schema/plan_generated.h"
#include "runtime/comm/communicator.h"
#include "runtime/device/device.h"
#include "runtime/exec/control_channel.h"
#include "runtime/exec/measurement.h"
#include "runtime/exec/plan_scalars.h"
#include "runtime/exec/replay.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace trainc {

/// The elements of a persistent tensor that a rank holds, from `first` on. `info` has its name, dtype, shape
/// and role. If the tensor is sharded, the rank holds a shard, which may be empty; otherwise it holds all
/// elements.
struct StateView {
  const fb::State *info;
  uint64_t first;
  DeviceSpan memory;
};

/// An entry's batch column.
struct InputView {
  const fb::Input *info;
  DeviceSpan memory; ///< row-major, exactly the bytes of the shape
};

/// Requirements of a rank's executor on its communicator.
struct CommunicatorNeeds {
  uint64_t bytes;    ///< memory to allocate on each rank
  uint32_t inFlight; ///< maximum number of collectives in flight
};
CommunicatorNeeds communicatorNeeds(const fb::Plan &plan);

struct ExecutorOptions {
  MeasureOptions measure{};
  /// This rank's communicator, made with communicatorNeeds(); must outlive the executor. Null for plans of
  /// one rank, and if nothing is run: the executor then represents rank 0.
  Communicator *communicator = nullptr;
  uint64_t planChecksum = 0; ///< PlanFile::checksum(), compared between ranks
};

/// A verified plan bound to a device: arenas allocated, kernels loaded, every instruction resolved to the
/// rank's addresses. run() does not allocate. Plan and device must outlive the executor.
class Executor {
public:
  /// `plan` must come from PlanFile, which verifies it. Fails if memory or CPU features are missing; with
  /// kInvalidInput if the number of ranks differs from the plan's or ranks run different plans. Collective:
  /// all ranks create their executors together.
  static Result<std::unique_ptr<Executor>> create(const fb::Plan &plan, Device &device,
                                                  ExecutorOptions options = {});

  const fb::Plan &plan() const { return plan_; }
  Device &device() { return device_; }
  const Device &device() const { return device_; }
  /// Connection to the other ranks.
  ControlChannel &control() { return control_; }
  uint32_t rank() const { return control_.rank(); }
  /// Whether an instruction has failed. The states may then belong to an incomplete step. The other ranks
  /// have been told, and every operation that needs all ranks will fail.
  bool broken() const { return broken_ || control_.broken(); }

  bool hasEntry(std::string_view entry) const { return findEntry(entry) != nullptr; }
  /// Runs an entry, which must exist, and waits for it. Fails like enqueue() and waitForCopies().
  Status run(std::string_view entry);
  /// Enqueues an entry, which must exist, after earlier work. Fails with kFailed if the plan needs several
  /// ranks and there is no communicator.
  Status enqueue(std::string_view entry);
  /// Waits for all enqueued work. Fails with kFailed, naming the instruction and its source op, if a
  /// collective cannot be completed. Disk copies may continue during the next entry (Device::enqueue()).
  Status synchronise();
  /// Like synchronise(), but also waits for disk copies; call it before the run pauses or ends.
  Status waitForCopies();
  /// Sets a callback that enqueue() calls once, before the next instruction that writes a parameter or an
  /// optimizer state. The callback waits for a checkpoint writer that still reads the states.
  void holdStateWrites(std::function<void()> callback) { beforeStateWrite_ = std::move(callback); }
  /// Runs an entry instruction by instruction and returns the first one, over all ranks, that wrote a
  /// non-finite number; all ranks get the same result. Fails like run().
  Result<std::optional<NonFinite>> replay(std::string_view entry);

  /// Copies to the device, after earlier work. `bytes` must stay unchanged until synchronise().
  void write(DeviceSpan memory, std::span<const std::byte> bytes) { device_.write(memory.address, bytes); }
  /// Waits for all enqueued work and copies to the host. Fails like synchronise().
  Status read(std::span<std::byte> bytes, DeviceSpan memory);

  /// The plan's scalars: numbers that the host reads, or sets for entries that are enqueued later.
  PlanScalars &scalars() { return scalars_; }
  /// Reads a scalar; returns `none` if the plan has none of this name. T must have the scalar's size. Fails
  /// like synchronise().
  template <typename T> Result<T> scalar(std::string_view name, T none) {
    T value = none;
    TRAINC_RETURN_IF_ERROR(scalars_.read(name, value) ? synchronise() : Status());
    return value;
  }

  /// All states, in plan order.
  std::span<const StateView> states() const { return states_; }
  /// Batch columns of an entry, in plan order; empty if there is no such entry.
  std::span<const InputView> inputs(std::string_view entry) const;
  /// The memory of a buffer of the plan, e.g. Generation.logits.
  DeviceSpan buffer(uint32_t index) const;

  /// Bytes that were allocated for the arenas on the device or, with several ranks, by the communicator.
  /// Equals the planned peak of the compile report.
  uint64_t peakBytes() const { return peakBytes_; }
  /// Communicator::seconds() or, if the communicator does not know them, the times of the training steps that
  /// a profile measures. Nothing for a single rank, or if neither is known. Call it only when nothing is in
  /// flight.
  std::optional<CommunicationSeconds> communicationSeconds();
  /// Bytes that this rank has sent in collectives so far; see Communicator::bytesSent().
  uint64_t sentBytes() const { return communicator_ ? communicator_->bytesSent() : 0; }
  /// Scope of training step `number` (from 1), which began at `begin` (in steadySeconds()), for measurements.
  class TrainingStep;
  TrainingStep trainingStep(uint64_t number, double begin);
  /// Measurements so far; nothing unless options.measure.profile is set.
  std::optional<Profile> profile() const { return measurement_ ? measurement_->profile() : std::nullopt; }
  /// Completes the trace of options.measure. Fails with kFailed if it could not be written.
  Status finishTrace() { return measurement_ ? measurement_->finishTrace() : Status(); }

private:
  struct BoundEntry {
    std::string_view name;
    std::vector<InputView> inputs;
    uint32_t firstStateWrite; ///< index of a step; see program.h
    std::unique_ptr<Executable> executable;
  };

  Executor(const fb::Plan &plan, Device &device, ControlChannel control, Communicator *communicator)
      : plan_(plan), device_(device), communicator_(communicator), control_(std::move(control)),
        scalars_(device) {}
  Status checkRanks() const;
  Status allocateArenas();
  std::string adviceOnMemory() const;
  uint64_t allocatedBytes() const;
  Status bindEntries();
  void bindInterface();
  StateView bindState(const fb::State &state) const;
  Status clearScratch();
  Status ended(Status status);
  const BoundEntry *findEntry(std::string_view entry) const;

  const fb::Plan &plan_;
  Device &device_;
  Communicator *communicator_;
  ControlChannel control_;
  bool broken_ = false;
  uint64_t peakBytes_ = 0;
  std::vector<DeviceAddress> buffers_;       ///< by buffer index
  std::unique_ptr<Measurement> measurement_; ///< null if nothing is measured; declared before its users
  std::vector<BoundEntry> entries_;
  std::vector<StateView> states_;
  PlanScalars scalars_;
  std::function<void()> beforeStateWrite_;
};

class Executor::TrainingStep {
public:
  TrainingStep(Device &device, Measurement *measurement, uint64_t number, double begin)
      : device_(device), measurement_(measurement), number_(number), begin_(begin) {
    device_.beginTrainingStep(number_);
    if (measurement_)
      measurement_->beginTrainingStep();
  }
  TrainingStep(const TrainingStep &) = delete;
  TrainingStep &operator=(const TrainingStep &) = delete;
  ~TrainingStep() {
    const TimeSpan step{begin_, steadySeconds()};
    if (measurement_ && measurement_->isLastTraced())
      (void)device_.waitForCopies(); // any later call of the device returns the error
    if (measurement_)
      measurement_->endTrainingStep(number_, step);
    device_.endTrainingStep();
  }

private:
  Device &device_;
  Measurement *measurement_;
  uint64_t number_;
  double begin_;
};

inline Executor::TrainingStep Executor::trainingStep(uint64_t number, double begin) {
  return {device_, measurement_.get(), number, begin};
}

} // namespace trainc
