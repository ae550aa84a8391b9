// Errors that occur asynchronously.
#pragma once

#include "base/status.h"

#include <mutex>
#include <utility>

namespace trainc {

/// The first asynchronous error of the device's work. Thread-safe.
class CudaFault {
public:
  void note(Status status) {
    const std::lock_guard lock(mutex_);
    if (status_.ok())
      status_ = std::move(status);
  }
  Status status() const {
    const std::lock_guard lock(mutex_);
    return status_;
  }

private:
  mutable std::mutex mutex_;
  Status status_;
};

} // namespace trainc
