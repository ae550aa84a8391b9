#include "tools/report/offloadable.h"

#include "plan/facts/memory_need.h"
#include "plan/facts/offload_kinds.h"
#include "plan/facts/target.h"
#include "plan/facts/view.h"
#include "plan/simulate/simulation.h"
#include "tools/report/peak.h"
#include "tools/report/verdict.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace trainc::report {

namespace {

/// Target space of offloading according to the compile report, if it adds memory; empty otherwise.
std::string offloadSpace(const Analysis &analysis) {
  const nlohmann::json space = analysis.compileReport.value("offload_to", nlohmann::json());
  return space == "disk" || (space == "host" && !targetOf(analysis.plan).isHost) ? space.get<std::string>()
                                                                                 : "";
}

/// Bytes per second of fetches and stores; infinity if unknown.
struct Rates {
  double fetch, store;

  bool areKnown() const { return std::isfinite(fetch) && std::isfinite(store); }
};

Rates ratesOf(const fb::Plan &plan, std::string_view place) {
  const Machine machine = clusterOf(plan).machineOf(plan.ranks());
  if (place == "disk")
    return {machine.diskReadBytesPerSecond, machine.diskWriteBytesPerSecond};
  return {machine.hostBytesPerSecond, machine.hostBytesPerSecond};
}

/// Persistent bytes in the device's memory.
struct Persistent {
  uint64_t bytes = 0;
  std::set<fb::DType> types;
};

Persistent persistentOf(const Analysis &analysis, Kind kind) {
  const fb::Plan &plan = analysis.plan;
  Persistent found;
  for (uint32_t i = 0; i < plan.buffers()->size(); ++i) {
    const fb::Buffer &buffer = *plan.buffers()->Get(i);
    const fb::Arena &arena = *plan.arenas()->Get(buffer.arena());
    if (!isLimited(plan, arena) || !arena.persistent() || analysis.labels.kind(i) != kind)
      continue;
    found.bytes += buffer.bytes();
    found.types.insert(buffer.dtype());
  }
  return found;
}

uint64_t keptActivations(const Analysis &analysis) {
  uint64_t bytes = 0;
  for (const RecomputableValue &each : recomputableValues(analysis))
    bytes += each.bytes;
  return bytes;
}

} // namespace

OffloadableKinds offloadableKinds(const Analysis &analysis) {
  OffloadableKinds offloadable = {offloadSpace(analysis), {}};
  const Rates rates = ratesOf(analysis.plan, offloadable.to);
  if (offloadable.to.empty() || !rates.areKnown())
    return offloadable;
  const Verdict verdict = verdictOf(analysis);
  const uint64_t microBatches = analysis.plan.training() ? analysis.plan.training()->accumulate() : 1;
  for (const OffloadKind &each : kOffloadKinds) {
    const Kind kind = kindOf(each.role);
    const Persistent held = persistentOf(analysis, kind);
    const uint64_t bytes = kind == Kind::Activation ? keptActivations(analysis) : held.bytes;
    if (bytes == 0 || verdict.host.*each.bytes + verdict.disk.*each.bytes > 0)
      continue;
    offloadable.kinds.push_back({std::string(train::kOffload.wordFor(each.kind)), bytes});
    const CopiesPerStep copies = each.copies(microBatches);
    if (kind != Kind::Parameter || (analysis.plan.ranks() == 1 && held.types.size() == 1))
      offloadable.kinds.back().seconds =
          static_cast<double>(bytes) * (static_cast<double>(copies.fetches) / rates.fetch +
                                        static_cast<double>(copies.stores) / rates.store);
  }
  std::ranges::sort(offloadable.kinds, [](const OffloadableKind &a, const OffloadableKind &b) {
    return std::tie(b.bytes, a.offload) < std::tie(a.bytes, b.offload);
  });
  return offloadable;
}

} // namespace trainc::report
