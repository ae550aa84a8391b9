#include "tools/report/collectives.h"

#include "runtime/plan/collective.h"

#include <map>

namespace trainc::report {

/// What each rank sends in a ring.
static uint64_t ringBytesOf(const fb::Plan &plan, const fb::Collective &collective) {
  const uint64_t ranks = groupRanks(plan, collective.group());
  const uint64_t passes = collective.kind() == fb::CollectiveKind::AllReduce ? 2 : 1;
  uint64_t sent = 0;
  for (const fb::Range *range : *collective.ranges())
    sent += passes * range->elements() * elementBytes(range->dtype()) * (ranks - 1) / ranks;
  return sent;
}

std::vector<CollectiveSum> collectivesOf(const Analysis &analysis) {
  std::map<fb::CollectiveKind, CollectiveSum> sums;
  for (const EntryAnalysis &entry : analysis.entries)
    for (const Moment &moment : entry.moments) {
      const fb::Collective *collective = moment.instruction->operation_as_Collective();
      if (!collective || entry.runs == 0)
        continue;
      CollectiveSum &sum = sums[collective->kind()];
      sum.kind = collectiveName(collective->kind());
      sum.count += entry.runs;
      sum.sentBytes += entry.runs * ringBytesOf(analysis.plan, *collective);
      sum.seconds += static_cast<double>(entry.runs) * moment.seconds();
    }
  std::vector<CollectiveSum> result;
  for (auto &[kind, sum] : sums)
    result.push_back(std::move(sum));
  return result;
}

} // namespace trainc::report
