#include "runtime/device/cuda/cuda_executable.h"

#include "runtime/device/cuda/nvtx_ranges.h"
#include "runtime/device/cuda/step_clock.h"

#include <algorithm>

namespace trainc {

CudaExecutable::CudaExecutable(Program program, CudaParts &parts, StepObserver *observer)
    : Executable(std::move(program)), parts_(parts), issuer_(this->program(), parts),
      loose_{.disk = {parts.arenas, parts.diskStage, parts.fault}, .launches = HostLaunches(parts.fault)},
      clock_(observer ? std::make_unique<StepClock>(*observer) : nullptr) {}

CudaExecutable::~CudaExecutable() = default;

Status CudaExecutable::prepare() {
  eventOf_.assign(program().steps.size(), kNoEvent);
  uint32_t events = 0;
  for (const uint32_t waitedFor : program().after)
    if (eventOf_[waitedFor] == kNoEvent)
      eventOf_[waitedFor] = events++;
  TRAINC_RETURN_IF_ERROR(parts_.streams.makeEvents(events));
  return issuer_.prepare();
}

Status CudaExecutable::enqueue(StepRange steps) {
  if (steps.begin == steps.end)
    return {};
  issuer_.noteRun(steps);
  if (clock_ && clock_->isListening())
    return enqueueTimed(steps);
  Range *range = find(steps);
  if (range == nullptr) { // the first run makes libraries load kernels
    const CudaMemoryTaken taken(parts_.context, parts_.libraryBytes);
    return issueRange(steps, ranges_.emplace_back(steps, parts_).host, nullptr);
  }
  if (range->graph.get() == nullptr) {
    TRAINC_ASSIGN_OR_RETURN(range->graph, capture(*range));
  }
  return driver().cuGraphLaunch(range->graph.get(), parts_.streams.main());
}

/// Runs the steps one by one and waits for them. Earlier work is waited for first, so that the clock begins
/// with the first step.
Status CudaExecutable::enqueueTimed(StepRange steps) {
  const CudaWait wait(parts_.peers);
  TRAINC_RETURN_IF_ERROR(wait.forStream(parts_.streams.main()));
  TRAINC_RETURN_IF_ERROR(clock_->start(parts_.streams.main()));
  {
    std::optional<CudaMemoryTaken> taken; // memory of libraries, which load kernels now
    if (!std::exchange(wasTimed_, true))
      taken.emplace(parts_.context, parts_.libraryBytes);
    TRAINC_RETURN_IF_ERROR(issueRange(steps, loose_, clock_.get()));
  }
  TRAINC_RETURN_IF_ERROR(wait.forStream(parts_.streams.main()));
  loose_.clear();
  return clock_->tell();
}

Status CudaExecutable::issueAlone(uint32_t step, uint64_t iteration) {
  loose_.clear();
  issuer_.noteRun({step, step + 1});
  return issueNamed(step, iteration, loose_);
}

/// A captured step does not run now, so it gets no NVTX range.
Status CudaExecutable::issueNamed(uint32_t step, uint64_t iteration, HostWork &host) {
  if (isCapturing_)
    return issuer_.issue(step, iteration, host);
  const NvtxRange range(program(), program().steps[step]);
  return issuer_.issue(step, iteration, host);
}

CudaExecutable::Range *CudaExecutable::find(StepRange steps) {
  const auto found = std::ranges::find_if(ranges_, [&](const Range &range) {
    return range.steps.begin == steps.begin && range.steps.end == steps.end;
  });
  return found == ranges_.end() ? nullptr : &*found;
}

Result<CudaGraphExec> CudaExecutable::capture(Range &range) {
  const CUstream main = parts_.streams.main();
  // Other threads may copy meanwhile, for example checkpoint writers.
  TRAINC_RETURN_IF_ERROR(driver().cuStreamBeginCapture(main, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  isCapturing_ = true;
  const Status issued = issueRange(range.steps, range.host, nullptr);
  isCapturing_ = false;
  CUgraph captured = nullptr;
  const Status ended = driver().cuStreamEndCapture(main, &captured);
  const CudaGraph owner(captured);
  TRAINC_RETURN_IF_ERROR(issued);
  TRAINC_RETURN_IF_ERROR(ended);
  CUgraphExec graph = nullptr;
  TRAINC_RETURN_IF_ERROR(
      driver().cuGraphInstantiateWithFlags(&graph, captured, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY));
  CudaGraphExec exec(graph);
  TRAINC_RETURN_IF_ERROR(driver().cuGraphUpload(graph, main));
  return exec;
}

std::vector<fb::Stream> CudaExecutable::othersOf(StepRange range) const {
  std::vector<fb::Stream> others;
  for (uint32_t i = range.begin; i < range.end; ++i)
    if (const fb::Stream stream = program().steps[i].stream;
        stream != fb::Stream::Compute && std::ranges::find(others, stream) == others.end())
      others.push_back(stream);
  return others;
}

Status CudaExecutable::issueRange(StepRange range, HostWork &host, StepClock *clock) {
  const std::vector<fb::Stream> others = othersOf(range);
  TRAINC_RETURN_IF_ERROR(parts_.streams.fork(others));
  for (const Block &block : program().blocks)
    TRAINC_RETURN_IF_ERROR(issueBlock(block, range, host, clock));
  return parts_.streams.join(others);
}

Status CudaExecutable::issueBlock(const Block &block, StepRange range, HostWork &host, StepClock *clock) {
  const uint32_t begin = std::max(block.begin, range.begin), end = std::min(block.end, range.end);
  for (uint64_t iteration = 0; begin < end && iteration < block.iterations; ++iteration)
    for (uint32_t i = begin; i < end; ++i) {
      const Step &step = program().steps[i];
      const CUstream stream = parts_.streams.of(step.stream);
      if (iteration == 0)
        TRAINC_RETURN_IF_ERROR(waitForOthers(step, range, clock));
      if (clock)
        TRAINC_RETURN_IF_ERROR(clock->begin(step, stream));
      TRAINC_RETURN_IF_ERROR(issueNamed(i, iteration, host));
      if (clock)
        TRAINC_RETURN_IF_ERROR(clock->end(stream));
      if (iteration + 1 == block.iterations && eventOf_[i] != kNoEvent)
        TRAINC_RETURN_IF_ERROR(driver().cuEventRecord(parts_.streams.event(eventOf_[i]), stream));
    }
  return {};
}

/// Dependencies before the range have already run.
Status CudaExecutable::waitForOthers(const Step &step, StepRange range, StepClock *clock) {
  const CUstream stream = parts_.streams.of(step.stream);
  for (const uint32_t other : program().afterOf(step)) {
    if (other < range.begin)
      continue;
    const Step &waitedFor = program().steps[other];
    const bool isTimed =
        clock && step.stream == fb::Stream::Compute && waitedFor.stream == fb::Stream::Communication;
    if (isTimed)
      TRAINC_RETURN_IF_ERROR(clock->beginWait(waitedFor, stream));
    TRAINC_RETURN_IF_ERROR(
        driver().cuStreamWaitEvent(stream, parts_.streams.event(eventOf_[other]), CU_EVENT_WAIT_DEFAULT));
    if (isTimed)
      TRAINC_RETURN_IF_ERROR(clock->end(stream));
  }
  return {};
}

} // namespace trainc
