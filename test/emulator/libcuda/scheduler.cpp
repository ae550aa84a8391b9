#include "test/emulator/libcuda/scheduler.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <thread>

namespace trainc::emulator {

thread_local bool onDeviceThread = false;

namespace {

/// Maximum operations that the device executes before the host continues.
constexpr uint64_t kTurnsAhead = 64;
/// Maximum delay, in microseconds, of work that nobody waits for: peers may wait for it.
constexpr uint64_t kMaxDelayMicroseconds = 2000;
/// Interval of polling work that waits for peers.
constexpr std::chrono::microseconds kAskAgain{50};
/// Fill byte that makes numbers of every float type NaN.
constexpr int kNotYetRead = 0xff;

bool isDropped(const Operation &operation) {
  return operation.context->destroyed || operation.context->error != CUDA_SUCCESS;
}

uint64_t mix(uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  return value ^ value >> 27;
}

} // namespace

void spoilLate(const Work &work) {
  if (!work.late.empty())
    std::memset(work.late.data(), kNotYetRead, work.late.size());
}

Scheduler::Scheduler(DriverLock &lock, std::string name, uint64_t seed)
    : lock_(lock), name_(std::move(name)), random_(seed) {
  std::thread([this] { loop(); }).detach(); // joined by the destructor, but not at process exit
}

Scheduler::~Scheduler() {
  std::unique_lock held(lock_.mutex);
  stopping_ = true;
  lock_.changed.notify_all();
  lock_.changed.wait(held, [this] { return stopped_; });
}

OperationRef Scheduler::add(std::shared_ptr<const Work> work, std::shared_ptr<ContextState> context,
                            uint64_t lane, std::span<const OperationRef> after) {
  auto operation = std::make_shared<Operation>();
  operation->work = std::move(work);
  operation->scheduler = this;
  operation->context = std::move(context);
  operation->lane = lane;
  for (const OperationRef &before : after)
    if (before && !before->done) {
      before->dependents.push_back(operation);
      ++operation->waitsFor;
    }
  ++operation->context->pending;
  lock_.hostWork += operation->work->usesHost;
  if (operation->waitsFor == 0)
    makeReady(operation);
  return operation;
}

void Scheduler::makeReady(const OperationRef &operation) {
  if (!isDropped(*operation)) // all earlier users of the memory are done
    spoilLate(*operation->work);
  ready_.push_back(operation);
}

void Scheduler::hostCalled() {
  turns_ = random_() % 2 * (random_() % kTurnsAhead);
  later_ = Clock::now() + std::chrono::microseconds(random_() % kMaxDelayMicroseconds);
  lock_.changed.notify_all();
}

void Scheduler::hostPolls() {
  turns_ += 1 + random_() % 4;
  lock_.changed.notify_all();
}

void Scheduler::pause(std::unique_lock<std::mutex> &held) {
  ++pauses_;
  lock_.changed.wait(held, [this] { return !running_; });
}

void Scheduler::resume() {
  --pauses_;
  lock_.changed.notify_all();
}

void Scheduler::loop() {
  std::unique_lock held(lock_.mutex);
  while (!stopping_ && !lock_.ending) {
    if (ready_.empty() || pauses_ > 0) {
      lock_.changed.wait(held);
    } else if (!mayRun()) {
      lock_.changed.wait_until(held, later_);
    } else if (const OperationRef operation = choose()) {
      run(operation, held);
    } else { // all ready operations wait for peers
      asked_.clear();
      lock_.changed.wait_for(held, kAskAgain);
    }
  }
  stopped_ = true;
  lock_.changed.notify_all();
}

bool Scheduler::mayRun() {
  if (lock_.waiting > 0 || turns_ > 0)
    return true;
  if (Clock::now() < later_)
    return false;
  turns_ = 1 + random_() % kTurnsAhead;
  return true;
}

/// An operation to try; null if none is left in this round.
OperationRef Scheduler::choose() {
  std::vector<size_t> candidates;
  for (size_t i = 0; i < ready_.size(); ++i)
    if (std::ranges::find(asked_, ready_[i].get()) == asked_.end())
      candidates.push_back(i);
  if (candidates.empty())
    return nullptr;
  return ready_[indexOfChoice(candidates)];
}

/// For a while the device prefers the oldest, the newest or one stream, so that one executes as early and
/// another as late as possible.
size_t Scheduler::indexOfChoice(const std::vector<size_t> &candidates) {
  if (tasteTurns_-- == 0) {
    tasteTurns_ = random_() % kTurnsAhead;
    taste_ = static_cast<Taste>(random_() % 4);
    favour_ = random_();
  }
  switch (taste_) {
  case Taste::kOldest:
    return candidates.front();
  case Taste::kNewest:
    return candidates.back();
  case Taste::kLane:
    return *std::ranges::min_element(candidates, {},
                                     [this](size_t each) { return mix(ready_[each]->lane ^ favour_); });
  case Taste::kAny:
    break;
  }
  return candidates[random_() % candidates.size()];
}

void Scheduler::run(const OperationRef &operation, std::unique_lock<std::mutex> &held) {
  const Work &work = *operation->work;
  std::optional<Failure> failure;
  bool isReady = true;
  if (!isDropped(*operation)) {
    const uint64_t seed = random_();
    running_ = true;
    ++lock_.running;
    held.unlock();
    onDeviceThread = true;
    isReady = !work.isReady || work.isReady();
    if (isReady && work.run)
      failure = work.run(seed);
    onDeviceThread = false;
    held.lock();
    running_ = false;
    --lock_.running;
    lock_.changed.notify_all();
  }
  if (!isReady) {
    asked_.push_back(operation.get());
    return;
  }
  if (failure) {
    operation->context->error = failure->result;
    fmt::print(stderr, "emulated GPU: {}: {}{}{}\n", name_, work.what, work.what.empty() ? "" : ": ",
               failure->text);
  }
  std::erase(ready_, operation);
  asked_.clear();
  turns_ -= turns_ > 0;
  complete(operation);
}

void Scheduler::complete(const OperationRef &operation) {
  operation->done = true;
  --operation->context->pending;
  lock_.hostWork -= operation->work->usesHost;
  operation->work.reset(); // releases its resources
  for (const OperationRef &dependent : operation->dependents)
    if (--dependent->waitsFor == 0)
      dependent->scheduler->makeReady(dependent);
  operation->dependents.clear();
  lock_.changed.notify_all();
}

} // namespace trainc::emulator
