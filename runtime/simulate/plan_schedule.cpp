#include "runtime/simulate/plan_schedule.h"

#include "runtime/schema/entry_names.h"

#include <algorithm>

namespace trainc {

double predictedSeconds(const fb::Instruction &instruction) {
  return static_cast<double>(instruction.predicted_seconds());
}

std::vector<double> sharesBesideCompute(double link) {
  std::vector<double> shares(static_cast<size_t>(fb::Stream::MAX) + 1, 1);
  shares[static_cast<size_t>(fb::Stream::Communication)] = link;
  return shares;
}

Schedule scheduleOf(const fb::Entry &entry, const InstructionSeconds &seconds,
                    const std::vector<double> &shares) {
  static_assert(static_cast<uint32_t>(fb::Stream::Compute) == Task::kComputeStream);
  std::vector<Task> tasks;
  tasks.reserve(entry.instructions()->size());
  for (const fb::Instruction *instruction : *entry.instructions()) {
    Task task{.stream = static_cast<uint32_t>(instruction->stream()),
              .seconds = seconds(*instruction),
              .after = {}};
    if (const auto *after = instruction->after())
      task.after.assign(after->begin(), after->end());
    tasks.push_back(std::move(task));
  }
  return runTasks(tasks, shares);
}

uint64_t runsPerStep(const fb::Plan &plan, const fb::Entry &entry) {
  const std::string_view name = entry.name()->string_view();
  if (name != kMicroStepEntry)
    return std::ranges::find(kStepEntries, name) != kStepEntries.end() ? 1 : 0;
  const bool isLastApart = std::ranges::any_of(*plan.entries(), [](const fb::Entry *each) {
    return each->name()->string_view() == kLastMicroStepEntry;
  });
  const uint64_t accumulate = plan.training() ? plan.training()->accumulate() : 1;
  return accumulate - (isLastApart ? 1 : 0);
}

} // namespace trainc
