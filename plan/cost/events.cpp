#include "plan/cost/events.h"

#include <algorithm>
#include <cassert>
#include <deque>
#include <limits>
#include <optional>

namespace trainc {

namespace {

constexpr uint32_t kCompute = Task::kComputeStream;

/// Minimum fraction of its rate that computation keeps.
constexpr double kMinRate = 0.1;

/// Times that differ by less are equal, up to the order of summation.
constexpr double kSame = 1e-12;

/// State of the simulation, which advances from one end of a task to the next.
class Run {
public:
  Run(const std::vector<Task> &tasks, const std::vector<StreamSlowdown> &slowdowns)
      : tasks_(tasks), slowdowns_(slowdowns), streams_(slowdowns.size()), isDone_(tasks.size()) {
    result_.tasks.resize(tasks.size());
    result_.streams.resize(slowdowns.size());
    for (uint32_t number = 0; number < tasks.size(); ++number) {
      assert(tasks[number].stream < slowdowns.size());
      needed_ += tasks[number].outlasts ? 0 : 1;
      streams_[tasks[number].stream].waiting.push_back(number);
    }
  }

  Schedule finish() {
    do
      begin();
    while (pass());
    return std::move(result_);
  }

private:
  struct Running {
    uint32_t task;
    double left; ///< remaining seconds without contention
  };
  struct Stream {
    std::deque<uint32_t> waiting;
    std::optional<Running> running;
  };

  bool computes() const { return streams_[kCompute].running.has_value(); }

  double rate(uint32_t stream) const {
    if (stream != kCompute)
      return computes() ? slowdowns_[stream].share : 1;
    double rate = 1;
    for (uint32_t other = 0; other < streams_.size(); ++other)
      if (const auto &running = streams_[other].running; running && slowdowns_[other].taken > 0)
        rate -= slowdowns_[other].taken / tasks_[running->task].seconds;
    return std::max(rate, kMinRate);
  }

  bool mayBegin(uint32_t task) const {
    return std::ranges::all_of(tasks_[task].after, [&](uint32_t other) { return isDone_[other]; });
  }

  /// Begins all tasks that can begin.
  void begin() {
    for (uint32_t number = 0; number < streams_.size(); ++number) {
      Stream &stream = streams_[number];
      if (stream.running || stream.waiting.empty() || !mayBegin(stream.waiting.front()))
        continue;
      const uint32_t task = stream.waiting.front();
      stream.waiting.pop_front();
      stream.running = {task, tasks_[task].seconds};
      result_.tasks[task].begin = now_;
      if (number == kCompute)
        addWait(task);
    }
  }

  /// Advances to the next end of a task. Returns whether a task ran.
  bool pass() {
    double step = std::numeric_limits<double>::infinity();
    for (uint32_t number = 0; number < streams_.size(); ++number)
      if (streams_[number].running)
        step = std::min(step, streams_[number].running->left / rate(number));
    if (step == std::numeric_limits<double>::infinity())
      return false;
    const bool computed = computes();
    std::vector<uint32_t> ending;
    for (uint32_t number = 0; number < streams_.size(); ++number)
      if (auto &running = streams_[number].running) {
        const double takes = running->left / rate(number);
        if (needed_ > 0) {
          result_.streams[number].busy += step;
          result_.streams[number].exposed += computed ? 0 : step;
        }
        if (takes <= step * (1 + kSame))
          ending.push_back(number);
        else
          running->left -= step * rate(number);
      }
    now_ += step;
    for (const uint32_t number : ending)
      end(streams_[number]);
    return true;
  }

  void end(Stream &stream) {
    lastEnded_ = stream.running->task;
    result_.tasks[lastEnded_].end = now_;
    isDone_[lastEnded_] = true;
    if (tasks_[lastEnded_].stream == kCompute)
      computeEnd_ = now_;
    stream.running.reset();
    if (tasks_[lastEnded_].outlasts || --needed_ > 0)
      return;
    result_.seconds = now_;
    addWait(ComputeWait::kEnd);
  }

  /// Records idle time of the compute stream before `task`, if any.
  void addWait(uint32_t task) {
    if (now_ > computeEnd_)
      result_.waits.push_back({{computeEnd_, now_}, task, lastEnded_});
  }

  const std::vector<Task> &tasks_;
  const std::vector<StreamSlowdown> &slowdowns_;
  std::vector<Stream> streams_;
  std::vector<bool> isDone_;
  double now_ = 0, computeEnd_ = 0;
  uint32_t lastEnded_ = 0;
  size_t needed_ = 0; ///< unfinished tasks, except for outlasting ones
  Schedule result_;
};

} // namespace

Schedule runTasks(const std::vector<Task> &tasks, const std::vector<StreamSlowdown> &slowdowns) {
  return Run(tasks, slowdowns).finish();
}

} // namespace trainc
