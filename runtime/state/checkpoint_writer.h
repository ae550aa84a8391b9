// Writes checkpoints from the running plan's memory while training continues.
#pragma once

#include "runtime/state/checkpoint_files.h"
#include "runtime/state/checkpoint_folder.h"

#include <functional>
#include <future>
#include <optional>

namespace trainc {

/// Communication between the ranks that write one checkpoint, called on the training thread.
struct CheckpointPeers {
  /// All-gathers a number, in rank order; all ranks call it at the same points. Fails if a rank has failed.
  /// Empty for a single rank.
  std::function<Result<std::vector<uint8_t>>(uint8_t own)> gather;
};

/// Writer of checkpoints on a thread that reads the tensors in place. Nothing may write to the tensors from
/// start() until waitUntilRead() returns. The rest of the work, mostly waiting for the disk, continues after
/// that. If the system cannot start a thread, start() writes synchronously. All ranks of a run have a writer
/// and call the same members in the same order; each writes its share, and rank 0 completes the checkpoint
/// when all have.
class CheckpointWriter {
public:
  /// `keepLast` is the number of checkpoints to keep; 0 keeps all. `folder` is opened by rank 0 and only
  /// named on the others.
  CheckpointWriter(CheckpointFolder folder, CheckpointContents contents, uint64_t keepLast = 0,
                   WriterRank writer = {}, CheckpointPeers peers = {})
      : folder_(std::move(folder)), files_(std::move(contents), writer), keepLast_(keepLast),
        peers_(std::move(peers)) {}

  const CheckpointFolder &folder() const { return folder_; }
  /// Starts writing the checkpoint of `state.step`; the previous one must have been waited for.
  void start(const TrainerState &state);
  /// Whether a checkpoint was started and not yet waited for.
  bool pending() const { return stage_ != Stage::kNone; }
  /// With several ranks: lets rank 0 complete the checkpoint once all have written, and detects failures of
  /// other ranks. Returns at once or, after a failure, when all ranks have ended their work. Call it from
  /// time to time.
  void advance();
  /// Whether the outcome is known, so that wait() returns at once.
  bool settled() const { return stage_ == Stage::kSettled; }
  /// Waits until the tensors may change again; returns at once if nothing is pending.
  void waitUntilRead() const;
  /// Waits for the writers of all ranks. Ok: the checkpoint is complete, or none was pending. kFailed: it is
  /// absent; the rank that failed gives the reason, the others name the rank. If the ranks have lost contact,
  /// rank 0 may have completed it; the other ranks' error then says that the outcome is unknown.
  Status wait();

private:
  enum class Stage : uint8_t {
    kNone,
    kWriting,    ///< shares are being written
    kCompleting, ///< all shares are written; rank 0 completes the checkpoint
    kSettled     ///< outcome_ is known
  };

  bool alone() const { return files_.writer().ranks == 1; }
  bool completes() const { return files_.writer().rank == 0; }
  Status prepare() const;
  Status writeShare();
  void launch(Status (CheckpointWriter::*task)());
  Status writeAlone();
  Status completeShares();
  const Status &endTask();
  Status blame(uint32_t rank, const char *task) const;
  Status agreeOn(const Status &prepared) const;
  void meet();
  void settleWithoutPeers(const Status &reason);
  void settle(const Status &outcome);
  void settleUnknown(const Status &reason);
  Status explain(const Status &reason) const;
  void endWork();

  CheckpointFolder folder_;
  CheckpointFiles files_;
  uint64_t keepLast_;
  CheckpointPeers peers_;
  Stage stage_ = Stage::kNone;
  TrainerState state_;             ///< of the current checkpoint
  bool replaces_ = false;          ///< whether a checkpoint of its step already exists
  std::vector<RangeChecksum> own_; ///< checksums of this rank's share
  std::optional<Status> task_;     ///< result of this rank's work in this stage; empty while in progress
  Status outcome_;
  std::promise<void> readPromise_;
  std::future<void> read_;
  /// Declared last: its destructor waits for the thread, which uses the members above.
  std::future<Status> result_;
};

} // namespace trainc
