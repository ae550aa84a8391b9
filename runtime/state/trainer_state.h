// trainer_state.json: position of a checkpoint, and checksums of its files.
#pragma once

#include "base/file_identity.h"
#include "base/status.h"
#include "plan/schema/plan_generated.h"
#include "runtime/state/file_checksums.h"

#include <optional>
#include <string_view>

namespace trainc {

/// The course of the learning rate over the steps of a run; see learningRate().
struct LearningRateCourse {
  fb::ScheduleKind kind = fb::ScheduleKind::Constant;
  double peak = 0;
  std::vector<double> numbers; ///< of the kind, in the order of its formula
  uint64_t steps =
      0; ///< length: the schedule's total, or the run's steps; 0 if the rate does not depend on it
  bool hasTotal = false; ///< whether the length is the schedule's total; earlier versions did not record it

  bool operator==(const LearningRateCourse &) const = default;
};

/// Position of a run, and checksums of its checkpoint's files. Contains nothing that differs between two
/// equal runs (no times, no thread counts), so that equal runs write equal bytes.
struct TrainerState {
  std::string plan;          ///< Plan.name
  uint64_t step = 0;         ///< steps done
  uint64_t skippedSteps = 0; ///< steps with overflowing gradients among them; earlier versions recorded none
  uint64_t seed = 0;
  bool shuffle = true;                            ///< whether the seed determines the order of samples
  uint64_t samples = 0;                           ///< samples taken from the data so far: the data position
  uint64_t tokens = 0;                            ///< tokens trained on so far
  uint64_t dataSamples = 0;                       ///< number of samples of the training data
  std::vector<FileIdentity> data;                 ///< its files, in order; earlier versions recorded none
  std::optional<LearningRateCourse> learningRate; ///< earlier versions recorded none
  std::map<std::string, std::string> environment; ///< other inputs than plan and data
  std::map<std::string, FileChecksums> files;     ///< by name within the checkpoint

  bool operator==(const TrainerState &) const = default;

  /// The JSON text, with its own checksum at the end.
  std::string toJson() const;
  /// Parses the output of toJson(). Errors (kInvalidInput) name `path` and what is damaged or missing.
  static Result<TrainerState> fromJson(const std::string &path, std::string_view text);
};

} // namespace trainc
