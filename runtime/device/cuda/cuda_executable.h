// An entry on a GPU.
#pragma once

#include "runtime/device/cuda/step_issuer.h"
#include "runtime/device/device.h"

#include <deque>

namespace trainc {

class StepClock;

/// An entry: a CUDA graph for each range of steps that runs more than once. The graph's edges are the plan's.
/// When a range runs for the first time, its steps go on the streams without a graph: the driver and the
/// libraries then load code that they cannot load while a stream is captured, and what runs once needs no
/// graph. While an observer listens they always do, between events that tell their times.
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
  struct Range {
    Range(StepRange steps, CudaParts &parts)
        : steps(steps),
          host{.disk = {parts.arenas, parts.diskStage, parts.fault}, .launches = HostLaunches(parts.fault)} {}

    StepRange steps;
    HostWork host;       ///< before what runs it
    CudaGraphExec graph; ///< when it runs for the second time
  };
  static constexpr uint32_t kNoEvent = ~uint32_t{0};

  Range *find(StepRange steps);
  Status enqueueTimed(StepRange steps);
  Result<CudaGraphExec> capture(Range &range);
  Status issueRange(StepRange range, HostWork &host, StepClock *clock);
  Status issueBlock(const Block &block, StepRange range, HostWork &host, StepClock *clock);
  Status issueNamed(uint32_t step, uint64_t iteration, HostWork &host);
  Status waitForOthers(const Step &step, StepRange range, StepClock *clock);
  std::vector<fb::Stream> othersOf(StepRange range) const;

  CudaParts &parts_;
  StepIssuer issuer_;
  std::vector<uint32_t> eventOf_; ///< by step, if a step of another stream comes after it
  std::deque<Range> ranges_;      ///< that have run; stay where they are
  HostWork loose_;                ///< of steps that are waited for
  std::unique_ptr<StepClock> clock_;
  bool wasTimed_ = false;
  bool isCapturing_ = false; ///< what is issued becomes a graph
};

} // namespace trainc
