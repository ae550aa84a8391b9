// Execution of an instruction by a warp; warp_groups.cpp handles divergence.
#include "test/emulator/ptx/warp.h"

#include "test/emulator/ptx/block.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>

namespace trainc::emulator {

namespace {

constexpr size_t kFileAlignment = 64;

} // namespace

Warp::Warp(Block &block, unsigned index)
    : block_(block), program_(block.launch().program), index_(index),
      memory_(program_.fileBytes + kFileAlignment), initialised_(program_.registers.size()),
      frameBytes_(program_.frameBytes), frames_(size_t{frameBytes_} * kLanes),
      framesWritten_(size_t{frameBytes_} * kLanes) {
  const uint32_t threads = std::min(block.threads() - index * kLanes, kLanes);
  existing_ = threads == kLanes ? kAllLanes : (1U << threads) - 1;
  const size_t past = reinterpret_cast<uintptr_t>(memory_.data()) % kFileAlignment;
  file_ = memory_.data() + (kFileAlignment - past) % kFileAlignment;
  for (const PtxProgram::Constant &constant : program_.constants) {
    uint64_t bits = constant.bits;
    if (constant.slot.bits == 1)
      *at<uint32_t>(constant.slot) = bits != 0 ? kAllLanes : 0;
    else
      for (unsigned lane = 0; lane < kLanes; ++lane)
        std::memcpy(at<std::byte>(constant.slot) + size_t{lane} * constant.slot.bits / 8, &bits,
                    constant.slot.bits / 8);
  }
}

void Warp::begin() {
  std::ranges::fill(initialised_, 0);
  initialised_[0] = kAllLanes;
  std::ranges::fill(framesWritten_, 0);
  for (auto &copies : asyncCopies_)
    copies.assign(1, {});
  groups_.clear();
  alive_ = lanes_ = existing_;
  pc_ = 0;
  nextMeeting_ = UINT32_MAX;
  fillSpecials();
}

void Warp::fillSpecials() {
  const auto block = block_.coordinates();
  const PtxLaunch &request = block_.launch().request;
  for (const auto &[slot, special] : program_.specials)
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const auto thread = block_.threadCoordinates(threadOf(lane));
      const unsigned dimension = special.dimension;
      const uint32_t values[] = {thread[dimension],
                                 request.block[dimension],
                                 block[dimension],
                                 request.grid[dimension],
                                 lane,
                                 index_,
                                 block_.warps(),
                                 1U << lane,
                                 (1U << lane) - 1,
                                 (2U << lane) - 1,
                                 ~((2U << lane) - 1),
                                 ~((1U << lane) - 1),
                                 0,
                                 1,
                                 request.dynamicSharedBytes,
                                 program_.sharedBytes + request.dynamicSharedBytes};
      const uint32_t value = values[static_cast<unsigned>(special.kind)];
      if (slot.bits == 64)
        at<uint64_t>(slot)[lane] = value;
      else
        at<uint32_t>(slot)[lane] = value;
    }
}

void Warp::run(uint64_t instructions) {
  for (; instructions > 0 && lanes_ != 0 && !failed_; --instructions) {
    const Instruction &instruction = program_.code[pc_];
    const uint32_t lanes = instruction.hasGuard ? guarded(instruction) : lanes_;
    if (failed_ || !checkRegisters(instruction, lanes))
      return;
    if (instruction.flow == Flow::kNext) {
      if (lanes != 0)
        execute(instruction, lanes);
      if (++pc_ == nextMeeting_)
        settle();
    } else {
      step(instruction, lanes);
    }
  }
}

void Warp::execute(const Instruction &instruction, uint32_t lanes) {
  active = lanes;
  instruction.execute(instruction, *this);
  noteRegisters(instruction, lanes);
}

/// The running lanes for which the guard holds.
uint32_t Warp::guarded(const Instruction &instruction) {
  const uint32_t unknown = lanes_ & ~initialised_[instruction.guard.reg];
  if (unknown != 0)
    fail(
        static_cast<unsigned>(std::countr_zero(unknown)),
        fmt::format("register {} is read, and was never written", program_.registers[instruction.guard.reg]));
  const uint32_t holds = *at<uint32_t>(instruction.guard);
  return lanes_ & (instruction.guardIsNegated ? ~holds : holds);
}

bool Warp::checkRegisters(const Instruction &instruction, uint32_t lanes) {
  uint32_t known = kAllLanes;
  for (const Slot &slot : instruction.reads)
    known &= initialised_[slot.reg];
  if ((lanes & ~known) == 0 || instruction.copies) [[likely]]
    return true;
  for (const Slot &slot : instruction.reads)
    if (const uint32_t unknown = lanes & ~initialised_[slot.reg])
      fail(static_cast<unsigned>(std::countr_zero(unknown)),
           fmt::format("register {} is read, and was never written", program_.registers[slot.reg]));
  return false;
}

void Warp::noteRegisters(const Instruction &instruction, uint32_t lanes) {
  uint32_t known = lanes;
  if (instruction.copies)
    for (const Slot &slot : instruction.reads)
      known &= initialised_[slot.reg];
  for (const Slot &slot : instruction.writes)
    initialised_[slot.reg] = (initialised_[slot.reg] & ~lanes) | known;
}

uint64_t Warp::lane(const Slot &slot, unsigned lane) {
  uint64_t value = 0;
  if (slot.bits == 1)
    return *at<uint32_t>(slot) >> lane & 1;
  std::memcpy(&value, at<std::byte>(slot) + size_t{lane} * slot.bits / 8, slot.bits / 8);
  return value;
}

void Warp::fail(unsigned lane, std::string what) {
  failed_ = true;
  block_.fail(*this, lane, blamed_.value_or(pc_), what);
}

} // namespace trainc::emulator
