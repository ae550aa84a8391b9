// Work of the emulated device, and its ordering by streams, events and graphs.
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

/// Why a device can do no more work.
struct Failure {
  CUresult result;
  std::string text;
};

/// A unit of work. A node of a graph executes once per launch.
struct Work {
  std::string what = {}; ///< description for failures; empty if the failure's text is complete
  /// Empty: only orders other work. Runs without the driver's lock; `seed` is for random orders of its own.
  std::function<std::optional<Failure>(uint64_t seed)> run = {};
  /// Polled, without the driver's lock, until it returns true; empty: always ready.
  std::function<bool()> isReady = {};
  /// Host memory whose content is undefined from the call until the work is done.
  std::span<std::byte> late = {};
  /// Whether the work otherwise uses host memory, which must not be spoiled before it is done.
  bool usesHost = false;
};

/// State of a context on the device, shared by all threads.
struct ContextState {
  CUresult error = CUDA_SUCCESS; ///< permanent, like a hardware fault
  bool destroyed = false;
  uint64_t pending = 0; ///< operations that are not done
};

/// Work submitted to a device. All members are guarded by the driver's lock.
struct Operation {
  std::shared_ptr<const Work> work;
  Scheduler *scheduler = nullptr;
  std::shared_ptr<ContextState> context;
  uint64_t lane = 0;     ///< operations of a lane, such as a stream, execute in sequence
  uint32_t waitsFor = 0; ///< number of unfinished dependencies
  std::vector<std::shared_ptr<Operation>> dependents;
  bool done = false;
};
using OperationRef = std::shared_ptr<Operation>;

} // namespace trainc::emulator
