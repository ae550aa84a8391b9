// Checkpoints of a run: where they are written, and when.
#pragma once

#include "runtime/state/checkpoint_writer.h"
#include "runtime/training/observer.h"
#include "runtime/training/options.h"
#include "runtime/training/starting_point.h"

#include <memory>

namespace trainc {

/// Writes checkpoints of an executor's states concurrently with the steps, one at a time, and reports each
/// complete one. All ranks of a run have an instance, and call the same members in the same order.
class Checkpoints {
public:
  /// Opens --checkpoint-dir, which rank 0 locks; null if none was given.
  static Result<std::unique_ptr<Checkpoints>> open(Executor &executor, const RunOptions &options,
                                                   const StartingPoint &start, const Observers &observers);
  /// All references must outlive this object. `step` is the step of the checkpoint that the run continues, or
  /// 0.
  Checkpoints(Executor &executor, CheckpointWriter writer, uint64_t step, const Observers &observers);
  ~Checkpoints() { executor_.holdStateWrites({}); }
  Checkpoints(const Checkpoints &) = delete;
  Checkpoints &operator=(const Checkpoints &) = delete;

  /// Whether this run has started or loaded the checkpoint of a step.
  bool has(uint64_t step) const { return step_ == step; }
  /// Starts a checkpoint, unless this run has() it. Fails like advance().
  Status save(const TrainerState &position);
  /// Synchronises the ranks' progress on the checkpoint being written. If it could not be written, a single
  /// rank warns; several ranks fail, so that all of them end.
  Status advance();
  /// Waits for the checkpoint being written, if any. Fails if it could not be written.
  Status finish();
  /// Folder of the latest complete checkpoint in --checkpoint-dir; empty if there is none.
  std::filesystem::path latest() const;
  /// Waits until the checkpoint being written has read the states.
  void waitUntilRead() const;

private:
  Status finishOrWarn();

  Executor &executor_;
  CheckpointWriter writer_;
  uint64_t step_; ///< of the latest checkpoint
  const Observers &observers_;
};

} // namespace trainc
