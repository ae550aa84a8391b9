// Reading of checkpoints; every byte used is verified.
#pragma once

#include "runtime/formats/weight_files.h"
#include "runtime/state/state_tensor.h"
#include "runtime/state/tensor_transfer.h"
#include "runtime/state/trainer_state.h"

#include <filesystem>

namespace trainc {

/// A checkpoint folder with a verified trainer state.
class Checkpoint {
public:
  /// Errors (kInvalidInput) name the file and what is damaged or missing.
  static Result<Checkpoint> open(const std::filesystem::path &path);

  const std::filesystem::path &path() const { return path_; }
  const TrainerState &state() const { return state_; }

  /// Opens model.safetensors and verifies its size and header. The caller verifies tensors by the checksums
  /// in state().
  Result<SafetensorsView> openParameters() const;
  /// Loads the held parts of `parameters` from model.safetensors, using `threads` threads. Fails with
  /// kInvalidInput if names, shapes or dtypes differ (all are listed), if a checksum does (the message
  /// names file, tensor and byte offset), or if a number is NaN or infinite.
  Status loadParameters(std::span<const StateTensor> parameters, unsigned threads) const;
  /// Loads optimizer states from optimizer.safetensors, like loadParameters(). The counter
  /// loss_scale_hysteresis of earlier versions, which no plan has, must have the value of today's behaviour.
  Status loadOptimizer(std::span<const StateTensor> states, unsigned threads) const;

private:
  Result<SafetensorsView> openFile(const char *name) const;
  /// `name` is that of `file` in the checkpoint.
  Status load(const WeightFiles &file, const char *name, std::span<const StateTensor> tensors,
              unsigned threads, Numbers numbers) const;

  std::filesystem::path path_;
  TrainerState state_;
};

} // namespace trainc
