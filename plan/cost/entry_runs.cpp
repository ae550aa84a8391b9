#include "plan/cost/entry_runs.h"

#include <algorithm>
#include <span>

namespace trainc {

namespace {

/// Tasks left over when an entry ends.
struct Left {
  struct Part {
    uint32_t task;
    double seconds;
  };
  size_t entry = 0;
  std::vector<Part> parts; ///< in order
};

class Step {
public:
  Step(const std::vector<EntryTasks> &entries, const WaitsForPrevious &waits,
       const std::vector<StreamSlowdown> &slowdowns)
      : entries_(entries), waits_(waits), slowdowns_(slowdowns) {}

  /// The first step begins without left-over tasks. If the last entry leaves some, the second step is
  /// representative.
  std::vector<EntryRuns> run() {
    std::vector<EntryRuns> runs = runOnce();
    return left_.parts.empty() ? runs : runOnce();
  }

private:
  std::vector<EntryRuns> runOnce() {
    std::vector<EntryRuns> runs;
    for (size_t entry = 0; entry < entries_.size(); ++entry)
      for (uint64_t waiting = entries_[entry].runs; waiting > 0;) {
        const bool meetsNothing = left_.parts.empty(),
                   meetsOwn = !meetsNothing && left_.entry == entry && leavesSome(entry);
        Schedule schedule = runAfterLeftOver(entry);
        const bool areOthersAlike = meetsOwn || (meetsNothing && left_.parts.empty());
        runs.push_back({entry, areOthersAlike ? waiting : 1, std::move(schedule)});
        waiting -= runs.back().runs;
      }
    return runs;
  }

  Schedule runAfterLeftOver(size_t entry) {
    const auto before = static_cast<uint32_t>(left_.parts.size());
    Schedule schedule = runTasks(tasksAfterLeftOver(entry), slowdowns_);
    const auto others = std::span<const TaskSpan>(schedule.tasks).first(before),
               own = std::span<const TaskSpan>(schedule.tasks).subspan(before);
    if (leavesSome(entry))
      leave(entry, own, schedule.seconds);
    else
      passOn(others, schedule.seconds);
    schedule.tasks.erase(schedule.tasks.begin(), schedule.tasks.begin() + before);
    for (ComputeWait &wait : schedule.waits) {
      wait.task -= wait.task == ComputeWait::kEnd ? 0 : before;
      wait.waitedFor = wait.waitedFor < before ? ComputeWait::kBefore : wait.waitedFor - before;
    }
    return schedule;
  }

  bool leavesSome(size_t entry) const { return std::ranges::any_of(entries_[entry].tasks, &Task::outlasts); }

  /// The entry's tasks, after the left-over ones on their stream.
  std::vector<Task> tasksAfterLeftOver(size_t entry) const {
    const std::vector<Task> &own = entries_[entry].tasks;
    if (left_.parts.empty())
      return own;
    std::vector<Task> tasks;
    for (const Left::Part &part : left_.parts)
      tasks.push_back({.stream = entries_[left_.entry].tasks[part.task].stream,
                       .seconds = part.seconds,
                       .after = {},
                       .outlasts = !leavesSome(entry)});
    const auto before = static_cast<uint32_t>(tasks.size());
    tasks.insert(tasks.end(), own.begin(), own.end());
    for (size_t i = before; i < tasks.size(); ++i)
      for (uint32_t &other : tasks[i].after)
        other += before;
    for (const TaskWait &wait : waits_(left_.entry, entry))
      waitFor(wait, tasks);
    return tasks;
  }

  /// Adds the wait, unless the task has already ended.
  void waitFor(const TaskWait &wait, std::vector<Task> &tasks) const {
    const auto next = std::ranges::upper_bound(left_.parts, wait.before, {}, &Left::Part::task);
    if (next != left_.parts.begin())
      tasks[left_.parts.size() + wait.task].after.push_back(
          static_cast<uint32_t>(next - left_.parts.begin() - 1));
  }

  /// Records the entry's tasks after its end as left over.
  void leave(size_t entry, std::span<const TaskSpan> tasks, double end) {
    left_ = {entry, {}};
    for (uint32_t i = 0; i < tasks.size(); ++i)
      if (entries_[entry].tasks[i].outlasts && tasks[i].end > end)
        left_.parts.push_back({i, tasks[i].end - std::max(tasks[i].begin, end)});
  }

  /// Keeps the left-over tasks that have not ended.
  void passOn(std::span<const TaskSpan> tasks, double end) {
    std::vector<Left::Part> parts;
    for (size_t i = 0; i < tasks.size(); ++i)
      if (tasks[i].end > end)
        parts.push_back({left_.parts[i].task, tasks[i].end - std::max(tasks[i].begin, end)});
    left_.parts = std::move(parts);
  }

  const std::vector<EntryTasks> &entries_;
  const WaitsForPrevious &waits_;
  const std::vector<StreamSlowdown> &slowdowns_;
  Left left_;
};

} // namespace

std::vector<EntryRuns> runStep(const std::vector<EntryTasks> &entries, const WaitsForPrevious &waits,
                               const std::vector<StreamSlowdown> &slowdowns) {
  return Step(entries, waits, slowdowns).run();
}

} // namespace trainc
