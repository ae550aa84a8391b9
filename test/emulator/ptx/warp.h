// A warp: 32 threads that execute together while their program counters agree.
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

/// A cp.async in flight.
struct AsyncCopy {
  uint32_t destination; ///< in shared memory
  uint64_t source;
  uint32_t bytes, sourceBytes; ///< bytes beyond the source are zero
  uint32_t instruction;        ///< index in the code
};

/// Each lane has its own program counter (independent thread scheduling). Lanes at the same instruction form
/// a group; of the runnable groups the one furthest behind runs, so that groups reconverge.
class Warp {
public:
  Warp(Block &block, unsigned index);

  /// Restarts the kernel for the block's current index.
  void begin();
  /// Executes up to `instructions` instructions, or until no lane can continue or one failed.
  void run(uint64_t instructions);
  bool canRun() const { return lanes_ != 0; }
  bool hasExited() const { return alive_ == 0; }

  // For handlers: `active` is the mask of the executing lanes.
  template <typename T> T *at(const Slot &slot) { return reinterpret_cast<T *>(file_ + slot.offset); }
  /// Any integer register of a lane, as 64 bits.
  uint64_t lane(const Slot &slot, unsigned lane);
  void fail(unsigned lane, std::string what);
  bool failed() const { return failed_; }
  Block &block() { return block_; }
  unsigned index() const { return index_; }
  uint32_t threadOf(unsigned lane) const { return index_ * kLanes + lane; }
  /// Local memory of a lane, and its written flags.
  std::byte *frame(unsigned lane) { return frames_.data() + size_t{frameBytes_} * lane; }
  uint8_t *frameWritten(unsigned lane) { return framesWritten_.data() + size_t{frameBytes_} * lane; }
  std::deque<std::vector<AsyncCopy>> &asyncCopies(unsigned lane) { return asyncCopies_[lane]; }
  uint32_t position() const { return pc_; }
  /// Attributes errors of an asynchronous copy to the instruction that began it.
  void blame(uint32_t instruction) { blamed_ = instruction; }
  void blameNone() { blamed_.reset(); }

  uint32_t active = 0;

  // For the block.
  struct Waiting {
    uint32_t pc, lanes, barrier;
  };
  /// Lanes that exist and have not exited.
  uint32_t alive() const { return alive_; }
  uint32_t existing() const { return existing_; }
  /// Groups that wait at a barrier.
  std::vector<Waiting> waitingAt(uint32_t barrier) const;
  /// Lets them continue after the barrier.
  void release(uint32_t barrier);
  /// Explains why the warp cannot continue: an instruction waits for other lanes. Returns false if only
  /// barriers are waited for.
  bool explainWait();
  /// Location of a lane, for messages.
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
  std::vector<std::byte> memory_; ///< storage of the register file
  std::byte *file_ = nullptr;     ///< aligned address within it
  std::vector<uint32_t> initialised_;
  uint32_t frameBytes_;
  std::vector<std::byte> frames_;
  std::vector<uint8_t> framesWritten_;
  std::array<std::deque<std::vector<AsyncCopy>>, kLanes> asyncCopies_; ///< the last group is open

  uint32_t existing_ = 0, alive_ = 0;
  uint32_t pc_ = 0, lanes_ = 0; ///< the running group
  uint32_t nextMeeting_ = 0;    ///< the next instruction ahead where another group is
  std::vector<Group> groups_;   ///< the other groups
  std::optional<uint32_t> blamed_;
  bool failed_ = false;
};

} // namespace trainc::emulator
