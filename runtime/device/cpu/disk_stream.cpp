#include "runtime/device/cpu/disk_stream.h"

#include "runtime/base/thread.h"

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
  if (!thread_.joinable()) { // the system starts no more
    ended_ = ++started_;
    if (status_.ok())
      status_ = transfer.run();
    return started_;
  }
  changed_.wait(lock, [&] { return started_ - ended_ < kRoom; });
  ring_[++started_ % kRoom] = transfer;
  changed_.notify_all();
  return started_;
}

/// Peers take a rank for stuck that does not progress.
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
  changed_.wait(lock, [this, last = started_] { return ended_ >= last; });
  return status_;
}

void DiskStream::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stops_ || ended_ < started_; });
    if (ended_ == started_)
      return;
    const Transfer next = ring_[(ended_ + 1) % kRoom];
    const bool runs = status_.ok();
    lock.unlock();
    const Status status = runs ? next.run() : Status();
    lock.lock();
    ++ended_;
    if (!status.ok())
      status_ = status;
    changed_.notify_all();
  }
}

} // namespace trainc
