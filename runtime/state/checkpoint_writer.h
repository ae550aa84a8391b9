// Writes checkpoints from the running plan's memory while training goes on.
#pragma once

#include "runtime/state/checkpoint_files.h"
#include "runtime/state/checkpoint_folder.h"

#include <functional>
#include <future>
#include <optional>

namespace trainc {

/// How the ranks that write one checkpoint agree. The functions are called by the thread that trains.
struct CheckpointPeers {
  /// Every rank's number, in the ranks' order; all ranks call it at the same points of their runs. Fails when
  /// a rank has. Empty where there is one rank.
  std::function<Result<std::vector<uint8_t>>(uint8_t own)> gather;
};

/// One writer thread (none where the system starts no more: then start() writes) that reads the tensors in
/// place: between start() and waitUntilRead() nobody may write to them. The rest, above all waiting for the
/// disk, goes on after that. All ranks of a run have a writer and call the same members in the same order;
/// each writes its share, and rank 0 completes the checkpoint when all have.
class CheckpointWriter {
public:
  /// `keepLast`: how many checkpoints to keep; 0 keeps all. `folder` is open on rank 0, and known to the
  /// others.
  CheckpointWriter(CheckpointFolder folder, CheckpointContents contents, uint64_t keepLast = 0,
                   WriterPlace place = {}, CheckpointPeers peers = {})
      : folder_(std::move(folder)), files_(std::move(contents), place), keepLast_(keepLast),
        peers_(std::move(peers)) {}

  const CheckpointFolder &folder() const { return folder_; }
  /// Begins to write the checkpoint of `state.step`; the one before must have been waited for.
  void start(const TrainerState &state);
  /// Whether start() was called without a wait() since.
  bool pending() const { return stage_ != Stage::kNone; }
  /// Where there are several ranks: has rank 0 complete the checkpoint once all have written, finds out
  /// whether one could not, and returns at once, or in that case once all have ended their work. Call it from
  /// time to time.
  void advance();
  /// Whether advance() or start() has found out how it ends, which wait() then tells at once.
  bool settled() const { return stage_ == Stage::kSettled; }
  /// Waits until the tensors may change again; returns at once when nothing is pending.
  void waitUntilRead() const;
  /// Waits for all ranks' writers. Ok: the checkpoint is complete, or none was pending. Else (kFailed) it is
  /// absent; the rank that could not write says why, the others which one that was. Or the ranks have lost
  /// each other, and rank 0 may have completed it: then the others say that they do not know.
  Status wait();

private:
  enum class Stage : uint8_t {
    kNone,
    kWriting,    ///< this rank's share, and perhaps others theirs
    kCompleting, ///< all shares are written; rank 0 does the rest
    kSettled     ///< outcome_ is known
  };

  bool alone() const { return files_.place().ranks == 1; }
  bool completes() const { return files_.place().rank == 0; }
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
  TrainerState state_;             ///< of the checkpoint
  bool replaces_ = false;          ///< there is one of its step already
  std::vector<RangeChecksum> own_; ///< of this rank's share
  std::optional<Status> task_;     ///< how what this rank does in this stage went; empty while it is at it
  Status outcome_;
  std::promise<void> readPromise_;
  std::future<void> read_;
  std::future<Status> result_; ///< last: its destructor waits for the thread, which uses the members above
};

} // namespace trainc
