#include "tools/report/collectives.h"

#include "plan/facts/collective.h"
#include "plan/facts/work.h"

#include <map>

namespace trainc::report {

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
      sum.sentBytes += entry.runs * static_cast<uint64_t>(exchangeOf(analysis.plan, *collective).bytesSent);
      sum.seconds += static_cast<double>(entry.runs) * moment.seconds();
    }
  std::vector<CollectiveSum> result;
  for (auto &[kind, sum] : sums)
    result.push_back(std::move(sum));
  return result;
}

} // namespace trainc::report
