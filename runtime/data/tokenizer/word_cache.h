// Cache of encoded words.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>
#include <xxhash.h>

namespace trainc {

/// A fixed-size table from short words to a few ids, one cache line per entry; new words replace old ones.
class WordCache {
public:
  /// The ids of `word`; empty if not cached.
  std::span<const uint32_t> find(std::string_view word) const {
    if (word.size() > kMaxBytes || entries_.empty())
      return {};
    const Entry *set = &entries_[setOf(word)];
    for (size_t way = 0; way < kWays; ++way)
      if (const Entry &entry = set[way]; entry.bytes == word.size() && entry.count > 0 &&
                                         std::memcmp(entry.word.data(), word.data(), word.size()) == 0)
        return {entry.ids.data(), entry.count};
    return {};
  }

  void insert(std::string_view word, std::span<const uint32_t> ids) {
    if (word.size() > kMaxBytes || ids.size() > kMaxIds)
      return;
    entries_.resize(kSlots);
    Entry *set = &entries_[setOf(word)];
    std::move_backward(set, set + kWays - 1, set + kWays); // drops the oldest
    Entry &entry = *set;
    entry.bytes = static_cast<uint8_t>(word.size());
    entry.count = static_cast<uint8_t>(ids.size());
    std::memcpy(entry.word.data(), word.data(), word.size());
    std::memcpy(entry.ids.data(), ids.data(), ids.size_bytes());
  }

private:
  static constexpr size_t kSlots = 1 << 17, kWays = 4, kMaxBytes = 30, kMaxIds = 8;
  struct alignas(64) Entry {
    uint8_t bytes = 0;
    uint8_t count = 0;
    std::array<char, kMaxBytes> word{};
    std::array<uint32_t, kMaxIds> ids{};
  };

  static size_t setOf(std::string_view word) {
    return XXH3_64bits(word.data(), word.size()) % (kSlots / kWays) * kWays;
  }

  std::vector<Entry> entries_; ///< empty before the first insert()
};

} // namespace trainc
