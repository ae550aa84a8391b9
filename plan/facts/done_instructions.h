// Instructions of an entry that are done when another one begins.
#pragma once

#include "plan/facts/streams.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace trainc {

/// Returns the numbers in the `after` of a plan's instruction.
inline std::span<const uint32_t> afterOf(const fb::Instruction &instruction) {
  const auto *after = instruction.after();
  return after ? std::span(after->data(), after->size()) : std::span<const uint32_t>();
}

/// Follows the instructions of an entry in their order. An instruction begins when the previous one on its
/// stream and those in its `after` are done.
class DoneInstructions {
public:
  /// For each stream, one past the number of the last instruction on that stream that is done; 0 if none is.
  using Counts = std::array<uint32_t, kStreams>;

  /// Returns the counts at the begin of the next instruction, which is on `stream` and has `after`.
  template <typename Numbers> Counts before(size_t stream, Numbers &&after) const {
    Counts done = onStream_[stream].empty() ? Counts{} : done_[onStream_[stream].back()];
    for (const auto other : after)
      for (size_t each = 0; each < kStreams; ++each)
        done[each] = std::max(done[each], done_[other][each]);
    return done;
  }

  /// Adds the next instruction; `before` holds the counts at its begin.
  void add(size_t stream, const Counts &before) {
    const auto number = static_cast<uint32_t>(done_.size());
    onStream_[stream].push_back(number);
    done_.push_back(before);
    done_.back()[stream] = number + 1;
  }

  /// Numbers of the instructions on a stream, ascending.
  const std::vector<uint32_t> &on(size_t stream) const { return onStream_[stream]; }
  /// Counts at the end of an instruction.
  const Counts &operator[](size_t number) const { return done_[number]; }

private:
  std::vector<Counts> done_; ///< by instruction
  std::array<std::vector<uint32_t>, kStreams> onStream_;
};

} // namespace trainc
