#include "plan/facts/step_entries.h"

#include "plan/schema/entry_names.h"

#include <algorithm>

namespace trainc {

std::vector<const fb::Entry *> stepEntries(const fb::Plan &plan) {
  std::vector<const fb::Entry *> entries;
  for (const std::string_view name : kStepEntries)
    for (const fb::Entry *entry : *plan.entries())
      if (entry->name()->string_view() == name && runsPerStep(plan, *entry) > 0)
        entries.push_back(entry);
  return entries;
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
