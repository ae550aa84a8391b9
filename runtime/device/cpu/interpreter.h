// Runs an entry's steps on the CPU.
#pragma once

#include "runtime/device/cpu/step_times.h"
#include "runtime/device/device.h"

#include <unordered_map>
#include <vector>

namespace trainc {

class CpuDevice;

/// An entry on the CPU. Steps run in order. Steps of the compute stream run synchronously; collectives run in
/// the communicator's thread and disk copies in the device's, until a dependent step or the end of the entry.
/// Outlasting copies (plan/facts/outlasting.h) continue until a step of the next entry needs their memory,
/// or until its end.
class Interpreter final : public Executable {
public:
  Interpreter(Program program, CpuDevice &device, Communicator *communicator, StepObserver *observer);
  ~Interpreter() override;

  /// Fails with kFailed, naming the instruction and its source op, if a collective or a disk copy cannot be
  /// completed.
  Status run(StepRange steps);
  /// Runs one step and waits for it. Fails like run().
  Status runAlone(uint32_t index, uint64_t iteration);
  /// Waits for the outlasting copies of the last run and reports their times. Fails like run().
  Status endOutlasting();

private:
  /// `copy`, a step of the previous entry, must have ended before `step` of this entry begins.
  struct OutlastingStep {
    uint32_t step, copy;
  };

  const std::vector<OutlastingStep> &waitsForPrevious(const Interpreter &before);
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
  /// Arguments of a launch or a library call in one iteration.
  void *const *argsOf(uint32_t begin, uint32_t count, uint64_t iteration);

  static constexpr uint32_t kNone = ~uint32_t{0};

  CpuDevice &device_;
  Communicator *communicator_;
  StepTimes times_;
  std::vector<void *> args_;      ///< of all steps; arguments with a stride are updated in each iteration
  std::vector<uint64_t> tickets_; ///< by step: ticket of the last collective or copy that it started
  uint32_t lastCollective_ = kNone, lastCopy_ = kNone; ///< steps that started the last of each
  Ticket done_ = 0;                                    ///< all earlier collectives were waited for

  std::vector<uint32_t> outlasting_; ///< indices of steps with outlasting copies
  uint32_t lastWithin_ = kNone;      ///< last step with a disk copy that does not outlast the entry
  uint64_t outlastingEnd_ = 0;       ///< ticket of the last outlasting copy of the last run
  Interpreter *before_ = nullptr;    ///< previous entry, whose copies may still be in flight
  const std::vector<OutlastingStep> *waits_ = nullptr; ///< waits of this entry for copies of `before_`
  size_t nextWait_ = 0;
  std::unordered_map<const fb::Entry *, std::vector<OutlastingStep>>
      waitsForPrevious_; ///< cached by previous entry
};

} // namespace trainc
