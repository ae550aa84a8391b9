// Runs an entry's steps on the CPU.
#pragma once

#include "runtime/device/cpu/step_times.h"
#include "runtime/device/device.h"

#include <unordered_map>
#include <vector>

namespace trainc {

class CpuDevice;

/// An entry for the CPU. Its steps run in their order: those of the compute stream at once, collectives in
/// the communicator's thread and a disk's copies in the device's, until a step that comes after them, or the
/// end. Outlasting copies (runtime/plan/outlasting.h) go on, until a step of the next entry that needs their
/// memory, or its end.
class Interpreter final : public Executable {
public:
  Interpreter(Program program, CpuDevice &device, Communicator *communicator, StepObserver *observer);
  ~Interpreter() override;

  /// Fails (kFailed), with the instruction's place and source, when a collective or a disk's copy cannot be
  /// completed.
  Status run(StepRange steps);
  /// Runs one step and waits for it. Fails as run() does.
  Status runAlone(uint32_t index, uint64_t iteration);
  /// Waits for the outlasting copies of its last run, and tells when they ran. Fails as run() does.
  Status endOutlasting();

private:
  /// Before `step` of an entry begins, `copy` of the one before it has ended: both are numbers of steps.
  struct OutlastingStep {
    uint32_t step, copy;
  };

  const std::vector<OutlastingStep> &waitsBehind(const Interpreter &before);
  Status waitForBefore(uint32_t index);
  void passOn();
  Status endBefore();
  Status issueAll(StepRange steps);
  Status issue(uint32_t index, uint64_t iteration);
  Status waitForOthers(const Step &step);
  Status waitFor(uint32_t other);
  Status waitForEnd(bool leavesCopies);
  void start(uint32_t index, const CollectiveStep &collective);
  void start(uint32_t index, const CopyStep &copy, uint64_t iteration);
  void compute(const Step &step, uint64_t iteration);
  /// Arguments of a launch or a library call in an iteration.
  void *const *argsOf(uint32_t begin, uint32_t count, uint64_t iteration);

  static constexpr uint32_t kNone = ~uint32_t{0};

  CpuDevice &device_;
  Communicator *communicator_;
  StepTimes times_;
  std::vector<void *> args_;      ///< of all steps; those that move are set in each iteration
  std::vector<uint64_t> tickets_; ///< by step: of the collective, or copy, that it started last
  uint32_t lastCollective_ = kNone, lastCopy_ = kNone; ///< the steps that started one last
  Ticket done_ = 0;                                    ///< all collectives before it have been waited for

  std::vector<uint32_t> outlasting_; ///< steps
  uint32_t lastWithin_ = kNone;      ///< the last step with a disk's copy that does not outlast the entry
  uint64_t outlastingEnd_ = 0;       ///< ticket of the last copy that outlasted a run
  Interpreter *before_ = nullptr;    ///< the entry whose copies may still run
  const std::vector<OutlastingStep> *waits_ = nullptr; ///< for those
  size_t nextWait_ = 0;
  std::unordered_map<const fb::Entry *, std::vector<OutlastingStep>>
      waitsBehind_; ///< of entries that were before this one
};

} // namespace trainc
