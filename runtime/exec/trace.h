// Trace files for Perfetto (ui.perfetto.dev) and chrome://tracing.
#pragma once

#include "base/descriptor.h"
#include "base/status.h"
#include "plan/facts/streams.h"
#include "runtime/device/device.h"
#include "runtime/exec/predicted_runs.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace trainc {

struct TraceOptions {
  std::string file;   ///< file of rank 0; see fileOfRank()
  uint64_t steps = 0; ///< number of training steps to record
};

/// Trace file of a rank: "t.json" on rank 0, "t.rank-1.json" on rank 1.
std::string fileOfRank(const std::string &file, uint32_t rank);

/// Writes an array of trace events: one process per rank, one track for its training steps, and tracks for
/// each active stream. The first track of a stream has the measured slices with source op, bytes, FLOPs and
/// prediction. The second has the predicted schedule of each run of an entry, from the moment the run began.
/// Further tracks show the device's threads.
class TraceWriter final : public StepObserver {
public:
  /// Fails with kInvalidInput if the file cannot be opened, or holds something other than a trace.
  static Result<std::unique_ptr<TraceWriter>> create(const fb::Plan &plan, const TraceOptions &options,
                                                     uint32_t rank, std::string_view device);

  /// `program` must outlive this object.
  void reserve(const Program &program);

  bool isListening() const override { return stepsLeft_ > 0 && status_.ok(); }
  /// Whether recording ends with the current training step.
  bool isLastStep() const { return stepsLeft_ == 1; }
  void onStep(const Step &step, TimeSpan span) override;
  void onWait(const Step &waitedFor, TimeSpan span) override;
  void onThread(const Step &step, unsigned thread, TimeSpan span) override;
  /// `number` counts from 1.
  void endTrainingStep(uint64_t number, TimeSpan span);

  /// Completes the file. Fails with kFailed if any write failed.
  Status finish();

private:
  /// Constant parts of a step's slices, as JSON text.
  struct Texts {
    std::string ran, waited, onThread;
  };

  TraceWriter(const fb::Plan &plan, Descriptor file, std::string path, uint64_t steps, uint32_t rank)
      : plan_(plan), file_(std::move(file)), path_(std::move(path)), stepsLeft_(steps), rank_(rank),
        predictedRuns_(plan) {}
  void addRank(std::string_view device);
  void addTrack(uint32_t track);
  void addPredicted(const PredictedRuns::Run &run, double begin);
  void addSlice(uint32_t track, TimeSpan span, std::string_view texts);
  void add(std::string_view event);
  void flush();

  const fb::Plan &plan_;
  Descriptor file_;
  std::string path_;
  uint64_t stepsLeft_;
  uint32_t rank_;
  PredictedRuns predictedRuns_;
  std::array<double, kStreams> predictedEnds_{}; ///< end of the predicted runs so far, by stream
  std::unordered_map<const fb::Instruction *, Texts> texts_;
  std::unordered_set<uint32_t> tracks_; ///< tracks whose names were written
  std::string waiting_;                 ///< text to be written
  bool isEmpty_ = true;
  Status status_;
};

} // namespace trainc
