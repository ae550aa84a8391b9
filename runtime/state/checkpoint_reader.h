// Reading checkpoints back, every byte verified that is used.
#pragma once

#include "runtime/formats/safetensors_view.h"
#include "runtime/state/state_tensor.h"
#include "runtime/state/trainer_state.h"

#include <filesystem>

namespace trainc {

/// A checkpoint folder whose trainer state was read and verified.
class Checkpoint {
public:
  /// Errors (kInvalidInput) name the file and what is damaged or missing.
  static Result<Checkpoint> open(const std::filesystem::path &path);

  const std::filesystem::path &path() const { return path_; }
  const TrainerState &state() const { return state_; }

  /// model.safetensors, its size and header verified. Who reads tensors of it compares them with the
  /// checksums in state().
  Result<SafetensorsView> openParameters() const;
  /// Fills what is held of `parameters` from model.safetensors on `threads` threads. Errors (kInvalidInput):
  /// names, shapes or dtypes differ (all are listed), or a checksum does (file, tensor and byte offset are
  /// named).
  Status loadParameters(std::span<const StateTensor> parameters, unsigned threads) const;
  /// The same for the optimizer's states, from optimizer.safetensors.
  Status loadOptimizer(std::span<const StateTensor> states, unsigned threads) const;

private:
  Result<SafetensorsView> openFile(const char *name) const;
  Status load(const char *file, std::span<const StateTensor> tensors, unsigned threads) const;

  std::filesystem::path path_;
  TrainerState state_;
};

} // namespace trainc
