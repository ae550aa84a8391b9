// The checkpoints of a run: where they go, and when one is written.
#pragma once

#include "runtime/state/checkpoint_writer.h"
#include "runtime/training/observer.h"
#include "runtime/training/options.h"
#include "runtime/training/starting_point.h"

#include <memory>

namespace trainc {

/// Writes checkpoints of an executor's states beside the steps, one at a time, and tells of each that is
/// complete. All ranks of a run have them, and call the same members in the same order.
class Checkpoints {
public:
  /// Opens --checkpoint-dir, which rank 0 locks; null where none was given.
  static Result<std::unique_ptr<Checkpoints>> open(Executor &executor, const RunOptions &options,
                                                   const StartingPoint &start, const Observers &observers);
  /// All must outlive it. `step` is that of the checkpoint that the run goes on from, or 0.
  Checkpoints(Executor &executor, CheckpointWriter writer, uint64_t step, const Observers &observers);
  ~Checkpoints() { executor_.holdStateWrites({}); }
  Checkpoints(const Checkpoints &) = delete;
  Checkpoints &operator=(const Checkpoints &) = delete;

  /// Begins to write one, unless this run has begun or loaded that of this step already. Fails as advance()
  /// does.
  Status save(const TrainerState &position);
  /// Lets the ranks agree on how far they are with the one being written. Fails where it could not be written
  /// and the run is one of several ranks, which ends all of them; of one rank, that is a warning.
  Status advance();
  /// Waits for the one being written, if any. Fails where it could not be written.
  Status finish();
  /// Waits until the one being written has read the states.
  void waitUntilRead() const;

private:
  Status end();

  Executor &executor_;
  CheckpointWriter writer_;
  uint64_t step_; ///< of the latest
  const Observers &observers_;
};

} // namespace trainc
