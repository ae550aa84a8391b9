// The key-value cache of generation.
#pragma once

#include "lib/Instantiate/StateTable.h"

namespace trainc {

/// Caches are states `cache.0`, `cache.1`, ... in order of appends; prefill and decode share them.
class KeyValueCache : public CacheScope {
public:
  /// `position` is the place of the first token that the entry is given.
  KeyValueCache(StateTable &states, mlir::Value position, int64_t capacity)
      : states(states), first(position), size(capacity) {}

  mlir::Value position() override { return first; }
  int64_t capacity() const override { return size; }
  mlir::Value append(mlir::OpBuilder &builder, mlir::Value rows) override;

private:
  StateTable &states;
  mlir::Value first;
  int64_t size;
  int64_t appended = 0;
};

} // namespace trainc
