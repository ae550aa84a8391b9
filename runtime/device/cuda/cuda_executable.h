// An entry on a GPU.
#pragma once

#include "runtime/device/cuda/step_issuer.h"
#include "runtime/device/device.h"

#include <deque>

namespace trainc {

class StepClock;

/// An entry: one CUDA graph for each range of steps that runs more than once; the graph's edges are the
/// plan's dependencies. The first run of a range issues its steps on the streams without a graph: the driver
/// and the libraries then load code, which is forbidden during capture, and a range that runs once needs no
/// graph. While an observer listens, steps are always issued directly, between timing events.
class CudaExecutable final : public Executable {
public:
  CudaExecutable(Program program, CudaParts &parts, StepObserver *observer);
  ~CudaExecutable() override;

  /// Fails with kInvalidInput if the device cannot run a step.
  Status prepare();

  /// Enqueues a range after the work of the main stream.
  Status enqueue(StepRange range);
  /// Enqueues one step on its stream; all streams must be idle.
  Status issueAlone(uint32_t step, uint64_t iteration);

  const StepIssuer &issuer() const { return issuer_; }

private:
  struct Range {
    Range(StepRange steps, CudaParts &parts)
        : steps(steps),
          host{.disk = {parts.arenas, parts.diskStage, parts.fault}, .launches = HostLaunches(parts.fault)} {}

    StepRange steps;
    HostWork host;       ///< outlives the graph that uses it
    CudaGraphExec graph; ///< created on the second run
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
  std::vector<uint32_t> eventOf_; ///< by step: its event, if a step of another stream depends on it
  std::deque<Range> ranges_;      ///< ranges that have run; a deque keeps addresses stable
  HostWork loose_;                ///< work of directly issued steps that are waited for
  std::unique_ptr<StepClock> clock_;
  bool wasTimed_ = false;
  bool isCapturing_ = false; ///< whether issued work is captured into a graph
};

} // namespace trainc
