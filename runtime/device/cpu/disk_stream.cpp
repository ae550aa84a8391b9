#include "runtime/device/cpu/disk_stream.h"

#include "base/thread.h"

#include <chrono>

namespace trainc {

DiskStream::~DiskStream() {
  {
    const std::scoped_lock lock(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable())
    thread_.join();
}

Status DiskStream::Transfer::run() const {
  const double begin = steadySeconds(), worked = threadSeconds();
  const Status status = toDisk ? arena->write(onDisk, memory) : arena->read(memory, onDisk);
  if (ran)
    *ran = {begin, steadySeconds(), threadSeconds() - worked};
  return of.located(status);
}

DiskStream::Number DiskStream::start(const Transfer &transfer) {
  if (!thread_.joinable())
    thread_ = tryStartThread([this] { work(); });
  std::unique_lock lock(mutex_);
  if (!thread_.joinable()) { // the system cannot start another thread
    ended_ = ++started_;
    note(transfer, status_.ok() ? transfer.run() : status_);
    return started_;
  }
  changed_.wait(lock, [&] { return started_ - ended_ < kRoom; });
  ring_[++started_ % kRoom] = transfer;
  changed_.notify_all();
  return started_;
}

/// Reports progress during the wait, because peers take a rank without progress for hung.
Status DiskStream::wait(Number number, const std::function<void()> &onProgress) {
  constexpr std::chrono::milliseconds often(100);
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, often, [&] { return ended_ >= number; }))
    if (onProgress)
      onProgress();
  return status_;
}

Status DiskStream::waitForAll() {
  std::unique_lock lock(mutex_);
  waitForEnds(lock);
  return status_;
}

Status DiskStream::waitForStores() {
  std::unique_lock lock(mutex_);
  waitForEnds(lock);
  return stored_;
}

void DiskStream::waitForEnds(std::unique_lock<std::mutex> &lock) {
  changed_.wait(lock, [this, last = started_] { return ended_ >= last; });
}

/// `status` is the earlier failure if the transfer was skipped.
void DiskStream::note(const Transfer &ended, const Status &status) {
  if (status.ok())
    return;
  status_ = status;
  if (ended.toDisk && stored_.ok())
    stored_ = status;
}

void DiskStream::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stops_ || ended_ < started_; });
    if (ended_ == started_)
      return;
    const Transfer next = ring_[(ended_ + 1) % kRoom];
    const Status before = status_;
    lock.unlock();
    const Status status = before.ok() ? next.run() : before;
    lock.lock();
    ++ended_;
    note(next, status);
    changed_.notify_all();
  }
}

} // namespace trainc
