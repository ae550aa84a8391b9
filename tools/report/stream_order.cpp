#include "tools/report/stream_order.h"

#include "plan/facts/streams.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace trainc::report {

namespace {

/// For each stream, the number of the entry's instructions up to the last one on that stream that is done.
using DoneCounts = std::array<uint32_t, kStreams>;

class OrderWalk {
public:
  explicit OrderWalk(const fb::Entry &entry) : entry_(entry) {
    order_.joined.assign(entry.instructions()->size(), entry.instructions()->size());
  }

  StreamOrder walk() {
    for (uint32_t i = 0; i < entry_.instructions()->size(); ++i)
      add(i, *entry_.instructions()->Get(i));
    return std::move(order_);
  }

private:
  void add(uint32_t index, const fb::Instruction &instruction) {
    const auto stream = static_cast<size_t>(instruction.stream());
    DoneCounts done{};
    if (!onStream_[stream].empty())
      done = done_[onStream_[stream].back()];
    if (instruction.after())
      for (const uint32_t other : *instruction.after())
        for (size_t each = 0; each < kStreams; ++each)
          done[each] = std::max(done[each], done_[other][each]);
    order_.waits += instruction.after() ? instruction.after()->size() : 0;
    for (size_t each = 0; each < kStreams; ++each)
      if (each != stream)
        order_.pairs += static_cast<uint64_t>(
            std::distance(std::ranges::lower_bound(onStream_[each], done[each]), onStream_[each].end()));
    if (instruction.stream() == fb::Stream::Compute)
      join(index, done);
    onStream_[stream].push_back(index);
    done[stream] = index + 1;
    done_.push_back(done);
  }

  /// Records the instructions that are newly known to be done when an instruction on the compute stream
  /// begins.
  void join(uint32_t index, const DoneCounts &done) {
    for (size_t each = 0; each < kStreams; ++each) {
      if (each == static_cast<size_t>(fb::Stream::Compute))
        continue;
      for (size_t &next = joined_[each]; next < onStream_[each].size() && onStream_[each][next] < done[each];
           ++next)
        order_.joined[onStream_[each][next]] = index;
    }
  }

  const fb::Entry &entry_;
  StreamOrder order_;
  std::vector<DoneCounts> done_;                         ///< by instruction: the state when it is done
  std::array<std::vector<uint32_t>, kStreams> onStream_; ///< instructions so far
  std::array<size_t, kStreams> joined_{}; ///< number of them known as done on the compute stream
};

} // namespace

StreamOrder orderOf(const fb::Entry &entry) { return OrderWalk(entry).walk(); }

} // namespace trainc::report
