// Pass `flatten`.
#include "lib/Shard/Passes.h"

#include "dialects/Dist/Dist.h"
#include "dialects/NN/Builders.h"
#include "dialects/Train/Parameters.h"
#include "dialects/Train/Precision.h"
#include "dialects/Train/Sharding.h"
#include "lib/Analysis/StateOrder.h"
#include "lib/Shard/WrapUnits.h"
#include "plan/settings/settings.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <limits>

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_FLATTEN
#include "lib/Shard/Passes.h.inc"

namespace {

/// Bucket of a parameter, and the parameter's offset in it.
struct Membership {
  train::StateOp bucket;
  int64_t offset;
};

/// Common properties of a flat state's members: their unit, their update settings, whether they are
/// unsharded, and whether they are read in f32 while other parameters are read in a lower type.
struct BucketKey {
  StringRef unit;
  Type element;
  double lrScale, weightDecay;
  bool trained, whole, kept;
  bool operator==(const BucketKey &) const = default;
};

/// Parameters of one flat state.
struct Bucket {
  BucketKey key;
  SmallVector<train::StateOp> members;
};

/// Puts the parameters of a module into buckets.
class Flattener {
public:
  Flattener(ModuleOp module, train::ProgramOp program)
      : module(module), program(program), settings(train::shardingOf(program)),
        precision(train::precisionOf(program)), shardsParameters(train::kZeroStage.of(program) == 3) {}

  LogicalResult run() {
    if (train::kRanks.of(program) % settings.shardRanks != 0)
      return program.emitError() << "hybrid_shard: " << train::kRanks.of(program)
                                 << " ranks cannot form groups of " << settings.shardRanks
                                 << "; expected a divisor of the number of ranks";
    for (auto entry : module.getOps<train::EntryOp>())
      entry.walk([&](train::GradientOp op) { trained.insert(op.getParameter()); });
    FailureOr<SmallVector<Bucket>> made = buckets();
    if (failed(made))
      return failure();
    SmallVector<Attribute> groups;
    if (program.getGroups())
      llvm::append_range(groups, *program.getGroups());
    for (Bucket &bucket : *made)
      if (failed(declare(bucket, groups)))
        return failure();
    if (!groups.empty())
      program.setGroupsAttr(ArrayAttr::get(module.getContext(), groups));
    for (auto entry : module.getOps<train::EntryOp>()) {
      replaceReads(entry);
      if (failed(replaceWrites<train::SetOp>(entry)) || failed(replaceWrites<train::GradientOp>(entry)))
        return failure();
    }
    SymbolTable symbols(module);
    for (auto &[name, place] : places)
      symbols.erase(symbols.lookup(name));
    return success();
  }

private:
  /// Returns the parameters that ranks update or shard.
  SmallVector<train::StateOp> parameters() {
    SmallVector<train::StateOp> found;
    for (auto state : module.getOps<train::StateOp>())
      if (trained.contains(state.getSymName()) ||
          (shardsParameters && state.getRole() == train::StateRole::parameter))
        found.push_back(state);
    return found;
  }

  BucketKey keyOf(train::StateOp state, const WrapUnits &units) {
    auto type = cast<RankedTensorType>(state.getType());
    auto update = train::settingsOf(program, state.getSymName(), type.getRank());
    return {.unit = units.unitOf(state),
            .element = type.getElementType(),
            .lrScale = update.lrScale,
            .weightDecay = update.weightDecay,
            .trained = trained.contains(state.getSymName()),
            .whole = !shardsParameters || type.getNumElements() < settings.persistBelow,
            .kept = (precision.computesLow() || !precision.eval.isF32()) &&
                    precision.keepsF32(state.getSymName())};
  }

  FailureOr<SmallVector<Bucket>> buckets() {
    SmallVector<train::StateOp> states = parameters();
    FailureOr<WrapUnits> units = WrapUnits::find(program, settings.wrap, states);
    if (failed(units))
      return failure();
    SmallVector<Bucket> buckets;
    llvm::StringMap<SmallVector<size_t>> ofUnit; // indices of the few buckets of each unit
    for (train::StateOp state : states) {
      const BucketKey key = keyOf(state, *units);
      SmallVector<size_t> &candidates = ofUnit[key.unit];
      auto *found = llvm::find_if(candidates, [&](size_t each) { return buckets[each].key == key; });
      if (found == candidates.end()) {
        found = &candidates.emplace_back(buckets.size());
        buckets.push_back({key, {}});
      }
      buckets[*found].members.push_back(state);
    }
    return buckets;
  }

