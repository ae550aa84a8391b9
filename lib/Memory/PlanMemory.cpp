// Pass `plan-memory`: assigns values to storages, places storages, and emits instructions.
#include "lib/Analysis/Preconditions.h"
#include "lib/Codegen/Target.h"
#include "lib/Memory/ArenaLayout.h"
#include "lib/Memory/AssignEntry.h"
#include "lib/Memory/Emission.h"
#include "lib/Memory/Metadata.h"
#include "lib/Memory/OffloadedStates.h"
#include "lib/Memory/Passes.h"
#include "plan/schema/limits.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

#include <array>

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_PLANMEMORYPASS
#include "lib/Memory/Passes.h.inc"

namespace {

struct PlanMemoryPass : impl::PlanMemoryPassBase<PlanMemoryPass> {
  void runOnOperation() override;

private:
  void createArenas(OpBuilder &builder);
  SmallVector<FlatSymbolRefAttr> createBuffers(OpBuilder &builder, StorageTable &storages,
                                               ArrayRef<int64_t> offsets);
  void placeStates(StorageTable &storages, SmallVectorImpl<int64_t> &offsets);
  void placeScratch(StorageTable &storages, ArrayRef<std::pair<train::EntryOp, Assignment>> entries,
                    SmallVectorImpl<int64_t> &offsets);

  using BytesBySpace = std::array<int64_t, plan::getMaxEnumValForSpace() + 1>;
  BytesBySpace &bytesOf(bool persistent) { return persistent ? persistentBytes_ : scratchBytes_; }

  int64_t bufferAlignment_ = 1;
  BytesBySpace persistentBytes_, scratchBytes_; ///< of arenas
};

} // namespace

/// Places all storages except device scratch consecutively, in arenas by space. Storages of other spaces are
/// all in use between forward and backward, so that they cannot share bytes.
void PlanMemoryPass::placeStates(StorageTable &storages, SmallVectorImpl<int64_t> &offsets) {
  offsets.resize(storages.size());
  for (size_t index = 0; index < storages.size(); ++index) {
    const plan::Space space = storages[index].space;
    if (!storages[index].persistent && space == plan::Space::device)
      continue;
    int64_t &end = bytesOf(storages[index].persistent)[size_t(space)];
    offsets[index] = end;
    end += llvm::alignTo(storages[index].bytes,
                         space == plan::Space::disk ? int64_t(kDiskAlignment) : bufferAlignment_);
  }
}

namespace {
/// Scratch storages of an entry, and their lifetimes.
struct EntryScratch {
  const Assignment *assignment;
  SmallVector<int> storages;
  SmallVector<Lifetime> lifetimes;
  ArenaLayout layout;

  EntryScratch(StorageTable &all, const Assignment &assignment) : assignment(&assignment) {
    for (int index : assignment.scratchStorages()) {
      const Storage &storage = all[index];
      storages.push_back(index);
      lifetimes.push_back({storage.first, storage.last, storage.bytes, storage.alignment,
                           std::min(storage.earliest, storage.first)});
    }
  }

  /// Returns one past all positions of the entry.
  int64_t end() const {
    int64_t end = 0;
    for (const Lifetime &lifetime : lifetimes)
      end = std::max(end, lifetime.last + 1);
    return end;
  }

  /// Storages whose copies outlast the entry should stay in use during the first ops of `next`, whose
  /// positions begin at `begin`.
  void liveIn(const EntryScratch &next, int64_t begin, StorageTable &all) {
    for (auto [storage, lifetime] : llvm::zip(storages, lifetimes))
      if (const int64_t ops = all[storage].outlasts; ops > 0)
        lifetime.secondUse = {begin, begin + next.assignment->timeline().endOfFirst(ops)};
  }

  /// Returns the placed buffers at positions from `begin` on.
  SmallVector<PlacedBuffer> placed(int64_t begin) const {
    SmallVector<PlacedBuffer> buffers;
    for (auto [lifetime, offset] : llvm::zip(lifetimes, layout.offsets))
      buffers.push_back({{begin + lifetime.first, begin + lifetime.last}, offset, lifetime.bytes});
    return buffers;
  }

  /// Moves fetches to the begin of their storages' lifetimes.
  void moveFetches() const {
    llvm::DenseMap<int, int64_t> firsts;
    for (auto [storage, lifetime] : llvm::zip(storages, lifetimes))
      firsts[storage] = lifetime.first;
    for (auto [get, storage] : assignment->fetches())
      if (const int64_t first = firsts.at(storage); first < assignment->timeline().begin(get))
        if (Operation *place = assignment->timeline().opFrom(first); place != get)
          get->moveBefore(place);
  }
};
} // namespace

/// Extends lifetimes within `bytes`, for copies that start early and copies that overlap with the next entry.
static void spread(EntryScratch &entry, const EntryScratch &next, StorageTable &storages, int64_t alignment,
                   int64_t bytes) {
  const bool followsItself = &entry == &next;
  const int64_t begin = followsItself ? 0 : entry.end();
  entry.liveIn(next, begin, storages);
  const SmallVector<PlacedBuffer> others = followsItself ? SmallVector<PlacedBuffer>{} : next.placed(begin);
  spreadInArena(entry.lifetimes, entry.layout, alignment, bytes, others);
  entry.moveFetches();
}

