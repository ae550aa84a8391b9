// Rank groups of collectives, and sizes of sources and destinations on a rank.
#pragma once

#include "plan/cost/collective_seconds.h"
#include "plan/facts/dtype.h"
#include "plan/schema/limits.h"
#include "plan/schema/plan_generated.h"

#include <cstdint>

namespace trainc {

/// The shape of a group, of `ranks` in the job and `shardRanks` in a shard group.
inline RankGroupShape shapeOf(fb::Group group, uint32_t ranks, uint32_t shardRanks) {
  switch (group) {
  case fb::Group::All:
    break;
  case fb::Group::Shard:
    return {.all = ranks, .members = shardRanks, .stride = 1};
  case fb::Group::Replica:
    return {.all = ranks, .members = ranks / shardRanks, .stride = shardRanks};
  }
  return {.all = ranks, .members = ranks, .stride = 1};
}

/// Number of ranks in a group.
inline uint32_t groupRanks(const fb::Plan &plan, fb::Group group) {
  return shapeOf(group, plan.ranks(), plan.shard_ranks()).members;
}

/// Element type of a range's destination.
inline fb::DType destinationType(const fb::Range &range) {
  return range.widens() ? fb::DType::F32 : range.dtype();
}

/// Bytes of a verified range's source: the whole tensor, or a shard for AllGather.
inline uint64_t sourceBytes(const fb::Plan &plan, const fb::Collective &collective, const fb::Range &range) {
  const uint64_t bytes = range.elements() * elementBytes(range.dtype());
  return collective.kind() == fb::CollectiveKind::AllGather ? bytes / groupRanks(plan, collective.group())
                                                            : bytes;
}

/// Bytes of a verified range's destination: the whole tensor, or a shard for ReduceScatter.
inline uint64_t destinationBytes(const fb::Plan &plan, const fb::Collective &collective,
                                 const fb::Range &range) {
  const uint64_t bytes = range.elements() * elementBytes(destinationType(range));
  return collective.kind() == fb::CollectiveKind::ReduceScatter ? bytes / groupRanks(plan, collective.group())
                                                                : bytes;
}

/// Whether ranks can sum values of the type.
inline bool isSummed(fb::DType dtype) {
  return dtype == fb::DType::F32 || dtype == fb::DType::BF16 || dtype == fb::DType::F16;
}

/// Minimum bytes of the receive buffer of a sum by a kernel, per other rank (Range.workspace).
inline constexpr uint64_t kMinPieceBytes = 64;

/// "all-reduce", "reduce-scatter", "all-gather".
inline const char *collectiveName(fb::CollectiveKind kind) {
  static constexpr const char *names[] = {"all-reduce", "reduce-scatter", "all-gather"};
  return names[static_cast<size_t>(kind)];
}

} // namespace trainc