  /// Declares the bucket's state. Adds a group of the program, which carries its members' settings.
  LogicalResult declare(Bucket &bucket, SmallVectorImpl<Attribute> &groups) {
    OpBuilder builder(bucket.members.front());
    int64_t elements = 0;
    SmallVector<Attribute> members;
    for (train::StateOp member : bucket.members) {
      elements = int64_t(llvm::alignTo(elements, train::kFlatChunk));
      members.push_back(train::MemberAttr::get(module.getContext(), member.getSymName(), elements,
                                               cast<RankedTensorType>(member.getType())));
      elements += cast<RankedTensorType>(member.getType()).getNumElements();
    }
    const std::string name = "bucket." + std::to_string(declared++);
    auto type = RankedTensorType::get(
        int64_t(llvm::alignTo(elements, settings.shardRanks * train::kFlatChunk)), bucket.key.element);
    if (type.getNumElements() / train::kFlatChunk > std::numeric_limits<int32_t>::max())
      return emitTooLarge(bucket, elements);
    Location loc = NameLoc::get(builder.getStringAttr(bucket.key.unit), bucket.members.front().getLoc());
    auto state = train::StateOp::create(builder, loc, name, train::StateRole::parameter, type);
    state.setMembersAttr(builder.getArrayAttr(members));
    state.setBlocksAttr(blocksOfUnit(bucket));
    state.setFrozen(!bucket.key.trained);
    if (!bucket.key.whole)
      dist::shardState(state);
    for (auto member : llvm::map_range(members, [](Attribute m) { return cast<train::MemberAttr>(m); }))
      places.insert({member.getName().str(), {state, member.getOffset()}});
    groups.push_back(train::GroupAttr::get(module.getContext(), name,
                                           builder.getF64FloatAttr(bucket.key.lrScale),
                                           builder.getF64FloatAttr(bucket.key.weightDecay), BoolAttr()));
    return success();
  }

  /// Reports, at the largest member, a bucket with more chunks than a dimension of a tensor may have.
  static LogicalResult emitTooLarge(Bucket &bucket, int64_t elements) {
    auto *largest = llvm::max_element(bucket.members, [](train::StateOp a, train::StateOp b) {
      return cast<RankedTensorType>(a.getType()).getNumElements() <
             cast<RankedTensorType>(b.getType()).getNumElements();
    });
    InFlightDiagnostic error = emitError(largest->getLoc());
    if (bucket.members.size() == 1)
      error << "parameter \"" << bucket.members.front().getSymName() << "\" has ";
    else if (bucket.key.unit.empty())
      error << "the parameters outside all units have ";
    else
      error << "the parameters of unit \"" << bucket.key.unit << "\" have ";
    return error << elements << " elements, expected at most "
                 << train::kFlatChunk * std::numeric_limits<int32_t>::max()
                 << " on several ranks; make several parameters or smaller units (--wrap) of them";
  }

  /// Returns the uses of blocks that enclose the bucket's unit.
  static ArrayAttr blocksOfUnit(Bucket &bucket) {
    ArrayAttr blocks = bucket.members.front().getBlocksAttr();
    for (size_t depth = 0; blocks && depth < blocks.size(); ++depth)
      if (cast<train::BlockAttr>(blocks[depth]).getScope() == bucket.key.unit)
        return ArrayAttr::get(blocks.getContext(), blocks.getValue().take_front(depth + 1));
    return {};
  }

  /// Reads a bucket once for all its members, until one of them is written.
  void replaceReads(train::EntryOp entry) {
    llvm::DenseMap<Operation *, Value> read;
    entry.walk([&](Operation *op) {
      auto set = dyn_cast<train::SetOp>(op);
      auto get = dyn_cast<train::GetOp>(op);
      auto found = set || get ? places.find((set ? set.getState() : get.getState()).str()) : places.end();
      if (found == places.end())
        return;
      auto [bucket, offset] = found->second;
      if (set) {
        read.erase(bucket);
        return;
      }
      Value &flat = read[bucket];
      if (!flat) {
        OpBuilder first(entry.getBody().front().findAncestorOpInBlock(*get));
        flat = train::GetOp::create(first, get.getLoc(), bucket.getType(), bucket.getSymName());
      }
      OpBuilder builder(get);
      get.getResult().replaceAllUsesWith(
          dist::MemberOp::create(builder, get.getLoc(), get.getResult().getType(), flat, offset));
      get.erase();
    });
  }

