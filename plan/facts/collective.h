// Traits of kinds of collectives, and sizes of sources and destinations on a rank.
#pragma once

#include "plan/facts/dtype.h"
#include "plan/facts/mesh.h"
#include "plan/schema/limits.h"
#include "plan/schema/plan_generated.h"

#include <cstdint>

namespace trainc {

/// Number of ranks in each group of the collective.
inline uint32_t groupRanks(const fb::Plan &plan, const fb::Collective &collective) {
  return shapeOf(plan, axesOf(*collective.axes())).members;
}

/// Properties of a kind of collective.
struct CollectiveTraits {
  /// Whether a rank holds a shard of the tensor before and after the collective, or the whole tensor.
  bool sourceIsShard = false, destinationIsShard = false;
  bool sums = false; ///< values of all ranks, element by element
  /// Number of passes through a ring; in each, a rank sends (members - 1) / members of the tensor.
  uint32_t rounds = 1;
};
CollectiveTraits traitsOf(fb::CollectiveKind kind);

/// Element type of a range's destination.
inline fb::DType destinationType(const fb::Range &range) {
  return range.widens() ? fb::DType::F32 : range.dtype();
}

/// Bytes of a verified range's source: the whole tensor, or a shard.
inline uint64_t sourceBytes(const fb::Plan &plan, const fb::Collective &collective, const fb::Range &range) {
  const uint64_t bytes = range.elements() * elementBytes(range.dtype());
  return traitsOf(collective.kind()).sourceIsShard ? bytes / groupRanks(plan, collective) : bytes;
}

/// Bytes of a verified range's destination: the whole tensor, or a shard.
inline uint64_t destinationBytes(const fb::Plan &plan, const fb::Collective &collective,
                                 const fb::Range &range) {
  const uint64_t bytes = range.elements() * elementBytes(destinationType(range));
  return traitsOf(collective.kind()).destinationIsShard ? bytes / groupRanks(plan, collective) : bytes;
}

/// Whether ranks can sum values of the type.
inline bool isSummed(fb::DType dtype) {
  return dtype == fb::DType::F32 || dtype == fb::DType::BF16 || dtype == fb::DType::F16;
}

/// Minimum bytes of the receive buffer of a sum by a kernel, per other rank (Range.workspace).
inline constexpr uint64_t kMinPieceBytes = 64;

/// "all-reduce", "reduce-scatter", "all-gather".
const char *collectiveName(fb::CollectiveKind kind);

} // namespace trainc
