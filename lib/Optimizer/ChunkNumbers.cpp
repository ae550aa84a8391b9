#include "lib/Optimizer/ChunkNumbers.h"

#include "dialects/Dist/Dist.h"
#include "dialects/Train/Sharding.h"

#include <map>
#include <utility>

using namespace mlir;
using namespace trainc;

static_assert(train::kFlatChunk == nn::kDrawnChunk, "members begin with a chunk of what is drawn");

static int64_t chunksOf(train::MemberAttr member) {
  return int64_t(llvm::divideCeil(member.getType().getNumElements(), train::kFlatChunk));
}

/// Returns the number of each trained parameter's first chunk, by name.
static std::map<StringRef, int64_t> firstChunks(ModuleOp module) {
  std::map<StringRef, int64_t> numbers;
  for (auto state : module.getOps<train::StateOp>())
    if (state.getRole() == train::StateRole::parameter && state.getMembers() && !state.getFrozen())
      for (auto member : state.getMembersAttr().getAsRange<train::MemberAttr>())
        numbers[member.getName()] = chunksOf(member);
  int64_t next = 0;
  for (auto &[name, number] : numbers)
    number = std::exchange(next, next + number);
  return numbers;
}

/// Numbers per row of 64 bytes, the alignment that kernels need.
static constexpr int64_t kInRow = 64 / sizeof(int64_t);

/// Builds the chunk numbers of a flat state, i64, consecutive for each member. Each number is repeated in a
/// row of 64 bytes, so that a rank's shard begins at a row.
static Value buildNumbers(nn::TensorBuilder &build, train::StateOp flat, RankedTensorType type) {
  const std::map<StringRef, int64_t> first = firstChunks(flat->getParentOfType<ModuleOp>());
  auto rows = [&](int64_t count) { return RankedTensorType::get({count, kInRow}, type.getElementType()); };
  SmallVector<Value> parts;
  int64_t count = 0;
  for (auto member : flat.getMembersAttr().getAsRange<train::MemberAttr>()) {
    Value within = build.create<nn::IotaOp>(0, rows(chunksOf(member)));
    parts.push_back(build.add(within, double(first.at(member.getName()))));
    count += chunksOf(member);
  }
  if (const int64_t rest = type.getNumElements() - count) // zeros for padding, which is not rounded
    parts.push_back(build.zero(rows(rest)));
  return build.reshape(build.slice(build.concat(parts, 0), 1, 0, 1), type.getShape());
}

train::StateOp trainc::declareChunks(StepSymbols &symbols, train::StateOp flat) {
  const std::string name = ("chunks." + flat.getSymName()).str();
  if (train::StateOp made = symbols.state(name))
    return made;
  auto module = flat->getParentOfType<ModuleOp>();
  auto type =
      RankedTensorType::get({cast<RankedTensorType>(flat.getType()).getNumElements() / train::kFlatChunk},
                            IntegerType::get(module.getContext(), 64));
  train::StateOp made = symbols.declareState(name, train::StateRole::chunks, type);
  if (llvm::any_of(module.getOps<train::ProgramOp>(), train::shardsUpdates))
    dist::shardState(made);
  train::EntryOp init = symbols.declareEntry(EntryKind::init, made);
  train::EntryOp refresh = symbols.declareEntry(EntryKind::refresh, init);
  OpBuilder builder = OpBuilder::atBlockEnd(&refresh.getBody().front());
  nn::TensorBuilder build(builder, flat.getLoc());
  train::SetOp::create(builder, flat.getLoc(), name, buildNumbers(build, flat, type));
  return made;
}