  /// Replaces the writes of a bucket's members by one write of the bucket, after the last of them.
  template <typename Write> LogicalResult replaceWrites(train::EntryOp entry) {
    llvm::MapVector<Operation *, SmallVector<Write>> writes;
    entry.walk([&](Write write) {
      if (auto found = places.find(target(write).str()); found != places.end())
        writes[found->second.bucket].push_back(write);
    });
    const StateOrder order(entry.getBody().front());
    for (auto &[state, members] : writes) {
      auto bucket = cast<train::StateOp>(state);
      if (failed(checkWrites<Write>(entry, order, bucket, members)))
        return failure();
      Write last = members.back();
      llvm::sort(members, [&](Write a, Write b) { return offsetOf(a) < offsetOf(b); });
      SmallVector<Value> values;
      SmallVector<int64_t> offsets;
      for (Write member : members) {
        values.push_back(member.getValue());
        offsets.push_back(offsetOf(member));
      }
      OpBuilder builder(last);
      builder.setInsertionPointAfter(lastDefinition(values));
      auto type = nn::typeLike(values.front(), cast<RankedTensorType>(bucket.getType()).getShape());
      Value flat = dist::PackOp::create(builder, bucket.getLoc(), type, values, offsets);
      builder.setInsertionPoint(last);
      Write::create(builder, bucket.getLoc(), bucket.getSymName(), flat);
      for (Write member : members)
        member.erase();
    }
    return success();
  }

  /// Verifies that members are written together; otherwise one write of the bucket would change the order.
  template <typename Write>
  LogicalResult checkWrites(train::EntryOp entry, const StateOrder &order, train::StateOp bucket,
                            ArrayRef<Write> writes) {
    Write first = writes.front();
    llvm::StringSet<> names;
    for (Write write : writes)
      if (write->getParentOp() != entry || !names.insert(target(write)).second)
        return write.emitOpError("writes a parameter in a loop or twice; expected one write in the entry, as "
                                 "several ranks hold it in one state with others");
    if (writes.size() != bucket.getMembersAttr().size())
      return first.emitOpError("is one of ")
             << writes.size() << " writes of an entry to a group of " << bucket.getMembersAttr().size()
             << " parameters, which several ranks hold in one state; expected all of them";
    for (train::GetOp get : order.reads(bucket.getSymName()))
      if (std::is_same_v<Write, train::SetOp> && first->isBeforeInBlock(get))
        return get.emitOpError(
            "reads a parameter after the first write to those that several ranks hold in one "
            "state with it; expected all reads before");
    return success();
  }

  /// Returns the last definition of the values, the earliest place at which all are known.
  static Operation *lastDefinition(ArrayRef<Value> values) {
    auto definitions = llvm::map_range(values, [](Value value) { return value.getDefiningOp(); });
    return *llvm::max_element(definitions, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  }

  static StringRef target(train::SetOp op) { return op.getState(); }
  static StringRef target(train::GradientOp op) { return op.getParameter(); }
  template <typename Write> int64_t offsetOf(Write op) {
    return places.find(target(op).str())->second.offset;
  }

  ModuleOp module;
  train::ProgramOp program;
  train::ShardingSettings settings;
  train::PrecisionSettings precision;
  bool shardsParameters;
  llvm::StringSet<> trained;
  llvm::MapVector<std::string, Membership, std::map<std::string, unsigned>> places;
  int declared = 0;
};

struct Flatten : impl::FlattenBase<Flatten> {
  void runOnOperation() override {
    for (auto program : llvm::to_vector(getOperation().getOps<train::ProgramOp>()))
      if (train::hasFlatStates(program) && failed(Flattener(getOperation(), program).run()))
        return signalPassFailure();
  }
};

} // namespace
} // namespace trainc
