#include "runtime/comm/communicator.h"

#include "runtime/comm/outline.h"
#include "runtime/plan/dtype.h"

namespace trainc {

const char *collectiveName(CollectiveKind kind) {
  static constexpr const char *names[] = {"all-reduce", "reduce-scatter", "all-gather", "barrier",
                                          "farewell"};
  return names[static_cast<size_t>(kind)];
}

std::string describe(const Collective &collective) { return describe(outlineOf(collective)); }

uint64_t ringBytes(const Collective &collective, uint32_t ranks) {
  const uint64_t rounds = collective.kind == CollectiveKind::kAllReduce ? 2 : 1;
  uint64_t bytes = 0;
  for (const CollectiveRange &range : collective.ranges)
    bytes += rounds * range.elements * elementBytes(range.dtype) * (ranks - 1) / ranks;
  return bytes;
}

} // namespace trainc