/// Entries do not run at the same time, so that each uses the whole scratch arena.
void PlanMemoryPass::placeScratch(StorageTable &storages,
                                  ArrayRef<std::pair<train::EntryOp, Assignment>> entries,
                                  SmallVectorImpl<int64_t> &offsets) {
  std::vector<EntryScratch> scratch;
  int64_t &bytes = scratchBytes_[size_t(plan::Space::device)];
  for (auto &[entry, assignment] : entries) {
    EntryScratch &each = scratch.emplace_back(storages, assignment);
    each.layout = layOutArena(each.lifetimes, bufferAlignment_);
    bytes = std::max(bytes, each.layout.bytes);
  }
  // Each entry of a step precedes a micro-step, directly or indirectly.
  const auto isMicroStep = [](const auto &each) {
    train::EntryOp entry = each.first;
    return entry.getKind() == EntryKind::micro_step;
  };
  const auto microStep = size_t(llvm::find_if(entries, isMicroStep) - entries.begin());
  if (microStep < entries.size())
    spread(scratch[microStep], scratch[microStep], storages, bufferAlignment_, bytes);
  for (size_t index = 0; index < scratch.size(); ++index)
    if (index != microStep)
      spread(scratch[index], scratch[microStep < scratch.size() ? microStep : index], storages,
             bufferAlignment_, bytes);
  for (const EntryScratch &each : scratch)
    for (auto [index, offset] : llvm::zip(each.storages, each.layout.offsets))
      offsets[index] = offset;
}

static std::string arenaName(plan::Space space, bool persistent) {
  if (space == plan::Space::device)
    return persistent ? "persistent" : "scratch";
  return plan::stringifySpace(space).str() + (persistent ? "" : "_scratch");
}

/// Creates arenas of other spaces only if they are not empty.
void PlanMemoryPass::createArenas(OpBuilder &builder) {
  const Location loc = getOperation().getLoc();
  for (const bool persistent : {true, false})
    for (auto [index, bytes] : llvm::enumerate(bytesOf(persistent))) {
      const auto space = static_cast<plan::Space>(index);
      if (space == plan::Space::device || bytes > 0)
        plan::ArenaOp::create(builder, loc, arenaName(space, persistent), bytes, space, persistent);
    }
}

/// Names buffers after the state that they hold, with a suffix if another symbol of the plan has that name.
SmallVector<FlatSymbolRefAttr> PlanMemoryPass::createBuffers(OpBuilder &builder, StorageTable &storages,
                                                             ArrayRef<int64_t> offsets) {
  llvm::StringSet<> taken;
  for (Operation &op : *getOperation().getBody())
    if (auto symbol = dyn_cast<SymbolOpInterface>(op); symbol && !isa<train::StateOp>(op))
      taken.insert(symbol.getName());
  SmallVector<FlatSymbolRefAttr> buffers;
  for (size_t index = 0; index < storages.size(); ++index) {
    std::string name = storages[index].name;
    while (!taken.insert(name).second)
      name += "'";
    buffers.push_back(FlatSymbolRefAttr::get(builder.getContext(), name));
  }
  const auto place = [&](View state) {
    return plan::OperandAttr::get(builder.getContext(), buffers[state.storage], state.offset, state.step,
                                  state.rankStep, state.axes);
  };
  for (size_t index = 0; index < storages.size(); ++index) {
    const Storage &storage = storages[index];
    const SmallVector<Attribute> stored =
        llvm::map_to_vector(storage.stored, [&](View state) -> Attribute { return place(state); });
    plan::BufferOp::create(builder, getOperation().getLoc(), buffers[index].getValue(),
                           arenaName(storage.space, storage.persistent), offsets[index], storage.bytes,
                           storage.element, storage.role,
                           storage.fetched.isNull() ? plan::OperandAttr() : place(storage.fetched),
                           storage.stored.empty() ? ArrayAttr() : builder.getArrayAttr(stored));
  }
  return buffers;
}

void PlanMemoryPass::runOnOperation() {
  ModuleOp module = getOperation();
  if (failed(requireConcrete(module)))
    return signalPassFailure();
  for (auto entry : module.getOps<train::EntryOp>())
    if (failed(requireScheduled(entry.getBody().front())))
      return signalPassFailure();
  bufferAlignment_ = codegen::Target::chosenFor(module)->limits().bufferAlignment;
  persistentBytes_.fill(0);
  scratchBytes_.fill(0);
  StorageTable storages(module);
  std::vector<std::pair<train::EntryOp, Assignment>> entries;
  for (auto entry : module.getOps<train::EntryOp>()) {
    const Assignment &assignment = entries.emplace_back(entry, assignEntry(entry, storages)).second;
    if (failed(checkHostOps(entry, assignment, storages)))
      return signalPassFailure();
  }

  SmallVector<int64_t> offsets;
  placeStates(storages, offsets);
  placeScratch(storages, entries, offsets);

  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  createArenas(builder);
  SmallVector<FlatSymbolRefAttr> buffers = createBuffers(builder, storages, offsets);
  if (failed(emitMetadata(builder, module, storages, buffers)))
    return signalPassFailure();
  for (auto &[entry, assignment] : entries)
    if (failed(emitEntry(builder, entry, assignment, buffers)))
      return signalPassFailure();
  for (auto &[entry, assignment] : entries)
    entry.erase();
  for (auto state : llvm::make_early_inc_range(module.getOps<train::StateOp>()))
    state.erase();
  for (auto program : llvm::make_early_inc_range(module.getOps<train::ProgramOp>()))
    program.erase();
}

} // namespace trainc
