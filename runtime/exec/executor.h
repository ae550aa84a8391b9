// Runs the entries of one plan on one device.
#pragma once

#include "runtime/base/status.h"
#include "runtime/comm/communicator.h"
#include "runtime/device/device.h"
#include "runtime/exec/control_channel.h"
#include "runtime/exec/measurement.h"
#include "runtime/exec/replay.h"
#include "runtime/schema/plan_generated.h"

#include <array>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace trainc {

/// What a rank holds of a persistent tensor, whose name, dtype, shape and role are in `info`: its elements
/// from `first` on. All of them, unless `info` is divided; then perhaps none.
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

/// What a communicator must have for the executor of a rank.
struct CommunicatorNeeds {
  uint64_t bytes;    ///< to allocate, on each rank
  uint32_t inFlight; ///< collectives
};
CommunicatorNeeds communicatorNeeds(const fb::Plan &plan);

struct ExecutorOptions {
  MeasureOptions measure{};
  /// This rank among the plan's ranks, with communicatorNeeds(); must outlive the executor. Null for plans
  /// of one rank, and where nothing is run: the executor then stands for rank 0.
  Communicator *communicator = nullptr;
  uint64_t planChecksum = 0; ///< PlanFile::checksum(), which ranks compare
};

/// A verified plan bound to a device: arenas allocated, kernels loaded, every instruction resolved to the
/// rank's addresses. run() allocates nothing. Plan and device must outlive the executor.
class Executor {
public:
  /// `plan` must come from PlanFile (verified). Fails when memory or CPU features are missing, when there are
  /// not as many ranks as the plan is for, or when they run different plans (kInvalidInput). All ranks must
  /// create their executors together.
  static Result<std::unique_ptr<Executor>> create(const fb::Plan &plan, Device &device,
                                                  ExecutorOptions options = {});

  const fb::Plan &plan() const { return plan_; }
  Device &device() { return device_; }
  const Device &device() const { return device_; }
  /// The other ranks.
  ControlChannel &control() { return control_; }
  uint32_t rank() const { return control_.rank(); }
  /// Whether an instruction has failed: the states may be those of a step half done. Peers have been told,
  /// and nothing that needs all ranks will succeed.
  bool broken() const { return broken_ || control_.broken(); }

  bool hasEntry(std::string_view entry) const { return findEntry(entry) != nullptr; }
  /// Runs an entry that the plan has and waits for all of it. Fails as enqueue() and settle() do.
  Status run(std::string_view entry);
  /// Lets the device run an entry that the plan has, behind what was enqueued before. Fails (kFailed) when
  /// the plan needs more ranks than this one.
  Status enqueue(std::string_view entry);
  /// Waits for all that was enqueued. Fails (kFailed), naming instruction and source op, when a collective
  /// cannot be completed. Copies to disk may go on beside the next entry (Device::enqueue()).
  Status synchronise();
  /// Waits for those, too: before nothing more is run. Fails as synchronise() does.
  Status settle();
  /// Sets what enqueue() calls once, before the next instruction that changes a parameter or an optimizer
  /// state: waiting for a checkpoint writer that reads them.
  void holdStateWrites(std::function<void()> callback) { beforeStateWrite_ = std::move(callback); }
  /// Runs an entry instruction by instruction and tells the first of all ranks' that wrote a number that is
  /// not finite; all ranks get the same answer. Fails as run() does.
  Result<std::optional<NonFinite>> replay(std::string_view entry);

  /// Copies to the device, behind what was enqueued before. `bytes` must stay as they are until
  /// synchronise().
  void write(DeviceSpan memory, std::span<const std::byte> bytes) { device_.write(memory.address, bytes); }
  /// Waits for all that was enqueued, and copies to the host. Fails as synchronise() does.
  Status read(std::span<std::byte> bytes, DeviceSpan memory);

