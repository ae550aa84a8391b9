// Merges of a BPE model, keyed by pairs of ids.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace trainc {

struct Merge {
  uint32_t rank; ///< the lowest rank is applied first
  uint32_t id;   ///< the merged token
};

/// An open-addressing hash table; a lookup usually reads one cache line.
class MergeTable {
public:
  explicit MergeTable(size_t merges = 0) : slots_(std::bit_ceil(2 * merges + 2)) {}

  /// Sets the merge of two ids; for at most as many pairs as the constructor was told.
  void set(uint32_t left, uint32_t right, Merge merge) {
    Slot &slot = slots_[slotOf(left, right)];
    slot = {left, right, merge};
  }

  /// The merge of a pair, or null.
  const Merge *find(uint32_t left, uint32_t right) const {
    const Slot &slot = slots_[slotOf(left, right)];
    return slot.left == kNoId ? nullptr : &slot.merge;
  }

private:
  static constexpr uint32_t kNoId = static_cast<uint32_t>(-1);
  struct Slot {
    uint32_t left = kNoId;
    uint32_t right = kNoId;
    Merge merge{};
  };

  /// The slot of the pair, or the free slot where it would go.
  size_t slotOf(uint32_t left, uint32_t right) const {
    const uint64_t key = uint64_t{left} << 32 | right;
    size_t slot = (key * 0x9E3779B97F4A7C15) >> 32; // Fibonacci hashing: the high bits depend on all bits
    for (;; ++slot) {
      slot &= slots_.size() - 1;
      if (slots_[slot].left == kNoId || (slots_[slot].left == left && slots_[slot].right == right))
        return slot;
    }
  }

  std::vector<Slot> slots_;
};

} // namespace trainc
