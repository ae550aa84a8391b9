// Runs an entry's steps on the CPU.
#pragma once

#include "runtime/device/device.h"

#include <vector>

namespace trainc {

class CpuDevice;

/// An entry for the CPU. Its steps run in their order: those of the compute stream at once, collectives in
/// the communicator's thread, until a step that comes after them, or the end.
class Interpreter final : public Executable {
public:
  Interpreter(Program program, CpuDevice &device, Communicator *communicator, StepObserver *observer);

  /// Fails (kFailed), with the instruction's place and source, when a collective cannot be completed.
  Status run(StepRange steps);
  /// Runs one step and waits for it. Fails as run() does.
  Status runAlone(uint32_t index, uint64_t iteration);

private:
  Status issue(uint32_t index, uint64_t iteration);
  Status waitForOthers(const Step &step);
  Status waitFor(uint32_t collective);
  void start(uint32_t index, const CollectiveStep &collective);
  Status compute(const Step &step, uint64_t iteration);
  /// Arguments of a launch or a library call in an iteration.
  void *const *argsOf(uint32_t begin, uint32_t count, uint64_t iteration);

  static constexpr uint32_t kNone = ~uint32_t{0};

  CpuDevice &device_;
  Communicator *communicator_;
  StepObserver *observer_;
  std::vector<void *> args_;     ///< of all steps; those that move are set in each iteration
  std::vector<Ticket> tickets_;  ///< by step: of the collective that it started last
  uint32_t lastStarted_ = kNone; ///< the step that started a collective last
  Ticket done_ = 0;              ///< all before it have been waited for
};

} // namespace trainc
