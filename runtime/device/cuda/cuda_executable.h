// An entry on a GPU.
#pragma once

#include "runtime/device/cuda/step_issuer.h"
#include "runtime/device/device.h"

#include <deque>

namespace trainc {

class StepClock;

/// An entry: a CUDA graph for each range of steps that was asked for, captured when it first is. The graph's
/// edges are the plan's. With an observer its steps go on the streams one by one instead, between events that
/// tell their times.
class CudaExecutable final : public Executable {
public:
  CudaExecutable(Program program, CudaParts &parts, StepObserver *observer);
  ~CudaExecutable() override;

  /// Fails (kInvalidInput) when the device cannot run a step.
  Status prepare();

  /// Puts a range behind what is on the main stream.
  Status enqueue(StepRange range);
  /// Puts one step on its stream, when all streams are idle.
  Status issueAlone(uint32_t step, uint64_t iteration);

  const StepIssuer &issuer() const { return issuer_; }

private:
  struct Graph {
    Graph(StepRange range, CudaParts &parts)
        : range(range), disk(parts.arenas, parts.diskStage, parts.fault) {}

    StepRange range;
    DiskTransfers disk; ///< before what runs them
    CudaGraphExec graph;
  };
  static constexpr uint32_t kNoEvent = ~uint32_t{0};

  Result<CUgraphExec> graphOf(StepRange range);
  Result<CudaGraphExec> capture(StepRange range, DiskTransfers &disk);
  Status issueRange(StepRange range, DiskTransfers &disk, StepClock *clock);
  Status issueBlock(const Block &block, StepRange range, DiskTransfers &disk, StepClock *clock);
  Status waitForOthers(const Step &step, StepRange range, StepClock *clock);
  std::vector<fb::Stream> othersOf(StepRange range) const;

  CudaParts &parts_;
  StepIssuer issuer_;
  std::vector<uint32_t> eventOf_; ///< by step, if a step of another stream comes after it
  std::deque<Graph> graphs_;
  DiskTransfers loose_; ///< of what runs without a graph
  std::unique_ptr<StepClock> clock_;
};

} // namespace trainc
