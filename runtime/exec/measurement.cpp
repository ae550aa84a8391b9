#include "runtime/exec/measurement.h"

namespace trainc {

Result<std::unique_ptr<Measurement>> Measurement::create(const fb::Plan &plan, Device &device, uint32_t rank,
                                                         const MeasureOptions &options) {
  std::unique_ptr<Measurement> made(new Measurement);
  if (!options.trace.file.empty()) {
    TRAINC_ASSIGN_OR_RETURN(made->trace_,
                            TraceWriter::create(plan, options.trace, rank, device.description()));
  }
  if (!options.profile)
    return made;
  TRAINC_ASSIGN_OR_RETURN(DeviceRates rates, device.measureRates());
  if (options.peakFlops > 0) {
    rates.f32Flops = rates.tf32Flops = rates.halfFlops = rates.f8Flops = options.peakFlops;
    rates.flopsSource = "--peak-flops";
  }
  made->profiler_.emplace(plan, std::move(rates));
  return made;
}

void Measurement::reserve(const Program &program) {
  if (profiler_)
    profiler_->reserve(program);
  if (trace_)
    trace_->reserve(program);
}

void Measurement::onStep(const Step &step, TimeSpan span) {
  if (profiler_)
    profiler_->onStep(step, span);
  if (isTracing())
    trace_->onStep(step, span);
}

void Measurement::onWait(const Step &waitedFor, TimeSpan span) {
  if (profiler_)
    profiler_->onWait(waitedFor, span);
  if (isTracing())
    trace_->onWait(waitedFor, span);
}

void Measurement::onThread(const Step &step, unsigned thread, TimeSpan span) {
  if (isTracing())
    trace_->onThread(step, thread, span);
}

void Measurement::beginTrainingStep() {
  if (profiler_)
    profiler_->beginTrainingStep();
}

void Measurement::endTrainingStep(uint64_t number, TimeSpan step) {
  if (profiler_)
    profiler_->endTrainingStep(step);
  if (trace_)
    trace_->endTrainingStep(number, step);
}

std::optional<Profile> Measurement::profile() const {
  return profiler_ ? std::optional(profiler_->profile()) : std::nullopt;
}

} // namespace trainc
