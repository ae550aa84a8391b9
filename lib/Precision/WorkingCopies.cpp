// Pass `working-copies`: stores parameters in f32, with a low-precision copy that the forward reads.
#include "dialects/Dist/Dist.h"
#include "dialects/Train/Sharding.h"
#include "lib/Precision/ElementTypes.h"
#include "lib/Precision/Passes.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_WORKINGCOPIES
#include "lib/Precision/Passes.h.inc"

namespace {

/// Creates the working copies of one module.
class CopyMaker {
public:
  CopyMaker(ModuleOp module, train::ProgramOp program, Type low)
      : module(module), program(program), low(low), symbols(module) {}

  void run() {
    findReads();
    if (!casts.empty())
      refreshEntry =
          train::declareEntry(module, EntryKind::refresh, findEntry<train::EntryOp>(module, EntryKind::init));
    for (auto &[state, reads] : casts)
      declare(cast<train::StateOp>(state));
    for (auto &[state, reads] : casts)
      for (nn::ConvertOp cast : reads)
        readCopy(cast);
    for (auto entry : module.getOps<train::EntryOp>())
      writeCopies(entry);
  }

private:
  void findReads();
  void declare(train::StateOp state);
  void readCopy(nn::ConvertOp cast);
  void writeCopies(train::EntryOp entry);
  void refresh(train::StateOp state);

  ModuleOp module;
  train::ProgramOp program;
  Type low;
  SymbolTable symbols;
  /// for each parameter state, the casts of its reads, in program order
  llvm::MapVector<Operation *, SmallVector<nn::ConvertOp>> casts;
  llvm::DenseMap<Operation *, train::StateOp> copies;
  train::EntryOp refreshEntry;
};

/// Returns the read of a state that gives `value`, whole or as a member; null if there is none.
train::GetOp readOf(Value value) {
  if (auto member = value.getDefiningOp<dist::MemberOp>())
    value = member.getFlat();
  return value.getDefiningOp<train::GetOp>();
}

} // namespace

void CopyMaker::findReads() {
  module.walk([&](nn::ConvertOp cast) {
    train::GetOp get = cast.getTo() == low ? readOf(cast.getX()) : train::GetOp();
    if (!get)
      return;
    auto state = symbols.lookup<train::StateOp>(get.getState());
    if (state.getRole() == train::StateRole::parameter)
      casts[state].push_back(cast);
  });
}

/// A copy is sharded like its parameter. From stage 1 on only the update reads a trained parameter itself, so
/// that each rank keeps only the shard that it updates.
void CopyMaker::declare(train::StateOp state) {
  OpBuilder builder(state);
  builder.setInsertionPointAfter(state);
  auto type = cast<RankedTensorType>(state.getType()).clone(low);
  auto copy = cast<train::StateOp>(builder.clone(*state));
  copy.setSymName(("working." + state.getSymName()).str());
  copy.setRole(train::StateRole::working);
  copy.setType(type);
  symbols.insert(copy);
  copies[state] = copy;
  if (train::shardsUpdates(program) && state.getMembers() && !state.getFrozen())
    dist::shardState(state);
  refresh(state);
}

/// Adds the cast to the entry `refresh`, which runs after weights have been initialised or loaded.
void CopyMaker::refresh(train::StateOp state) {
  OpBuilder builder = OpBuilder::atBlockEnd(&refreshEntry.getBody().front());
  Value value = train::GetOp::create(builder, state.getLoc(), state.getType(), state.getSymName());
  Value rounded = nn::TensorBuilder(builder, state.getLoc()).convert(value, low);
  train::SetOp::create(builder, state.getLoc(), copies[state].getSymName(), rounded);
}

/// Replaces a cast of the parameter by a read of the copy.
void CopyMaker::readCopy(nn::ConvertOp cast) {
  train::GetOp get = readOf(cast.getX());
  train::StateOp copy = copies[symbols.lookup(get.getState())];
  OpBuilder builder(get);
  Value read = train::GetOp::create(builder, get.getLoc(), copy.getType(), copy.getSymName());
  if (auto member = cast.getX().getDefiningOp<dist::MemberOp>()) {
    builder.setInsertionPoint(member);
    read = dist::MemberOp::create(builder, member.getLoc(), cast.getType(), read, member.getOffset());
  }
  cast.getResult().replaceAllUsesWith(read);
  cast.erase();
}

/// Updates the copy after each update of its parameter. After `init`, `refresh` creates the copies.
void CopyMaker::writeCopies(train::EntryOp entry) {
  if (entry.getKind() == EntryKind::init)
    return;
  for (auto set : llvm::make_early_inc_range(entry.getBody().getOps<train::SetOp>())) {
    train::StateOp copy = copies.lookup(symbols.lookup(set.getState()));
    if (!copy)
      continue;
    OpBuilder builder(set);
    builder.setInsertionPointAfter(set);
    Value rounded = nn::TensorBuilder(builder, set.getLoc()).convert(set.getValue(), low);
    train::SetOp::create(builder, set.getLoc(), copy.getSymName(), rounded);
  }
}

namespace {

struct WorkingCopies : impl::WorkingCopiesBase<WorkingCopies> {
  void runOnOperation() override {
    for (auto program : llvm::to_vector(getOperation().getOps<train::ProgramOp>()))
      if (Type low = lowTypeOf(getOperation()))
        CopyMaker(getOperation(), program, low).run();
  }
};

} // namespace
} // namespace trainc
