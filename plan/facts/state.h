// Sharding of a plan's states.
#pragma once

#include "plan/facts/mesh.h"
#include "plan/schema/plan_generated.h"

#include <optional>

namespace trainc {

/// Group of ranks among which the flat tensor that contains the state is sharded; none if each rank holds the
/// whole tensor.
inline std::optional<RankGroupShape> shardingOf(const fb::Plan &plan, const fb::State &state) {
  return state.sharded() ? std::optional(shapeOf(plan, axesOf(*state.sharded()))) : std::nullopt;
}

/// Number of shards of the flat tensor that contains the state.
inline uint32_t shardsOf(const fb::Plan &plan, const fb::State &state) {
  const std::optional<RankGroupShape> group = shardingOf(plan, state);
  return group ? group->members : 1;
}

} // namespace trainc
