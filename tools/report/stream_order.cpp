#include "tools/report/stream_order.h"

#include "plan/facts/done_instructions.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace trainc::report {

namespace {

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
    const DoneInstructions::Counts before = done_.before(stream, afterOf(instruction));
    order_.waits += afterOf(instruction).size();
    for (size_t each = 0; each < kStreams; ++each)
      if (each != stream)
        order_.pairs += static_cast<uint64_t>(
            std::distance(std::ranges::lower_bound(done_.on(each), before[each]), done_.on(each).end()));
    if (instruction.stream() == fb::Stream::Compute)
      join(index, before);
    done_.add(stream, before);
  }

  /// Records the instructions that are newly known to be done when an instruction on the compute stream
  /// begins.
  void join(uint32_t index, const DoneInstructions::Counts &done) {
    for (size_t each = 0; each < kStreams; ++each) {
      if (each == static_cast<size_t>(fb::Stream::Compute))
        continue;
      const std::vector<uint32_t> &numbers = done_.on(each);
      for (size_t &next = joined_[each]; next < numbers.size() && numbers[next] < done[each]; ++next)
        order_.joined[numbers[next]] = index;
    }
  }

  const fb::Entry &entry_;
  StreamOrder order_;
  DoneInstructions done_;
  /// For each stream, the number of instructions known as done on the compute stream.
  std::array<size_t, kStreams> joined_{};
};

} // namespace

StreamOrder orderOf(const fb::Entry &entry) { return OrderWalk(entry).walk(); }

} // namespace trainc::report
