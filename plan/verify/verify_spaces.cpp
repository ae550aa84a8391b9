// Checks of offloaded states. Proven for each entry:
//
//  * All bytes of a state are fetched equally often, and all are stored equally often, at the same offsets on
//    every rank. This detects a piece that is not fetched, or stored over another one, but not two exchanged
//    pieces.
//  * If the entry transfers training states (parameters, gradients, moments), its results in scratch memory
//    are read: at least one result of each instruction and, if a buffer is written repeatedly, the last
//    write. This detects a store that is missing or too early.
//
// In addition, `init` and `refresh` together store each offloaded parameter.
//
// Data flow (verify_flow.cpp) cannot detect these faults: the old content of a state is as valid there as the
// content that a copy should have transferred.
#include "plan/facts/uses.h"
#include "plan/schema/entry_names.h"
#include "plan/verify/verify.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

namespace trainc::verify {

namespace {

bool isState(const fb::Plan &plan, const fb::Buffer &buffer) {
  const fb::Arena &arena = *plan.arenas()->Get(buffer.arena());
  return arena.persistent() && arena.space() != fb::Space::Device;
}

/// How often copies transfer each byte of a state.
class Moves {
public:
  void add(uint64_t begin, uint64_t bytes) {
    ++changes_[begin];
    --changes_[begin + bytes];
  }
  /// Returns the first offset within a state of `bytes` bytes at which the number of transfers changes.
  std::optional<uint64_t> boundary(uint64_t bytes) const {
    for (const auto &[offset, change] : changes_)
      if (change != 0 && offset != 0 && offset != bytes)
        return offset;
    return std::nullopt;
  }

private:
  std::map<uint64_t, int64_t> changes_; ///< by offset: change of the number of transfers
};

/// The copies of one entry.
class StateCopies {
public:
  StateCopies(const fb::Plan &plan, const fb::Entry &entry) : plan_(plan), entry_(entry) {}

  /// Whether any copy transfers a training state.
  bool areOfTraining() const {
    const auto isKept = [&](const auto &move) {
      const fb::Role role = plan_.buffers()->Get(move.first)->role();
      return role == fb::Role::Parameter || role == fb::Role::Gradient || role == fb::Role::Optimizer;
    };
    return std::ranges::any_of(fetches_, isKept) || std::ranges::any_of(stores_, isKept);
  }

  Status check() {
    for (uint32_t i = 0; i < entry_.instructions()->size(); ++i)
      if (const fb::Instruction &instruction = *entry_.instructions()->Get(i);
          instruction.operation_type() == fb::Operation::Copy)
        TRAINC_RETURN_IF_ERROR(
            located(plan_, entry_, std::to_string(i), instruction, add(*instruction.operation_as_Copy())));
    TRAINC_RETURN_IF_ERROR(areEven(fetches_, "fetched"));
    return areEven(stores_, "stored");
  }

  bool stores(uint32_t buffer) const { return stores_.count(buffer) > 0; }

private:
  Status add(const fb::Copy &copy) {
    TRAINC_RETURN_IF_ERROR(add(*copy.source(), copy.bytes(), fetches_));
    return add(*copy.destination(), copy.bytes(), stores_);
  }

  Status add(const fb::Operand &operand, uint64_t bytes, std::map<uint32_t, Moves> &moves) {
    if (bytes == 0 || !isState(plan_, *plan_.buffers()->Get(operand.buffer())))
      return {};
    if (operand.rank_stride() != 0)
      return invalidInput("copy: expected the same bytes of '{}' on all ranks, found a stride of {} bytes by "
                          "the rank",
                          view(plan_.buffers()->Get(operand.buffer())->name()), operand.rank_stride());
    moves[operand.buffer()].add(operand.offset(), bytes);
    return {};
  }

  Status areEven(const std::map<uint32_t, Moves> &moves, const char *what) const {
    for (const auto &[index, each] : moves) {
      const fb::Buffer &buffer = *plan_.buffers()->Get(index);
      if (const std::optional<uint64_t> boundary = each.boundary(buffer.bytes()))
        return invalidInput("entry {}: expected each of the {} bytes of '{}' to be {} as often as any other, "
                            "found those from {} on {} more or less often than those before",
                            view(entry_.name()), buffer.bytes(), view(buffer.name()), what, *boundary, what);
    }
    return {};
  }

