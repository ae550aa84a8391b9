// Writes checkpoints from the running plan's memory while training goes on.
#pragma once

#include "runtime/state/checkpoint_folder.h"
#include "runtime/state/state_tensor.h"
#include "runtime/state/trainer_state.h"

#include <future>
#include <utility>

namespace trainc {

inline constexpr const char *kModelFile = "model.safetensors";
inline constexpr const char *kOptimizerFile = "optimizer.safetensors";
inline constexpr const char *kTrainerStateFile = "trainer_state.json";

/// What checkpoints of a run hold, apart from the position.
struct CheckpointContents {
  std::vector<StateTensor> parameters;                      ///< to model.safetensors
  std::vector<StateTensor> optimizer;                       ///< to optimizer.safetensors
  std::vector<std::pair<std::string, std::string>> exports; ///< file name and text, e.g. config.json
};

/// One writer thread (none where the system starts no more: then start() writes) that reads the tensors in
/// place: between start() and waitUntilRead() nobody may write to them. The rest, above all waiting for the
/// disk, goes on after that.
class CheckpointWriter {
public:
  /// `keepLast`: how many checkpoints to keep; 0 keeps all.
  CheckpointWriter(CheckpointFolder folder, CheckpointContents contents, uint64_t keepLast = 0)
      : folder_(std::move(folder)), contents_(std::move(contents)), keepLast_(keepLast) {}

  const CheckpointFolder &folder() const { return folder_; }
  /// Begins to write the checkpoint of `state.step`; the one before must have been waited for.
  void start(const TrainerState &state);
  /// Whether start() was called without a wait() since.
  bool pending() const { return result_.valid(); }
  /// Waits until the tensors may change again; returns at once when nothing is pending.
  void waitUntilRead();
  /// Waits for the writer. Ok: the checkpoint is complete, or none was pending. Else it is absent (kFailed).
  Status wait();

private:
  Status write(TrainerState state, std::promise<void> read) const;
  Status writeFiles(const std::filesystem::path &folder, TrainerState state, std::promise<void> &read) const;

  CheckpointFolder folder_;
  CheckpointContents contents_;
  uint64_t keepLast_;
  std::future<void> read_;
  std::future<Status> result_; ///< last: its destructor waits for the thread, which uses the members above
};

} // namespace trainc
