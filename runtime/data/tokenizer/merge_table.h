// The merges of a BPE model, by pairs of ids.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace trainc {

struct Merge {
  uint32_t rank; ///< the lowest is applied first
  uint32_t id;   ///< of the token that the two become
};

/// A hash table with open addresses: a lookup reads one cache line as a rule.
class MergeTable {
public:
  explicit MergeTable(size_t merges = 0) : slots_(std::bit_ceil(2 * merges + 2)) {}

  /// Sets the merge of two ids, which at most as many pairs as were announced may have.
  void set(uint32_t left, uint32_t right, Merge merge) {
    Slot &slot = slots_[slotOf(left, right)];
    slot = {left, right, merge};
  }

  /// The merge of the two, or null.
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

  /// Where the pair is, or where it would go.
  size_t slotOf(uint32_t left, uint32_t right) const {
    const uint64_t key = uint64_t{left} << 32 | right;
    size_t slot = (key * 0x9E3779B97F4A7C15) >> 32; // Fibonacci hashing: high bits depend on all
    for (;; ++slot) {
      slot &= slots_.size() - 1;
      if (slots_[slot].left == kNoId || (slots_[slot].left == left && slots_[slot].right == right))
        return slot;
    }
  }

  std::vector<Slot> slots_;
};

} // namespace trainc
