// Which bytes of a collective's tensor belong to which rank; the same for all engines.
#pragma once

#include "runtime/comm/communicator.h"
#include "runtime/plan/dtype.h"

#include <algorithm>
#include <cstdint>

namespace trainc {

inline constexpr uint64_t kCacheLine = 64;

/// A range of a tensor, in bytes.
struct ByteRange {
  uint64_t begin, end;
  uint64_t bytes() const { return end - begin; }
};

inline uint64_t wholeBytes(const Collective &collective) {
  return collective.elements * elementBytes(collective.dtype);
}

/// The part of one of `places` places: equal ones, except that all-reduce, where it is nobody's business who
/// adds what, gives whole cache lines, and the last places fewer or none.
inline ByteRange partOf(const Collective &collective, uint32_t places, uint32_t place) {
  const uint64_t bytes = wholeBytes(collective);
  uint64_t each = (bytes + places - 1) / places;
  if (collective.kind == CollectiveKind::kAllReduce)
    each = (each + kCacheLine - 1) / kCacheLine * kCacheLine;
  return {std::min(place * each, bytes), std::min((place + 1) * each, bytes)};
}

} // namespace trainc
