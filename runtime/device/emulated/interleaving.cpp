#include "runtime/device/emulated/interleaving.h"

#include <algorithm>
#include <numeric>

namespace trainc {

Interleaving::Interleaving(const Program &program, StepRange steps, std::mt19937_64 &random)
    : program_(program), begin_(steps.begin), random_(random), done_(steps.end - steps.begin),
      favours_(random() % 2 == 0) {
  std::iota(favour_.begin(), favour_.end(), size_t{0});
  std::ranges::shuffle(favour_, random_);
  for (const Block &block : program.blocks) {
    const uint32_t begin = std::max(block.begin, steps.begin), end = std::min(block.end, steps.end);
    if (block.iterations > 1 && begin < end)
      append(begin, end, block.iterations);
    else
      for (uint32_t step = begin; step < end; ++step)
        append(step, step + 1, 1);
  }
}

void Interleaving::append(uint32_t begin, uint32_t end, uint64_t iterations) {
  Queue &queue = queues_[static_cast<size_t>(program_.steps[begin].stream)];
  if (queue.units.empty())
    queue.step = begin;
  queue.units.push_back({begin, end, iterations});
}

std::optional<Turn> Interleaving::next() {
  Queue *queue = choose();
  return queue ? std::optional(take(*queue)) : std::nullopt;
}

/// Work enqueued earlier has run, so only the dependencies matter.
bool Interleaving::isReady(const Queue &queue) const {
  return queue.unit < queue.units.size() &&
         std::ranges::all_of(
             program_.afterOf(program_.steps[queue.step]),
             [this](uint32_t other) { return other < begin_ || done_[other - begin_]; });
}

Interleaving::Queue *Interleaving::choose() {
  std::array<Queue *, kStreams> ready{};
  size_t count = 0;
  for (const size_t stream : favour_)
    if (isReady(queues_[stream]))
      ready[count++] = &queues_[stream];
  if (count == 0)
    return nullptr;
  return ready[favours_ ? 0 : random_() % count];
}

Turn Interleaving::take(Queue &queue) {
  const Turn turn{queue.step, queue.iteration};
  const Unit &unit = queue.units[queue.unit];
  done_[turn.step - begin_] = turn.iteration + 1 == unit.iterations;
  if (++queue.step < unit.end)
    return turn;
  queue.step = unit.begin;
  if (++queue.iteration < unit.iterations)
    return turn;
  queue.iteration = 0;
  if (++queue.unit < queue.units.size())
    queue.step = queue.units[queue.unit].begin;
  return turn;
}

} // namespace trainc
