#include "runtime/state/checkpoint_writer.h"

#include <algorithm>
#include <chrono>
#include <system_error>

namespace trainc {

namespace {

/// Progress of a rank, exchanged with the others.
enum Progress : uint8_t { kBusy, kDone, kFailed };

} // namespace

void CheckpointWriter::start(const TrainerState &state) {
  state_ = state;
  replaces_ = checkIsCheckpoint(folder_.pathOf(state.step)).ok();
  const Status prepared = agreeOn(completes() ? prepare() : Status());
  if (!prepared.ok())
    return settle(prepared);
  readPromise_ = {};
  read_ = readPromise_.get_future();
  stage_ = Stage::kWriting;
  launch(alone() ? &CheckpointWriter::writeAlone : &CheckpointWriter::writeShare);
}

void CheckpointWriter::advance() {
  if (alone() || !pending() || settled())
    return;
  if (!task_ && result_.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
    endTask();
  meet();
}

void CheckpointWriter::waitUntilRead() const {
  if (read_.valid())
    read_.wait();
}

Status CheckpointWriter::wait() {
  while (pending() && !settled()) {
    endTask();
    if (alone())
      settle(*task_);
    else
      meet();
  }
  stage_ = Stage::kNone;
  return std::exchange(outcome_, {});
}

Status CheckpointWriter::prepare() const {
  TRAINC_ASSIGN_OR_RETURN(const std::filesystem::path aside, folder_.begin(state_.step));
  return files_.create(aside);
}

/// Calls onRead on every path, so that waitUntilRead() always returns.
Status CheckpointWriter::writeShare() {
  bool wasRead = false;
  const auto onRead = [&] {
    wasRead = true;
    readPromise_.set_value();
  };
  Result<std::vector<RangeChecksum>> checksums = files_.write(folder_.asidePath(state_.step), onRead);
  if (!wasRead)
    onRead();
  TRAINC_RETURN_IF_ERROR(checksums.status());
  own_ = std::move(*checksums);
  return {};
}

Status CheckpointWriter::completeShares() {
  TRAINC_RETURN_IF_ERROR(files_.complete(folder_.asidePath(state_.step), state_, std::move(own_)));
  TRAINC_RETURN_IF_ERROR(folder_.commit(state_.step));
  if (keepLast_ > 0)
    folder_.keepLast(state_.step, keepLast_);
  return {};
}

Status CheckpointWriter::writeAlone() {
  TRAINC_RETURN_IF_ERROR(writeShare());
  return completeShares();
}

void CheckpointWriter::launch(Status (CheckpointWriter::*task)()) {
  task_.reset();
  try {
    result_ = std::async(std::launch::async, task, this);
  } catch (const std::system_error &) { // the system cannot start another thread: write synchronously
    std::promise<Status> result;
    result_ = result.get_future();
    result.set_value((this->*task)());
  }
}

const Status &CheckpointWriter::endTask() {
  if (!task_)
    task_ = result_.get();
  return *task_;
}

/// Error of this rank caused by another one; names both, so that the messages of several ranks are
/// consistent.
Status CheckpointWriter::blame(uint32_t rank, const char *task) const {
  return failed("rank {}: rank {} could not {}; its own message says why", files_.writer().rank, rank, task);
}

/// Ok if rank 0 succeeded; else its error, or the fact that it has one.
Status CheckpointWriter::agreeOn(const Status &prepared) const {
  if (alone())
    return prepared;
  const Result<std::vector<uint8_t>> all = peers_.gather(prepared.ok() ? kDone : kFailed);
  TRAINC_RETURN_IF_ERROR(prepared);
  TRAINC_RETURN_IF_ERROR(all.status());
  return all->front() == kDone ? Status() : blame(0, "prepare the checkpoint");
}

/// Exchanges progress with the other ranks, and enters the next stage when all have ended this one.
void CheckpointWriter::meet() {
  const bool completing = stage_ == Stage::kCompleting;
  const Progress own = !task_ ? kBusy : task_->ok() ? kDone : kFailed;
  const Result<std::vector<uint8_t>> all = peers_.gather(own);
  if (!all.ok())
    return settleWithoutPeers(all.status());
  if (const auto odd = std::ranges::find(*all, kFailed); odd != all->end()) {
    endWork();
    (void)peers_.gather(own); // afterwards nobody writes any more, and rank 0 may remove the files
    return settle(own == kFailed ? *task_
                                 : blame(static_cast<uint32_t>(odd - all->begin()),
                                         completing ? "complete the checkpoint" : "write its share"));
  }
  if (std::ranges::find(*all, kBusy) != all->end())
    return;
  if (completing)
    return settle({});
  stage_ = Stage::kCompleting;
  if (completes())
    launch(&CheckpointWriter::completeShares);
}

/// Settles after losing contact with the other ranks. Once rank 0 has renamed the checkpoint, it exists
/// whatever happens to the others. Before, another rank may already have removed the files that this rank
/// writes.
void CheckpointWriter::settleWithoutPeers(const Status &reason) {
  if (completes() && stage_ == Stage::kCompleting)
    return settle(endTask());
  if (task_ && task_->ok() && !completes())
    return settleUnknown(reason);
  settle(task_ && !task_->ok() ? *task_ : reason);
  // Without this rank's share there is no checkpoint. Each rank that was still writing removes the leftovers.
  folder_.abandon(state_.step);
}

void CheckpointWriter::settle(const Status &outcome) {
  endWork();
  if (outcome.ok())
    return;
  if (completes())
    folder_.abandon(state_.step);
  outcome_ = explain(outcome);
}

/// Describes the state of the folder: others may have removed more than this run has written.
Status CheckpointWriter::explain(const Status &reason) const {
  if (!replaces_ && checkIsCheckpoint(folder_.pathOf(state_.step)).ok())
    return failed("the checkpoint of step {} was written, but may be gone after a failure of power: {}",
                  state_.step, reason.message());
  std::vector<uint64_t> others = listCheckpoints(folder_.path());
  std::erase_if(others, [&](uint64_t step) {
    return step >= state_.step || !checkIsCheckpoint(folder_.pathOf(step)).ok();
  });
  return failed("the checkpoint of step {} was not written ({}): {}", state_.step,
                others.empty() ? "there is no earlier one"
                               : fmt::format("the last one is that of step {}", others.back()),
                reason.message());
}

/// For a rank that has finished its share: rank 0 may know that and have completed the checkpoint.
void CheckpointWriter::settleUnknown(const Status &reason) {
  endWork();
  outcome_ = failed("rank 0 alone knows whether the checkpoint of step {} was written: {}", state_.step,
                    reason.message());
}

void CheckpointWriter::endWork() {
  if (result_.valid())
    (void)result_.get();
  stage_ = Stage::kSettled;
}

} // namespace trainc
