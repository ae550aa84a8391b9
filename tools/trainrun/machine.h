// The device that the user chose.
#pragma once

#include "runtime/device/device.h"
#include "tools/trainrun/rank.h"

#include <memory>
#include <string>

namespace trainc {

/// Threads of a rank's device, unless --threads says otherwise.
unsigned defaultThreads(const Rank &rank);

/// A device, and the threads that it may use.
class Machine {
public:
  /// `device`: "auto", "cpu" or "null". `threads`: of the CPU.
  static Machine open(const std::string &device, unsigned threads);

  Device &device() { return *device_; }
  unsigned threads() const { return threads_; }

private:
  std::unique_ptr<Device> device_;
  unsigned threads_ = 1;
};

} // namespace trainc
