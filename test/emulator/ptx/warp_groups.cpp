// Divergence and reconvergence of a warp's lanes.
#include "test/emulator/ptx/block.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace trainc::emulator {

namespace {

unsigned firstOf(uint32_t lanes) { return static_cast<unsigned>(std::countr_zero(lanes)); }

} // namespace

/// Executes an instruction after which some lanes do not fall through.
void Warp::step(const Instruction &instruction, uint32_t lanes) {
  const uint32_t others = lanes_ & ~lanes;
  const uint32_t here = pc_;
  if (lanes == 0) {
    if (++pc_ == nextMeeting_)
      settle();
    return;
  }
  lanes_ = 0;
  put(here + 1, others);
  switch (instruction.flow) {
  case Flow::kNext:
    break;
  case Flow::kBranch:
    put(instruction.targets[0], lanes);
    break;
  case Flow::kBranchIndexed:
    branchIndexed(instruction, lanes);
    break;
  case Flow::kCollective:
    collect(instruction, lanes);
    break;
  case Flow::kBarrier:
  case Flow::kBarrierArrive:
    meetBarrier(instruction, lanes);
    break;
  case Flow::kExit:
    alive_ &= ~lanes;
    break;
  case Flow::kTrap:
    fail(firstOf(lanes), "the kernel stops with a trap");
    break;
  }
  if (!failed_)
    settle();
}

void Warp::branchIndexed(const Instruction &instruction, uint32_t lanes) {
  const uint32_t *const indices = at<uint32_t>(instruction.reads[0]);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) == 0)
      continue;
    if (indices[lane] >= instruction.targets.size())
      return fail(lane, fmt::format("branch {} of {}", indices[lane], instruction.targets.size()));
    put(instruction.targets[indices[lane]], 1U << lane);
  }
}

/// Executes the instruction for lanes that name each other in a mask; if some are missing, all wait for them.
void Warp::collect(const Instruction &instruction, uint32_t lanes) {
  const uint32_t here = pc_;
  uint32_t waiting = 0;
  while (lanes != 0) {
    const unsigned first = firstOf(lanes);
    uint32_t members = kAllLanes, together = lanes;
    if (instruction.members >= 0) {
      const uint32_t *const masks = at<uint32_t>(instruction.reads[static_cast<size_t>(instruction.members)]);
      members = masks[first];
      for (unsigned lane = 0; lane < kLanes; ++lane)
        if (masks[lane] != members)
          together &= ~(1U << lane);
    }
    if (const uint32_t strangers = together & ~members)
      return fail(firstOf(strangers), fmt::format("the member mask {:#x} does not name this lane {}", members,
                                                  firstOf(strangers)));
    lanes &= ~together;
    if (members != together) {
      waiting |= together;
      continue;
    }
    execute(instruction, together);
    if (failed_)
      return;
    put(here + 1, together);
  }
  put(here, waiting, State::kCollecting);
}

void Warp::meetBarrier(const Instruction &instruction, uint32_t lanes) {
  const unsigned first = firstOf(lanes);
  const uint64_t barrier = lane(instruction.reads[0], first);
  const uint64_t threads = instruction.reads.size() > 1 ? lane(instruction.reads[1], first) : 0;
  for (unsigned other = 0; other < kLanes; ++other)
    if ((lanes >> other & 1) != 0 && lane(instruction.reads[0], other) != barrier)
      return fail(other, fmt::format("lanes of one warp come to barriers {} and {} by one instruction",
                                     barrier, lane(instruction.reads[0], other)));
  if (instruction.flow == Flow::kBarrier)
    put(pc_, lanes, State::kBarrier, static_cast<uint32_t>(barrier));
  else
    put(pc_ + 1, lanes);
  block_.arrive(*this, static_cast<uint32_t>(barrier), static_cast<uint32_t>(threads), lanes,
                instruction.flow == Flow::kBarrier);
}

void Warp::put(uint32_t pc, uint32_t lanes, State state, uint32_t barrier) {
  if (lanes == 0)
    return;
  if (state != State::kBarrier)
    for (Group &group : groups_)
      if (group.pc == pc && group.state != State::kBarrier) {
        group.lanes |= lanes; // waiting lanes check again which lanes are there
        group.state = State::kRunning;
        return;
      }
  groups_.push_back({pc, lanes, state, barrier});
}

/// Chooses the group to run.
void Warp::settle() {
  put(pc_, lanes_);
  lanes_ = 0;
  auto best = groups_.end();
  for (auto group = groups_.begin(); group != groups_.end(); ++group)
    if (group->state == State::kRunning && (best == groups_.end() || group->pc < best->pc))
      best = group;
  if (best == groups_.end())
    return;
  pc_ = best->pc;
  lanes_ = best->lanes;
  groups_.erase(best);
  nextMeeting_ = UINT32_MAX;
  for (const Group &group : groups_)
    if (group.state != State::kBarrier && group.pc > pc_)
      nextMeeting_ = std::min(nextMeeting_, group.pc);
}

std::vector<Warp::Waiting> Warp::waitingAt(uint32_t barrier) const {
  std::vector<Waiting> waiting;
  for (const Group &group : groups_)
    if (group.state == State::kBarrier && group.barrier == barrier)
      waiting.push_back({group.pc, group.lanes, group.barrier});
  return waiting;
}

void Warp::release(uint32_t barrier) {
  const std::vector<Waiting> waiting = waitingAt(barrier);
  if (waiting.empty())
    return;
  std::erase_if(groups_, [&](const Group &group) {
    return group.state == State::kBarrier && group.barrier == barrier;
  });
  for (const Waiting &group : waiting)
    put(group.pc + 1, group.lanes);
  settle();
}

bool Warp::explainWait() {
  for (const Group &group : groups_) {
    if (group.state != State::kCollecting)
      continue;
    const Instruction &instruction = program_.code[group.pc];
    const unsigned first = firstOf(group.lanes);
    const uint32_t members =
        instruction.members < 0
            ? kAllLanes
            : at<uint32_t>(instruction.reads[static_cast<size_t>(instruction.members)])[first];
    const unsigned missing = firstOf(members & ~group.lanes);
    pc_ = group.pc;
    fail(first, fmt::format("waits for lanes {:#x} together, and lane {} {}", members, missing,
                            whereabouts(missing)));
    return true;
  }
  return false;
}

std::string Warp::whereabouts(unsigned lane) const {
  if ((existing_ >> lane & 1) == 0)
    return "does not exist";
  if ((alive_ >> lane & 1) == 0)
    return "has exited";
  for (const Group &group : groups_)
    if ((group.lanes >> lane & 1) != 0)
      return fmt::format("waits at line {}", program_.sources[program_.code[group.pc].source].line);
  return "runs";
}

} // namespace trainc::emulator
