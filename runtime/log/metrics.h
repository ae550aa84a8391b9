// Metrics of a run as JSON lines: one object a step, one an evaluation.
#pragma once

#include "runtime/base/communication_seconds.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/status.h"

#include <cstdint>
#include <filesystem>
#include <optional>

namespace trainc {

/// One training step. Floats are written with as many digits as reading them back exactly needs; a value that
/// is not finite is written as null.
struct StepMetrics {
  uint64_t step = 0; ///< steps done, this one included
  float loss = 0;    ///< mean over the non-ignored targets of the step
  float lr = 0;
  float gradNorm = 0;  ///< global, before clipping
  uint64_t tokens = 0; ///< of this step; samples where the model has no sequence
  double stepSeconds = 0;
  double tokensPerSecond = 0;
  uint64_t peakBytes = 0;                   ///< allocated for arenas
  std::optional<double> mfu = std::nullopt; ///< share of the peak FLOP/s, where that is known
  /// Where there are several ranks: the bytes that this one sent in collectives, and the seconds of those if
  /// they are known.
  std::optional<uint64_t> sentBytes = std::nullopt;
  std::optional<CommunicationSeconds> communication = std::nullopt;
  /// Where the loss has a scale that changes: that of the step, and steps skipped so far, this one included.
  std::optional<double> lossScale = std::nullopt;
  std::optional<uint64_t> skippedSteps = std::nullopt;
  std::optional<double> startSeconds =
      std::nullopt; ///< first step only: from the start of the process to that of the step
};

struct EvalMetrics {
  uint64_t step = 0;
  double loss = 0; ///< mean over the non-ignored targets of the evaluation data
  std::optional<double> perplexity = std::nullopt; ///< where the loss has one
  uint64_t samples = 0;
  double seconds = 0;
  std::optional<uint64_t> sentBytes = std::nullopt; ///< by this rank, in collectives, where there are several
};

/// Appends JSON lines to a file, each with one write() as soon as it is known.
class MetricsWriter {
public:
  /// Starts `path` anew or, with `resumeStep`, drops its lines from the first of a later step on (they will
  /// be written again), and a last one that a killed run left incomplete. Errors (kInvalidInput) name path
  /// and reason: a file that holds something else than metrics is left alone, and a pipe needs its reader.
  static Result<MetricsWriter> open(const std::filesystem::path &path, std::optional<uint64_t> resumeStep);

  /// Errors (kFailed) name path and reason.
  Status write(const StepMetrics &metrics);
  Status write(const EvalMetrics &metrics);

private:
  MetricsWriter(std::filesystem::path path, Descriptor file)
      : path_(std::move(path)), file_(std::move(file)) {}

  Status append(std::string_view line);

  std::filesystem::path path_;
  Descriptor file_;
};

} // namespace trainc
