// A block: threads that share memory and barriers.
#pragma once

#include "base/status.h"
#include "test/emulator/ptx/global_memory.h"
#include "test/emulator/ptx/launch.h"
#include "test/emulator/ptx/random.h"
#include "test/emulator/ptx/warp.h"

#include <array>
#include <memory>
#include <vector>

namespace trainc::emulator {

/// State shared by all blocks of a launch.
struct LaunchState {
  const PtxLaunch &request;
  const PtxProgram &program;
  GlobalMemory global;
  BarrierOrder order;
  Random random;
};

/// Runs blocks one after the other in the same memory.
class Block {
public:
  explicit Block(LaunchState &launch);

  Status run(uint32_t index);

  // For warps.
  LaunchState &launch() { return launch_; }
  uint32_t threads() const { return threads_; }
  unsigned warps() const { return static_cast<unsigned>(warps_.size()); }
  std::array<uint32_t, 3> coordinates() const { return coordinatesOf(index_); }
  std::array<uint32_t, 3> threadCoordinates(uint32_t thread) const;
  /// Lanes arrive at a barrier, which expects `threads` threads; 0: all.
  void arrive(Warp &warp, uint32_t barrier, uint32_t threads, uint32_t lanes, bool waits);
  void fail(const Warp &warp, unsigned lane, uint32_t instruction, const std::string &what);
  /// "thread (3,0,0)".
  std::string nameOf(uint32_t thread) const;
  /// Description such as "a write by thread (3,0,0)", of this block or another.
  std::string nameOfAccess(uint64_t stamp, const char *kind) const;

  Place shared(uint64_t address, uint64_t bytes);
  Stamps sharedStamps(uint64_t address, unsigned bytes) {
    return sharedStamps_[address / StampPage::kBytes].at(address % StampPage::kBytes, bytes);
  }
  uint64_t sharedBytes() const { return shared_.size(); }

private:
  struct Barrier {
    uint32_t arrived = 0, expected = 0;
    std::vector<BarrierOrder::Arrival> arrivals; ///< of warps that do not wait
  };

  std::array<uint32_t, 3> coordinatesOf(uint32_t index) const;
  void release(uint32_t barrier);
  void failStuck();

  LaunchState &launch_;
  uint32_t index_ = 0, threads_;
  std::vector<std::unique_ptr<Warp>> warps_;
  std::vector<Warp *> runnable_;
  std::array<Barrier, 16> barriers_;
  std::vector<std::byte> shared_;
  std::vector<uint8_t> sharedWritten_;
  std::vector<StampPage> sharedStamps_;
  Status status_;
};

} // namespace trainc::emulator
