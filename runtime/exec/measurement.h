// Measurements of a run; the only observer of its device.
#pragma once

#include "runtime/exec/profile.h"
#include "runtime/exec/trace.h"

#include <memory>
#include <optional>

namespace trainc {

struct MeasureOptions {
  bool profile = false; ///< measure the time of every instruction
  double peakFlops = 0; ///< overrides the device's own rate; 0: unknown
  TraceOptions trace{}; ///< no trace if the file is empty

  bool any() const { return profile || !trace.file.empty(); }
};

class Measurement final : public StepObserver {
public:
  /// Measures the device's rates if a profile is requested. Fails if that fails, and with kInvalidInput if
  /// the trace file cannot be opened.
  static Result<std::unique_ptr<Measurement>> create(const fb::Plan &plan, Device &device, uint32_t rank,
                                                     const MeasureOptions &options);

  /// See Profiler::reserve().
  void reserve(const Program &program);
  bool isListening() const override { return profiler_ || trace_->isListening(); }
  void onStep(const Step &step, TimeSpan span) override;
  void onWait(const Step &waitedFor, TimeSpan span) override;
  void onThread(const Step &step, unsigned thread, TimeSpan span) override;

  void beginTrainingStep();
  /// `number` counts from 1.
  void endTrainingStep(uint64_t number, TimeSpan step);
  /// Whether this training step is the last one in the trace.
  bool isLastTraced() const { return trace_ && trace_->isLastStep(); }

  /// Profiler::communication(); nothing without a profile.
  std::optional<CommunicationSeconds> communication() {
    return profiler_ ? std::optional(profiler_->communication()) : std::nullopt;
  }
  /// Nothing if no profile was requested.
  std::optional<Profile> profile() const;
  /// Completes the trace. Fails like TraceWriter::finish().
  Status finishTrace() { return trace_ ? trace_->finish() : Status(); }

private:
  Measurement() = default;
  bool isTracing() const { return trace_ && trace_->isListening(); }

  std::optional<Profiler> profiler_; ///< at least one of the two is set
  std::unique_ptr<TraceWriter> trace_;
};

} // namespace trainc
