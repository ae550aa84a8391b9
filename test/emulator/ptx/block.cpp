#include "test/emulator/ptx/block.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace trainc::emulator {

namespace {

constexpr uint64_t kMaxInstructions = 64; ///< maximum instructions of a warp before another one runs

} // namespace

Block::Block(LaunchState &launch)
    : launch_(launch), threads_(launch.request.block[0] * launch.request.block[1] * launch.request.block[2]) {
  const size_t bytes = size_t{launch.program.sharedBytes} + launch.request.dynamicSharedBytes;
  shared_.resize(bytes);
  sharedWritten_.resize(bytes);
  sharedStamps_.assign((bytes + StampPage::kBytes - 1) / StampPage::kBytes,
                       StampPage(StampPage::kMaxGranuleShift));
  for (unsigned warp = 0; warp < (threads_ + kLanes - 1) / kLanes; ++warp)
    warps_.push_back(std::make_unique<Warp>(*this, warp));
}

Status Block::run(uint32_t index) {
  index_ = index;
  launch_.order.beginBlock(index, warps());
  std::ranges::fill(sharedWritten_, 0);
  barriers_ = {};
  for (const auto &warp : warps_)
    warp->begin();
  while (status_.ok()) {
    runnable_.clear();
    for (const auto &warp : warps_)
      if (warp->canRun())
        runnable_.push_back(warp.get());
    if (runnable_.empty()) {
      failStuck();
      break;
    }
    Warp &warp = *runnable_[launch_.random.below(runnable_.size())];
    warp.run(1 + launch_.random.below(kMaxInstructions));
  }
  return status_;
}

Place Block::shared(uint64_t address, uint64_t bytes) {
  if (bytes > shared_.size() || address > shared_.size() - bytes)
    return {};
  return {shared_.data() + address, sharedWritten_.data() + address, false};
}

void Block::arrive(Warp &warp, uint32_t barrier, uint32_t threads, uint32_t lanes, bool waits) {
  const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
  if (barrier >= barriers_.size() || threads % kLanes != 0)
    return warp.fail(lane, fmt::format("barrier {} of {} threads: there are 16 barriers, of whole warps",
                                       barrier, threads));
  Barrier &state = barriers_[barrier];
  const uint32_t expected = threads != 0 ? threads : warps() * kLanes;
  if (state.arrived != 0 && state.expected != expected)
    return warp.fail(lane, fmt::format("barrier {} is waited at by {} threads, and others of it expect {}",
                                       barrier, expected, state.expected));
  state.expected = expected;
  if (!waits)
    state.arrivals.push_back(launch_.order.arrive(warp.index()));
  // Nonexistent lanes count together with the first one.
  const uint32_t first = warp.existing() & (~warp.existing() + 1);
  const uint32_t counted = (lanes & first) != 0 ? lanes | ~warp.existing() : lanes;
  state.arrived += static_cast<uint32_t>(std::popcount(counted));
  if (state.arrived > state.expected)
    return warp.fail(lane, fmt::format("{} threads come to barrier {}, which {} are expected at",
                                       state.arrived, barrier, state.expected));
  if (state.arrived == state.expected)
    release(barrier);
}

void Block::release(uint32_t barrier) {
  const std::vector<BarrierOrder::Arrival> arrivals = std::move(barriers_[barrier].arrivals);
  barriers_[barrier] = {};
  std::vector<unsigned> met;
  for (const auto &warp : warps_) {
    const std::vector<Warp::Waiting> waiting = warp->waitingAt(barrier);
    if (waiting.empty())
      continue;
    met.push_back(warp->index());
    for (const Warp::Waiting &group : waiting)
      if (group.pc != waiting.front().pc) {
        const auto lane = static_cast<unsigned>(std::countr_zero(group.lanes));
        const PtxProgram &program = launch_.program;
        return fail(*warp, lane, group.pc,
                    fmt::format("barrier divergence: {} of the same warp waits at line {}",
                                nameOf(warp->threadOf(
                                    static_cast<unsigned>(std::countr_zero(waiting.front().lanes)))),
                                program.sources[program.code[waiting.front().pc].source].line));
      }
  }
  launch_.order.meet(met, arrivals);
  for (const auto &warp : warps_)
    warp->release(barrier);
}

/// Ends the block if all warps have exited; fails if some wait for something that cannot happen.
void Block::failStuck() {
  if (std::ranges::all_of(warps_, [](const auto &warp) { return warp->hasExited(); }))
    return;
  for (const auto &warp : warps_)
    if (warp->explainWait())
      return;
  for (uint32_t barrier = 0; barrier < barriers_.size(); ++barrier)
    for (const auto &warp : warps_)
      for (const Warp::Waiting &group : warp->waitingAt(barrier)) {
        std::string missing;
        for (uint32_t thread = 0; thread < threads_ && missing.empty(); ++thread) {
          const Warp &other = *warps_[thread / kLanes];
          uint32_t there = 0;
          for (const Warp::Waiting &waiting : other.waitingAt(barrier))
            there |= waiting.lanes;
          if ((there >> thread % kLanes & 1) == 0)
            missing = fmt::format("{} {}", nameOf(thread), other.whereabouts(thread % kLanes));
        }
        return fail(*warp, static_cast<unsigned>(std::countr_zero(group.lanes)), group.pc,
                    fmt::format("barrier divergence: of {} threads {} wait at barrier {}; {}",
                                barriers_[barrier].expected, barriers_[barrier].arrived, barrier, missing));
      }
}

void Block::fail(const Warp &warp, unsigned lane, uint32_t instruction, const std::string &what) {
  if (!status_.ok())
    return;
  const auto [x, y, z] = coordinates();
  const PtxProgram::Source &source = launch_.program.sources[launch_.program.code[instruction].source];
  status_ = failed("kernel '{}', block ({},{},{}), {}, PTX line {} `{}`: {}", launch_.program.kernel, x, y, z,
                   nameOf(warp.threadOf(lane)), source.line, source.text, what);
}

std::string Block::nameOf(uint32_t thread) const {
  const auto [x, y, z] = threadCoordinates(thread);
  return fmt::format("thread ({},{},{})", x, y, z);
}

std::string Block::nameOfAccess(uint64_t stamp, const char *kind) const {
  const char *const what = (stamp & Stamp::kAtomic) != 0 ? "an atomic operation" : kind;
  if ((stamp & Stamp::kSeveralBlocks) != 0)
    return fmt::format("{} by another block", what);
  const std::string who = nameOf(Stamp::threadOf(stamp));
  if (stamp >= launch_.order.blockStart()) {
    const bool areSeveral = (stamp & (Stamp::kSeveralLanes | Stamp::kSeveralWarps)) != 0;
    return fmt::format("{} by {}{} of the same block, with no barrier between", what, who,
                       areSeveral ? " and others" : "");
  }
  const auto [x, y, z] = coordinatesOf(launch_.order.blockAt(Stamp::timeOf(stamp)));
  return fmt::format("{} by {} of block ({},{},{})", what, who, x, y, z);
}

std::array<uint32_t, 3> Block::coordinatesOf(uint32_t index) const {
  const auto &grid = launch_.request.grid;
  return {index % grid[0], index / grid[0] % grid[1], index / grid[0] / grid[1]};
}

std::array<uint32_t, 3> Block::threadCoordinates(uint32_t thread) const {
  const auto &block = launch_.request.block;
  return {thread % block[0], thread / block[0] % block[1], thread / block[0] / block[1]};
}

} // namespace trainc::emulator
