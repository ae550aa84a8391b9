#include "plan/facts/memory_need.h"

#include "base/json_text.h"
#include "plan/facts/settings.h"
#include "plan/facts/target.h"
#include "plan/facts/view.h"
#include "plan/settings/settings.h"

namespace trainc {

static std::optional<uint64_t> reportedBesides(const fb::Plan &plan) {
  const nlohmann::json report = tryParseJson(view(plan.report()));
  const nlohmann::json memory =
      report.is_object() ? report.value("memory", nlohmann::json()) : nlohmann::json();
  const nlohmann::json bytes =
      memory.is_object() ? memory.value("unplanned", nlohmann::json()) : nlohmann::json();
  return bytes.is_number_unsigned() ? std::optional(bytes.get<uint64_t>()) : std::nullopt;
}

std::optional<uint64_t> memoryLimitOf(const fb::Plan &plan) {
  return train::kMemoryLimit.given(PlanSettings(plan));
}

bool isLimited(const fb::Plan &plan, const fb::Arena &arena) {
  return arena.space() == fb::Space::Device || (arena.space() == fb::Space::Host && targetOf(plan).isHost);
}

ArenaBytes arenaBytesOf(const fb::Plan &plan) {
  ArenaBytes need;
  for (const fb::Arena *arena : *plan.arenas())
    (isLimited(plan, *arena)             ? need.arenas
     : arena->space() == fb::Space::Disk ? need.disk
                                         : need.host) += arena->bytes();
  return need;
}

MemoryNeed memoryNeedOf(const fb::Plan &plan) { return {arenaBytesOf(plan), reportedBesides(plan)}; }

} // namespace trainc
