#include "tools/report/offloadable.h"

#include "plan/facts/memory_need.h"
#include "plan/facts/target.h"
#include "plan/facts/view.h"
#include "plan/schema/cuda_levels.h"
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
  const bool hasHost = isForCuda(analysis.plan);
  return space == "disk" || (space == "host" && hasHost) ? space.get<std::string>() : "";
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

/// Number of copies of a kind's bytes per step. Gradients begin as zeros, and are read for their norm and for
/// the update.
struct Trips {
  const char *offload;
  Kind kind;
  uint64_t fetches, stores;
};

std::vector<Trips> tripsOf(const Analysis &analysis) {
  const uint64_t microSteps = analysis.plan.training() ? analysis.plan.training()->accumulate() : 1;
  return {{"optimizer", Kind::Optimizer, 1, 1}, // by the update
          {"gradients", Kind::Gradient, microSteps + 2, microSteps + 1},
          {"parameters", Kind::Parameter, 2 * microSteps + 1, 1}, // by forward, backward and update
          {"activations", Kind::Activation, microSteps, microSteps}};
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
  for (const Trips &trips : tripsOf(analysis)) {
    const auto kind = static_cast<size_t>(trips.kind);
    const Persistent held = persistentOf(analysis, trips.kind);
    const uint64_t bytes = trips.kind == Kind::Activation ? keptActivations(analysis) : held.bytes;
    if (bytes == 0 || verdict.host[kind] + verdict.disk[kind] > 0)
      continue;
    offloadable.kinds.push_back({trips.offload, bytes});
    if (trips.kind != Kind::Parameter || (analysis.plan.ranks() == 1 && held.types.size() == 1))
      offloadable.kinds.back().seconds =
          static_cast<double>(bytes) * (static_cast<double>(trips.fetches) / rates.fetch +
                                        static_cast<double>(trips.stores) / rates.store);
  }
  std::ranges::sort(offloadable.kinds, [](const OffloadableKind &a, const OffloadableKind &b) {
    return std::tie(b.bytes, a.offload) < std::tie(a.bytes, b.offload);
  });
  return offloadable;
}

} // namespace trainc::report
