// 32 threads that execute together while they are at the same place.
#pragma once

#include "test/emulator/ptx/program.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace trainc::emulator {

class Block;

/// A cp.async that is on its way.
struct AsyncCopy {
  uint32_t destination; ///< in shared memory
  uint64_t source;
  uint32_t bytes, sourceBytes; ///< what is not read is zero
  uint32_t instruction;        ///< index in the code
};

/// Each lane has its own place in the code (independent thread scheduling). Lanes at the same place form a
/// group; of the groups that can run, the one furthest back does, so that they meet again.
class Warp {
public:
  Warp(Block &block, unsigned index);

  /// Begins the kernel anew, for the block's present index.
  void begin();
  /// Executes so many instructions, or until no lane can go on or one failed.
  void run(uint64_t instructions);
  bool canRun() const { return lanes_ != 0; }
  bool hasExited() const { return alive_ == 0; }

  // For handlers: they see the lanes that execute in `active`.
  template <typename T> T *at(const Slot &slot) { return reinterpret_cast<T *>(file_ + slot.offset); }
  /// Any integer register of a lane, as 64 bits.
  uint64_t lane(const Slot &slot, unsigned lane);
  void fail(unsigned lane, std::string what);
  bool failed() const { return failed_; }
  Block &block() { return block_; }
  unsigned index() const { return index_; }
  uint32_t threadOf(unsigned lane) const { return index_ * kLanes + lane; }
  /// Local memory of a lane, and which bytes of it were written.
  std::byte *frame(unsigned lane) { return frames_.data() + size_t{frameBytes_} * lane; }
  uint8_t *frameWritten(unsigned lane) { return framesWritten_.data() + size_t{frameBytes_} * lane; }
  std::deque<std::vector<AsyncCopy>> &asyncCopies(unsigned lane) { return asyncCopies_[lane]; }
  uint32_t position() const { return pc_; }
  /// Puts what an asynchronous copy did wrong on the instruction that began it.
  void blame(uint32_t instruction) { blamed_ = instruction; }
  void blameNone() { blamed_.reset(); }

  uint32_t active = 0;

  // For the block.
  struct Waiting {
    uint32_t pc, lanes, barrier;
  };
  /// The lanes that exist and have not exited.
  uint32_t alive() const { return alive_; }
  uint32_t existing() const { return existing_; }
  /// Groups that wait at a barrier.
  std::vector<Waiting> waitingAt(uint32_t barrier) const;
  /// Lets them go on behind it.
  void release(uint32_t barrier);
  /// Why the warp cannot go on: an instruction that waits for other lanes; none: only barriers.
  bool explainWait();
  /// Where a lane is, for messages.
  std::string whereabouts(unsigned lane) const;

private:
  enum class State : uint8_t { kRunning, kCollecting, kBarrier };
  struct Group {
    uint32_t pc, lanes;
    State state = State::kRunning;
    uint32_t barrier = 0;
  };

  uint32_t guarded(const Instruction &instruction);
  bool checkRegisters(const Instruction &instruction, uint32_t lanes);
  void noteRegisters(const Instruction &instruction, uint32_t lanes);
  void step(const Instruction &instruction, uint32_t lanes);
  void execute(const Instruction &instruction, uint32_t lanes);
  void branch(const Instruction &instruction, uint32_t lanes);
  void branchIndexed(const Instruction &instruction, uint32_t lanes);
  void collect(const Instruction &instruction, uint32_t lanes);
  void meetBarrier(const Instruction &instruction, uint32_t lanes);
  void leave(uint32_t lanes);
  void put(uint32_t pc, uint32_t lanes, State state = State::kRunning, uint32_t barrier = 0);
  void settle();
  void fillSpecials();

  Block &block_;
  const PtxProgram &program_;
  unsigned index_;
  std::vector<std::byte> memory_; ///< of registers
  std::byte *file_ = nullptr;     ///< in it, aligned
  std::vector<uint32_t> initialised_;
  uint32_t frameBytes_;
  std::vector<std::byte> frames_;
  std::vector<uint8_t> framesWritten_;
  std::array<std::deque<std::vector<AsyncCopy>>, kLanes> asyncCopies_; ///< the last group is open

  uint32_t existing_ = 0, alive_ = 0;
  uint32_t pc_ = 0, lanes_ = 0; ///< the group that runs
  uint32_t nextMeeting_ = 0;    ///< the next place ahead where another group is
  std::vector<Group> groups_;   ///< the others
  std::optional<uint32_t> blamed_;
  bool failed_ = false;
};

} // namespace trainc::emulator
