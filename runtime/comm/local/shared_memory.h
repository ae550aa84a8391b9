// Shared memory of the ranks of one host: a control block and each rank's memory.
#pragma once

#include "base/descriptor.h"
#include "base/status.h"
#include "plan/facts/mesh.h"
#include "plan/schema/limits.h"
#include "runtime/comm/communicator.h"
#include "runtime/comm/host_message.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace trainc {

/// Description of the collective that a rank has started, for the others to compare and to read from.
struct Posting {
  struct Range {
    uint64_t source, destination; ///< offsets in the rank's memory
  };

  CollectiveFingerprint fingerprint;
  std::array<Range, kMaxRanges>
      ranges; ///< the first ones are in use, as many as the fingerprint counts; unused pages stay untouched
};

/// A group of ranks and its barrier; `counter` is the index in RankState::arrived.
struct Meeting {
  Members members;
  uint32_t barrier;
  size_t counter;
};

/// State that one rank writes and the others read.
struct alignas(64) RankState {
  /// Numbers of barriers at which this rank has arrived: one for each choice of axes, and the last for
  /// exchanges between hosts.
  std::array<std::atomic<uint32_t>, Mesh::kMaxChoices + 1> arrived{};
  std::atomic<uint32_t> progress{0};   ///< changes while the rank makes progress
  std::atomic<uint32_t> waits{0};      ///< changes while the rank waits for others
  std::atomic<bool> left{false};       ///< whether the rank starts no more collectives
  Posting posted;                      ///< of the rank's current collective
  std::array<HostMessage, 2> messages; ///< double buffer of exchanges
};

/// Barrier of one group of ranks.
struct Barrier {
  alignas(64) std::atomic<uint32_t> waiting{0};    ///< ranks that have arrived at the current barrier
  alignas(64) std::atomic<uint32_t> generation{0}; ///< barriers completed; ranks sleep on this word
};

/// Why the group has failed. The first published record wins.
struct FailureRecord {
  uint32_t rank = 0;
  std::array<char, 252> reason{};
};

struct alignas(64) ControlBlock {
  /// The winning failure: 0 if there is none, else 1 + the index of its record, or more if all records were
  /// in use.
  std::atomic<uint32_t> published{0};
  std::atomic<uint32_t> claimed{0}; ///< number of failure records in use
  // There are several records, so that a rank that dies while it writes one does not silence the others.
  std::array<FailureRecord, 8> failures;
};

/// A control block and the memory of each rank in a memory file, for threads, for processes forked later, and
/// for processes that receive the descriptor. The file has no name, so nothing remains after the last process
/// ends. In a rank's own view only its own memory is writable.
class SharedMemory {
public:
  /// Creates the file. Fails with kInvalidInput if the mesh is invalid, and with kFailed if there is not
  /// enough memory.
  static Result<std::shared_ptr<SharedMemory>> create(const Mesh &mesh, uint64_t bytesPerRank);
  /// Maps a file that another process created with the same arguments. Fails with kFailed if `file` is not
  /// such a file.
  static Result<std::shared_ptr<SharedMemory>> attach(Descriptor file, const Mesh &mesh,
                                                      uint64_t bytesPerRank);
  /// A view for one rank, which maps the memory of all ranks: its own writable, that of the others read-only.
  Result<std::shared_ptr<SharedMemory>> viewOf(uint32_t rank) const;

  SharedMemory(const SharedMemory &) = delete;
  SharedMemory &operator=(const SharedMemory &) = delete;
  ~SharedMemory();

  /// The descriptor to pass to attach().
  int descriptor() const { return file_->get(); }
  const Mesh &mesh() const { return layout_.mesh; }
  uint32_t ranks() const { return layout_.ranks; }
  uint64_t bytesPerRank() const { return layout_.rankBytes; }
  ControlBlock &control() const { return *reinterpret_cast<ControlBlock *>(base_); }
  RankState &state(uint32_t rank) const {
    return reinterpret_cast<RankState *>(base_ + sizeof(ControlBlock))[rank];
  }
  /// The meeting of `rank` with the other ranks of its group along the axes, for collectives.
  Meeting meeting(Axes axes, uint32_t rank) const {
    return {mesh().members(axes, rank), mesh().groupOf(axes, rank), mesh().choiceOf(axes)};
  }
  /// The meeting of all hosts.
  Meeting hosts() const { return {{0, 1, ranks()}, mesh().groups(), Mesh::kMaxChoices}; }
  /// Number of barriers: one for each group of the mesh, and one for hosts.
  uint32_t barriers() const { return mesh().groups() + 1; }
  Barrier &barrier(uint32_t index) const { return reinterpret_cast<Barrier *>(&state(ranks()))[index]; }
  /// In a rank's view: the first of the bytesPerRank() bytes of `rank`, page-aligned, between two
  /// inaccessible guard regions.
  std::byte *memory(uint32_t rank) const { return base_ + layout_.inView(rank); }

  /// Makes every rank's waits fail, and wakes them. Later failures are ignored. A long reason is truncated.
  void fail(uint32_t rank, std::string_view reason) const;
  bool hasFailed() const { return control().published.load(std::memory_order_acquire) != 0; }
  /// failureText() of the group's failure.
  std::string failure() const;

private:
  /// Offsets, in whole pages: in the file without gaps, in a view with a guard region before each rank.
  struct Layout {
    Mesh mesh;
    uint32_t ranks;
    uint64_t guardBytes, controlBytes, rankBytes;

    static Result<Layout> of(const Mesh &mesh, uint64_t bytesPerRank);
    uint64_t inFile(uint32_t rank) const { return controlBytes + rank * rankBytes; }
    uint64_t inView(uint32_t rank) const {
      return controlBytes + guardBytes + rank * (rankBytes + guardBytes);
    }
    uint64_t fileBytes() const { return inFile(ranks); }
    uint64_t viewBytes() const { return inView(ranks); }
  };

  SharedMemory(std::shared_ptr<const Descriptor> file, const Layout &layout, std::byte *base, uint64_t bytes)
      : file_(std::move(file)), layout_(layout), base_(base), bytes_(bytes) {}
  static Result<std::shared_ptr<SharedMemory>> reserve(std::shared_ptr<const Descriptor> file,
                                                       const Layout &layout, uint64_t bytes);
  bool map(uint64_t inView, uint64_t inFile, uint64_t bytes, bool writable) const;
  void initialise() const;

  std::shared_ptr<const Descriptor> file_;
  Layout layout_;
  std::byte *base_;
  uint64_t bytes_; ///< size of the view; the control block only, if the view belongs to no rank
};

} // namespace trainc
