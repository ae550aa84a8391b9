// Metrics as JSON lines: one object per step and per evaluation.
#pragma once

#include "base/communication_seconds.h"
#include "base/descriptor.h"
#include "base/status.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace trainc {

/// One training step. Floats are written with as many digits as an exact round trip needs; non-finite values
/// are written as null.
struct StepMetrics {
  uint64_t step = 0; ///< steps done, including this one
  float loss = 0;    ///< mean over the non-ignored targets of the step
  float lr = 0;
  float gradNorm = 0;  ///< global norm before clipping
  uint64_t tokens = 0; ///< tokens of this step; samples if the model has no sequence
  double stepSeconds = 0;
  double tokensPerSecond = 0;
  uint64_t peakBytes = 0;                   ///< bytes allocated for arenas
  std::optional<double> mfu = std::nullopt; ///< fraction of the peak FLOP/s, if that is known
  /// With several ranks: bytes this rank sent in collectives, and the communication times if known.
  std::optional<uint64_t> sentBytes = std::nullopt;
  std::optional<CommunicationSeconds> communication = std::nullopt;
  /// With a dynamic loss scale: the scale of this step, and steps skipped so far, including this one.
  std::optional<double> lossScale = std::nullopt;
  std::optional<uint64_t> skippedSteps = std::nullopt;
  std::optional<double> startSeconds =
      std::nullopt; ///< first step only: from the start of the process to that of the step
};

struct EvalMetrics {
  uint64_t step = 0;
  double loss = 0; ///< mean over the non-ignored targets of the evaluation data
  std::optional<double> perplexity = std::nullopt; ///< if the loss has one
  uint64_t samples = 0;
  double seconds = 0;
  std::optional<uint64_t> sentBytes = std::nullopt; ///< by this rank, in collectives, where there are several
};

/// Appends JSON lines to a file, each with one write() at once.
class MetricsWriter {
public:
  /// Truncates `path` or, with `resumeStep`, removes the lines of later steps, which will be written again,
  /// and an incomplete last line of a killed run, of which warning() tells. A last line that only lacks its
  /// newline, or has zeros instead, is kept. Errors (kInvalidInput) name path and reason: a file with other
  /// content is left unchanged, and a pipe must have a reader.
  static Result<MetricsWriter> open(const std::filesystem::path &path, std::optional<uint64_t> resumeStep);

  /// Tells of a line that open() removed although its step is not later; empty if there was none.
  const std::string &warning() const { return warning_; }

  /// Errors (kFailed) name path and reason.
  Status write(const StepMetrics &metrics);
  Status write(const EvalMetrics &metrics);

private:
  MetricsWriter(std::filesystem::path path, Descriptor file, std::string warning)
      : path_(std::move(path)), file_(std::move(file)), warning_(std::move(warning)) {}

  Status append(std::string_view line);

  std::filesystem::path path_;
  Descriptor file_;
  std::string warning_;
};

} // namespace trainc
