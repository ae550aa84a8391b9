// Shared memory of the ranks of one emulated communicator, named after the unique id.
#pragma once

#include "base/status.h"
#include "test/emulator/libnccl/operation.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace trainc::emulator {

inline constexpr uint32_t kMaxRanks = 16;
inline constexpr size_t kPieceBytes = size_t{256} << 10, kMailBytes = size_t{64} << 10;

/// A rank's next operation, for the others to compare.
struct Posting {
  OperationKind kind;
  ncclDataType_t type;
  uint64_t count;

  bool operator==(const Posting &) const = default;
};

/// State that one rank writes and all read; initially zero.
struct RankBox {
  std::atomic<uint32_t> taken;
  std::array<unsigned char, 16> gpu; ///< UUID of its device
  Posting posting;
  std::array<std::byte, kPieceBytes> piece;
};

/// Transfer of a message between two ranks, piece by piece.
struct Mailbox {
  std::atomic<uint32_t> full;
  uint64_t count; ///< of the whole message
  ncclDataType_t type;
  uint64_t bytes; ///< of this piece
  std::array<std::byte, kMailBytes> piece;
};

class Meeting {
public:
  /// The first rank creates the memory. Fails if the ranks disagree on their number, or two have the same
  /// rank.
  static Result<std::shared_ptr<Meeting>> open(const std::string &name, uint32_t ranks, uint32_t rank);
  Meeting(const Meeting &) = delete;
  Meeting &operator=(const Meeting &) = delete;
  ~Meeting();

  uint32_t rank() const { return rank_; }
  uint32_t ranks() const { return ranks_; }
  /// Announces that this rank's box is filled in.
  void come() const;
  bool everyoneHasCome() const { return shared_->come.load(std::memory_order_acquire) == ranks_; }
  RankBox &box(uint32_t rank) const { return shared_->boxes[rank]; }
  RankBox &own() const { return box(rank_); }
  Mailbox &mail(uint32_t from, uint32_t to) const { return shared_->mail[from][to]; }

  /// Arrives at a barrier without waiting; isOpen() returns true once all ranks have arrived.
  uint32_t arrive() const;
  bool isOpen(uint32_t barrier) const {
    return shared_->generation.load(std::memory_order_acquire) != barrier;
  }
  /// Announces that this rank takes part in nothing more.
  void noteAborted() const { shared_->aborted.store(1, std::memory_order_release); }
  bool someoneAborted() const { return shared_->aborted.load(std::memory_order_acquire) != 0; }

private:
  struct Shared {
    std::atomic<uint32_t> ranks, come, waiting, generation, aborted;
    std::array<RankBox, kMaxRanks> boxes;
    std::array<std::array<Mailbox, kMaxRanks>, kMaxRanks> mail;
  };

  Meeting(std::string name, Shared *shared, uint32_t ranks, uint32_t rank)
      : name_(std::move(name)), shared_(shared), ranks_(ranks), rank_(rank) {}

  std::string name_;
  Shared *shared_;
  uint32_t ranks_, rank_;
};

} // namespace trainc::emulator