  /// Sets a scalar for the entries that are enqueued later; false when the plan has none of this name. T must
  /// be of the scalar's size.
  template <typename T> bool setScalar(std::string_view name, T value) {
    const std::optional<DeviceAddress> address = scalarAddress(name, sizeof(T));
    if (address) {
      ScalarBytes &staged = stagedScalars_.emplace_back();
      std::memcpy(staged.data(), &value, sizeof(T));
      device_.write(*address, std::span(staged).first(sizeof(T)));
    }
    return address.has_value();
  }
  /// Reads a scalar; `none` when the plan has none of this name. T must be of the scalar's size. Fails as
  /// synchronise() does.
  template <typename T> Result<T> scalar(std::string_view name, T none) {
    T value = none;
    TRAINC_RETURN_IF_ERROR(readScalar(name, value) ? synchronise() : Status());
    return value;
  }
  /// Copies a scalar to `value`, which must stay until synchronise() and holds it then; false, and nothing is
  /// copied, when the plan has none of this name. T must be of the scalar's size.
  template <typename T> bool readScalar(std::string_view name, T &value) {
    const std::optional<DeviceAddress> address = scalarAddress(name, sizeof(T));
    if (address)
      device_.read(std::as_writable_bytes(std::span(&value, 1)), *address);
    return address.has_value();
  }

  /// All states, in the plan's order.
  std::span<const StateView> states() const { return states_; }
  /// The columns of an entry, in the plan's order; empty when there is no such entry.
  std::span<const InputView> inputs(std::string_view entry) const;
  /// Any buffer of the plan, e.g. Generation.logits.
  DeviceSpan buffer(uint32_t index) const;

  /// By how many bytes the device's memory, or with peers the communicator's, has grown for the arenas;
  /// equals the compile report's peak.
  uint64_t peakBytes() const { return peakBytes_; }
  /// peakBytes() by fb::Role; see memory_by_role.h.
  std::array<uint64_t, 7> bytesByRole() const;
  /// Communicator::seconds(), or where it does not know, those of training steps that a profile measures; to
  /// be called when nothing is under way. Nothing of one rank, or if neither knows.
  std::optional<CommunicationSeconds> communicationSeconds();
  /// Bytes that this rank has sent in collectives so far; see Communicator::bytesSent().
  uint64_t sentBytes() const { return communicator_ ? communicator_->bytesSent() : 0; }
  /// While what it returns lives, training step `number` (from 1) runs, for those who
  /// measure: since `begin`,
  /// in seconds of steadySeconds().
  class TrainingStep;
  TrainingStep trainingStep(uint64_t number, double begin);
  /// What was measured so far; nothing unless options.measure.profile was set.
  std::optional<Profile> profile() const { return measurement_ ? measurement_->profile() : std::nullopt; }
  /// Completes the trace that options.measure asked for. Fails (kFailed) when it could not be written.
  Status finishTrace() { return measurement_ ? measurement_->finishTrace() : Status(); }

private:
  using ScalarBytes = std::array<std::byte, 8>;
  struct Scalar {
    std::string_view name;
    DeviceAddress address;
    uint64_t bytes;
  };
  struct BoundEntry {
    std::string_view name;
    std::vector<InputView> inputs;
    uint32_t firstStateWrite; ///< index of a step; see program.h
    std::unique_ptr<Executable> executable;
  };

  Executor(const fb::Plan &plan, Device &device, ControlChannel control, Communicator *communicator)
      : plan_(plan), device_(device), communicator_(communicator), control_(std::move(control)) {}
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
  std::optional<DeviceAddress> scalarAddress(std::string_view name, size_t bytes) const;

  const fb::Plan &plan_;
  Device &device_;
  Communicator *communicator_;
  ControlChannel control_;
  bool broken_ = false;
  uint64_t peakBytes_ = 0;
  std::vector<DeviceAddress> buffers_;       ///< by index
  std::unique_ptr<Measurement> measurement_; ///< null: nothing is measured; before what is told to it
  std::vector<BoundEntry> entries_;
  std::vector<StateView> states_;
  std::vector<Scalar> scalars_;
  std::deque<ScalarBytes> stagedScalars_; ///< on their way to the device
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
      (void)device_.settle(); // what fails, fails whoever asks the device next
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