  const fb::Plan &plan_;
  const fb::Entry &entry_;
  std::map<uint32_t, Moves> fetches_, stores_; ///< by buffer
};

/// Reads of an entry's results in scratch memory.
class ScratchReads {
public:
  ScratchReads(const fb::Plan &plan, const fb::Entry &entry)
      : plan_(plan), entry_(entry), isOfUse_(entry.instructions()->size(), false) {
    for (uint32_t i = 0; i < isOfUse_.size(); ++i)
      add(i);
  }

  Status check() const {
    for (const auto &[index, written] : written_)
      if (!written.isRead && (written.by.size() > 1 || !isOfUse_[written.by.back()]))
        return located(
            plan_, entry_, std::to_string(written.by.back()), *entry_.instructions()->Get(written.by.back()),
            invalidInput("expected a later instruction that reads '{}', which it writes, found nothing",
                         view(plan_.buffers()->Get(index)->name())));
    return {};
  }

private:
  struct Written {
    std::vector<uint32_t> by; ///< instructions
    bool isRead = false;      ///< since the last write
  };

  void add(uint32_t index) {
    const fb::Instruction &instruction = *entry_.instructions()->Get(index);
    std::vector<Use> uses;
    forEachUseInside(plan_, instruction, [&](const fb::Instruction &, const Use &use) {
      if (use.range.bytes > 0 && !use.isWorkspace)
        uses.push_back(use);
    });
    noteReads(uses);
    for (const Use &use : uses)
      if (use.writes)
        noteWrite(index, use.range.operand->buffer());
    if (instruction.operation_as_Loop()) // the next iteration may read it
      noteReads(uses);
  }

  void noteReads(const std::vector<Use> &uses) {
    for (const Use &use : uses)
      if (const auto found = written_.find(use.range.operand->buffer());
          use.reads && found != written_.end()) {
        found->second.isRead = true;
        for (const uint32_t writer : found->second.by)
          isOfUse_[writer] = true;
      }
  }

  void noteWrite(uint32_t index, uint32_t buffer) {
    if (plan_.arenas()->Get(plan_.buffers()->Get(buffer)->arena())->persistent()) {
      isOfUse_[index] = true;
      return;
    }
    Written &written = written_[buffer];
    if (written.by.empty() || written.by.back() != index)
      written.by.push_back(index);
    written.isRead = false;
  }

  const fb::Plan &plan_;
  const fb::Entry &entry_;
  std::map<uint32_t, Written> written_; ///< by buffer
  std::vector<bool> isOfUse_;           ///< by instruction: whether any of its results is read
};

} // namespace

/// Checks that offloaded parameters are initialised: without a store they would be the zeros of a new file.
/// `refresh` is checked, too, because it computes working copies.
static Status beginWithValues(const fb::Plan &plan, const std::vector<StateCopies> &makers) {
  for (uint32_t i = 0; i < plan.buffers()->size() && !makers.empty(); ++i)
    if (const fb::Buffer &buffer = *plan.buffers()->Get(i);
        buffer.role() == fb::Role::Parameter && isState(plan, buffer) &&
        std::ranges::none_of(makers, [&](const StateCopies &maker) { return maker.stores(i); }))
      return invalidInput("expected a copy in entry {} or {} that stores '{}', found none", kInitEntry,
                          kRefreshEntry, view(buffer.name()));
  return {};
}

Status spaces(const fb::Plan &plan) {
  std::vector<StateCopies> makers;
  for (const fb::Entry *entry : *plan.entries()) {
    StateCopies copies(plan, *entry);
    TRAINC_RETURN_IF_ERROR(copies.check());
    if (copies.areOfTraining())
      TRAINC_RETURN_IF_ERROR(ScratchReads(plan, *entry).check());
    if (view(entry->name()) == kInitEntry || view(entry->name()) == kRefreshEntry)
      makers.push_back(std::move(copies));
  }
  return beginWithValues(plan, makers);
}

} // namespace trainc::verify
