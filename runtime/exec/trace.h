// When instructions ran, in a file for Perfetto (ui.perfetto.dev) and chrome://tracing.
#pragma once

#include "runtime/base/descriptor.h"
#include "runtime/base/status.h"
#include "runtime/device/device.h"
#include "runtime/exec/predicted_runs.h"
#include "runtime/plan/streams.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace trainc {

struct TraceOptions {
  std::string file;   ///< of rank 0; see fileOfRank()
  uint64_t steps = 0; ///< of the training, after which it listens no more
};

/// Where a rank writes what each writes: "t.json" of rank 0, "t.rank-1.json" of the next one.
std::string fileOfRank(const std::string &file, uint32_t rank);

/// Writes an array of trace events: a process for the rank, a track for its training steps, and those of each
/// stream that does something. The first of a stream has what was measured: slices with the source op, what
/// it moves and computes, and what was predicted of it. Beside it lies what was predicted: each run of an
/// entry as it would go on from where it began. Then comes a track for each of the device's threads.
class TraceWriter final : public StepObserver {
public:
  /// Fails (kInvalidInput) when the file cannot be opened, or holds something else than a trace.
  static Result<std::unique_ptr<TraceWriter>> create(const fb::Plan &plan, const TraceOptions &options,
                                                     uint32_t rank, std::string_view device);

  /// The program must outlive it.
  void reserve(const Program &program);

  bool isListening() const override { return stepsLeft_ > 0 && status_.ok(); }
  /// Whether it listens until the next training step's end.
  bool isLastStep() const { return stepsLeft_ == 1; }
  void onStep(const Step &step, TimeSpan span) override;
  void onWait(const Step &waitedFor, TimeSpan span) override;
  void onThread(const Step &step, unsigned thread, TimeSpan span) override;
  /// `number` counts from 1.
  void endTrainingStep(uint64_t number, TimeSpan span);

  /// Completes the file. Fails (kFailed) when it could not be written, then or before.
  Status finish();

private:
  /// What slices of a step say beside their times.
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
  std::array<double, kStreams> predictedEnds_{}; ///< of the runs before, by stream
  std::unordered_map<const fb::Instruction *, Texts> texts_;
  std::unordered_set<uint32_t> tracks_; ///< that have a name
  std::string waiting_;                 ///< for being written
  bool isEmpty_ = true;
  Status status_;
};

} // namespace trainc
