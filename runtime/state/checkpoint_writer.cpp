#include "runtime/state/checkpoint_writer.h"

#include <algorithm>
#include <chrono>
#include <system_error>

namespace trainc {

namespace {

constexpr auto kProgressInterval = std::chrono::milliseconds(100);

/// How far a rank is, for the others.
enum Progress : uint8_t { kBusy, kDone, kFailed };

} // namespace

void CheckpointWriter::start(const TrainerState &state) {
  state_ = state;
  share_.reset();
  const Status prepared = agree(completes() ? prepare() : Status(), "prepare the checkpoint");
  if (!prepared.ok())
    return settle(prepared);
  readPromise_ = {};
  read_ = readPromise_.get_future();
  stage_ = Stage::kWriting;
  launch(alone() ? &CheckpointWriter::writeAlone : &CheckpointWriter::writeShare);
}

void CheckpointWriter::advance() {
  if (alone() || stage_ != Stage::kWriting)
    return;
  if (!share_ && result_.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
    share_ = result_.get();
  meet();
}

void CheckpointWriter::waitUntilRead() const {
  if (read_.valid())
    waitFor(read_);
}

Status CheckpointWriter::wait() {
  if (stage_ == Stage::kWriting) {
    if (!share_) {
      waitFor(result_);
      share_ = result_.get();
    }
    if (alone())
      settle(*share_);
    else
      meet();
  }
  if (stage_ == Stage::kCompleting) {
    Status own;
    if (completes()) {
      waitFor(result_);
      own = result_.get();
    }
    const Status agreed = agree(own, "complete the checkpoint");
    // Once rank 0 has given it its name, the checkpoint is there whatever becomes of the others.
    settle(completes() ? own : agreed);
  }
  stage_ = Stage::kNone;
  return std::exchange(outcome_, {});
}

Status CheckpointWriter::prepare() const {
  TRAINC_ASSIGN_OR_RETURN(const std::filesystem::path aside, folder_.begin(state_.step));
  return files_.create(aside);
}

/// However it ends, waitUntilRead() does.
Status CheckpointWriter::writeShare() {
  bool wasRead = false;
  const auto onRead = [&] {
    wasRead = true;
    readPromise_.set_value();
  };
  Result<std::vector<BlockChecksum>> checksums = files_.write(folder_.asidePath(state_.step), onRead);
  if (!wasRead)
    onRead();
  TRAINC_RETURN_IF_ERROR(checksums.status());
  own_ = std::move(*checksums);
  return {};
}

Status CheckpointWriter::completeShares() {
  TRAINC_RETURN_IF_ERROR(files_.complete(folder_.asidePath(state_.step), state_, own_));
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
  try {
    result_ = std::async(std::launch::async, task, this);
  } catch (const std::system_error &) { // the system starts no more threads: the run waits
    std::promise<Status> result;
    result_ = result.get_future();
    result.set_value((this->*task)());
  }
}

template <typename Value> void CheckpointWriter::waitFor(const std::future<Value> &future) const {
  if (!peers_.noteProgress)
    return future.wait();
  while (future.wait_for(kProgressInterval) != std::future_status::ready)
    peers_.noteProgress();
}

/// Ok where all ranks are; else this rank's error, or which rank has one.
Status CheckpointWriter::agree(const Status &own, const char *task) const {
  if (alone())
    return own;
  const Result<std::vector<uint8_t>> all = peers_.gather(own.ok() ? kDone : kFailed);
  TRAINC_RETURN_IF_ERROR(own);
  TRAINC_RETURN_IF_ERROR(all.status());
  const auto other = std::ranges::find(*all, kFailed);
  if (other == all->end())
    return {};
  return failed("rank {} could not {}; its own message says why", other - all->begin(), task);
}

/// Tells the other ranks how far this one is, and goes on when all have written.
void CheckpointWriter::meet() {
  const Progress own = !share_ ? kBusy : share_->ok() ? kDone : kFailed;
  const Result<std::vector<uint8_t>> all = peers_.gather(own);
  if (!all.ok()) // whoever has seen it first may have removed the files under this rank's hands
    return settle(all.status());
  if (own == kFailed)
    return settle(*share_);
  if (const auto other = std::ranges::find(*all, kFailed); other != all->end())
    return settle(
        failed("rank {} could not write its share; its own message says why", other - all->begin()));
  if (std::ranges::find(*all, kBusy) != all->end())
    return;
  stage_ = Stage::kCompleting;
  if (completes())
    launch(&CheckpointWriter::completeShares);
}

void CheckpointWriter::settle(const Status &outcome) {
  if (result_.valid()) {
    waitFor(result_);
    (void)result_.get();
  }
  stage_ = Stage::kSettled;
  if (outcome.ok())
    return;
  if (completes())
    folder_.abandon(state_.step);
  outcome_ = failed("the checkpoint of step {} was not written (earlier ones are intact): {}", state_.step,
                    outcome.message());
}

} // namespace trainc
