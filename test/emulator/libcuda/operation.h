// What the emulated device does, and the order that streams, events and graphs demand of it.
#pragma once

#include "test/emulator/libcuda/api.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace trainc::emulator {

class Scheduler;

/// Why a device can do no more.
struct Failure {
  CUresult result;
  std::string text;
};

/// One thing to do. A node of a graph is done once in each launch.
struct Work {
  std::string what = {}; ///< for messages of failures; empty: they say it themselves
  /// None: nothing to do, but to come after others. Runs without the driver's lock; the seed is for orders of
  /// its own.
  std::function<std::optional<Failure>(uint64_t seed)> run = {};
  /// Asked until it says yes, before run(), without the driver's lock; none: always ready.
  std::function<bool()> isReady = {};
  /// Host memory that is worth nothing from the call on until the work is done.
  std::span<std::byte> late = {};
  /// Whether it uses host memory otherwise: what is late must not be spoilt before.
  bool usesHost = false;
};

/// What a context has of the device that all threads see.
struct ContextState {
  CUresult error = CUDA_SUCCESS; ///< stays, as after a fault of hardware
  bool destroyed = false;
  uint64_t pending = 0; ///< operations that are not done
};

/// Work that was given to a device. All members are guarded by the driver's lock.
struct Operation {
  std::shared_ptr<const Work> work;
  Scheduler *scheduler = nullptr;
  std::shared_ptr<ContextState> context;
  uint64_t lane = 0;     ///< of what runs one after the other, such as a stream
  uint32_t waitsFor = 0; ///< operations that are not done
  std::vector<std::shared_ptr<Operation>> dependents;
  bool done = false;
};
using OperationRef = std::shared_ptr<Operation>;

} // namespace trainc::emulator
