// Thread of the emulated device: executes ready operations in random order, and often late.
#pragma once

#include "test/emulator/libcuda/operation.h"

#include <chrono>
#include <condition_variable>
#include <initializer_list>
#include <mutex>
#include <random>

namespace trainc::emulator {

/// Set on a device's thread while it executes work: entry points must not be called there.
extern thread_local bool onDeviceThread;

/// State shared by all devices of the process.
struct DriverLock {
  std::mutex mutex;
  std::condition_variable changed; ///< an operation is done, ready, or awaited
  unsigned waiting = 0;            ///< host threads that wait for operations
  uint64_t hostWork = 0;           ///< unfinished operations that use host memory
  unsigned running = 0;            ///< devices that are executing
  bool ending = false;             ///< whether the process is ending
};

/// Executes operations one after the other, each after its dependencies. Progress relative to the host is
/// random: after a host call the device executes a few operations, or none until somebody waits or time has
/// passed.
class Scheduler {
public:
  Scheduler(DriverLock &lock, std::string name, uint64_t seed);
  Scheduler(const Scheduler &) = delete;
  Scheduler &operator=(const Scheduler &) = delete;
  ~Scheduler();

  // Called with the driver's lock held:

  /// Submits work that depends on operations of any device.
  OperationRef add(std::shared_ptr<const Work> work, std::shared_ptr<ContextState> context, uint64_t lane,
                   std::span<const OperationRef> after);
  /// Called on each host call: draws how far the device advances.
  void hostCalled();
  /// Called when the host polls: the device must advance.
  void hostPolls();
  /// Returns once the executing work is done; none begins before resume().
  void pause(std::unique_lock<std::mutex> &held);
  void resume();
  /// A random number for behaviour that the driver leaves open.
  uint64_t draw() { return random_(); }

private:
  using Clock = std::chrono::steady_clock;

  void loop();
  bool mayRun();
  OperationRef choose();
  size_t indexOfChoice(const std::vector<size_t> &candidates);
  void run(const OperationRef &operation, std::unique_lock<std::mutex> &held);
  void complete(const OperationRef &operation);
  void makeReady(const OperationRef &operation);

  DriverLock &lock_;
  std::string name_;
  std::mt19937_64 random_;
  std::vector<OperationRef> ready_;      ///< in the order in which they became ready
  std::vector<const Operation *> asked_; ///< those of ready_ that declined in this round
  uint64_t turns_ = 0;                   ///< operations the device may execute on its own
  Clock::time_point later_;              ///< when it may execute more
  unsigned pauses_ = 0;
  bool running_ = false, stopping_ = false, stopped_ = false;
  enum class Taste { kAny, kOldest, kNewest, kLane } taste_ = Taste::kAny;
  uint64_t tasteTurns_ = 0, favour_ = 0;
};

/// Fills the host memory that the work will write with recognisable garbage.
void spoilLate(const Work &work);

/// Waits, with the lock held, until `isDone`; devices run meanwhile.
template <typename Predicate>
void waitUntil(DriverLock &lock, std::unique_lock<std::mutex> &held, Predicate isDone) {
  ++lock.waiting;
  lock.changed.notify_all();
  lock.changed.wait(held, isDone);
  --lock.waiting;
}

} // namespace trainc::emulator
