// Operations that the ranks of the emulated NCCL execute together.
#pragma once

#include "test/emulator/libnccl/meeting.h"
#include "test/emulator/libnccl/operation.h"
#include "test/emulator/libnccl/progress.h"

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

namespace trainc::emulator {

/// Fault injected by TRAINC_EMULATOR_NCCL: "hang:rank=1:collective=20" or "die:rank=1:collective=20".
struct RankFault {
  enum class Kind { kNone, kHang, kDie };
  Kind kind = Kind::kNone;
  uint32_t rank = 0;
  uint64_t collective = 0; ///< counted from 1 per communicator; a group counts once

  static RankFault fromEnvironment();
};

/// One rank's side of a communicator's operations. Only for the device's thread.
class RankExchange {
public:
  RankExchange(std::shared_ptr<Meeting> meeting, uint64_t seed)
      : meeting_(std::move(meeting)), random_(seed * 1000003 + meeting_->rank()) {}

  /// Runs all operations of a group: collectives in order, then sends and receives concurrently.
  Progress run(std::vector<Operation> operations);

private:
  /// A send or receive in progress, transferred in pieces.
  struct Message {
    Operation operation;
    uint64_t done = 0; ///< bytes
    bool begun = false;

    uint64_t bytes() const { return operation.count * bytesOf(operation.type); }
    bool isDone() const { return begun && done == bytes(); }
  };

  Progress collective(Operation operation);
  Progress pairwise(std::vector<Operation> operations);
  bool movePiece(Message &message, std::optional<std::string> &failure) const;
  std::optional<std::string> mismatch(const Operation &operation) const;
  void giveStripe(const Operation &operation, uint64_t begin, uint64_t elements) const;
  std::optional<std::string> takeStripe(const Operation &operation, uint64_t begin, uint64_t elements) const;

  std::shared_ptr<Meeting> meeting_;
  std::mt19937_64 random_;
  RankFault fault_ = RankFault::fromEnvironment();
  uint64_t begun_ = 0;
};

/// Why the current memory does not permit the operation; nothing if it does.
std::optional<std::string> memoryFault(const Operation &operation, uint32_t ranks);

} // namespace trainc::emulator
