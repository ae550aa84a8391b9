// The emulated device's thread, which does what is ready in an order drawn at random, and often late.
#pragma once

#include "test/emulator/libcuda/operation.h"

#include <chrono>
#include <condition_variable>
#include <initializer_list>
#include <mutex>
#include <random>

namespace trainc::emulator {

/// Set on a device's thread while it works: no entry point may be called there.
extern thread_local bool onDeviceThread;

/// What all devices of the process share.
struct DriverLock {
  std::mutex mutex;
  std::condition_variable changed; ///< an operation is done, or ready, or awaited
  unsigned waiting = 0;            ///< host threads that wait for operations
  uint64_t hostWork = 0;           ///< operations that are not done and use host memory
  unsigned running = 0;            ///< devices that work just now
  bool ending = false;             ///< the process is
};

/// Runs operations one after the other, each once those before it are done. The host is ahead by chance: a
/// device takes a few turns after a call of the host, or none until somebody waits or time has passed.
class Scheduler {
public:
  Scheduler(DriverLock &lock, std::string name, uint64_t seed);
  Scheduler(const Scheduler &) = delete;
  Scheduler &operator=(const Scheduler &) = delete;
  ~Scheduler();

  // With the driver's lock held:

  /// Gives work to the device, which comes after others, of any device.
  OperationRef add(std::shared_ptr<const Work> work, std::shared_ptr<ContextState> context, uint64_t lane,
                   std::span<const OperationRef> after);
  /// The host has called: draws how far the device comes.
  void hostCalled();
  /// The host polls: the device must come on.
  void hostPolls();
  /// Returns once the work that runs now is done; none begins before resume().
  void pause(std::unique_lock<std::mutex> &held);
  void resume();
  /// A random number for what the driver may do or not.
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
  std::vector<OperationRef> ready_;      ///< in the order in which they became so
  std::vector<const Operation *> asked_; ///< of ready_: said that they are not, in this round
  uint64_t turns_ = 0;                   ///< that the device takes by itself
  Clock::time_point later_;              ///< when it takes more
  unsigned pauses_ = 0;
  bool running_ = false, stopping_ = false, stopped_ = false;
  enum class Taste { kAny, kOldest, kNewest, kLane } taste_ = Taste::kAny;
  uint64_t tasteTurns_ = 0, favour_ = 0;
};

/// Fills what the work will write to the host late with what nobody can mistake for it.
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
