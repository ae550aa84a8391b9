// The device that the user chose.
#pragma once

#include "runtime/device/device.h"

#include <map>
#include <memory>
#include <optional>

namespace trainc {

/// A device, and what checkpoints record of it.
class Machine {
public:
  /// `device`: "auto", "cpu" or "null". `threads`: of the CPU; empty: all.
  static Machine open(const std::string &device, std::optional<unsigned> threads);

  Device &device() { return *device_; }
  unsigned threads() const { return threads_; }
  /// What may change the bits of results: "kernels", the instruction set in use. Only once the plan's kernels
  /// are loaded.
  std::map<std::string, std::string> environment() const;

private:
  std::unique_ptr<Device> device_;
  unsigned threads_ = 1;
};

} // namespace trainc
