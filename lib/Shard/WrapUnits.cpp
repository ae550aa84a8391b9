#include "lib/Shard/WrapUnits.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace trainc;

using Blocks = SmallVector<train::BlockAttr>;

/// Returns the block uses that enclose the parameter's declaration, the outermost first.
static Blocks blocksOf(train::StateOp parameter) {
  ArrayAttr blocks = parameter.getBlocksAttr();
  return blocks ? llvm::to_vector(blocks.getAsRange<train::BlockAttr>()) : Blocks();
}

static StringRef outermost(train::StateOp parameter) {
  Blocks blocks = blocksOf(parameter);
  return blocks.empty() ? "" : blocks.front().getScope();
}

/// Returns the scope of the innermost use of one of the blocks.
static StringRef innermostOf(ArrayRef<StringRef> names, train::StateOp parameter) {
  Blocks blocks = blocksOf(parameter);
  for (train::BlockAttr block : llvm::reverse(blocks))
    if (llvm::is_contained(names, block.getName()))
      return block.getScope();
  return "";
}

/// Returns the number of parameter elements within each use of a block.
static llvm::StringMap<int64_t> countElements(ArrayRef<train::StateOp> parameters) {
  llvm::StringMap<int64_t> elements;
  for (train::StateOp parameter : parameters)
    for (train::BlockAttr block : blocksOf(parameter))
      elements[block.getScope()] += cast<RankedTensorType>(parameter.getType()).getNumElements();
  return elements;
}

/// Returns all parameters, including those that no rank updates or shards.
static SmallVector<train::StateOp> everyParameter(train::ProgramOp program) {
  auto states = program->getParentOfType<ModuleOp>().getOps<train::StateOp>();
  auto isParameter = [](train::StateOp state) { return state.getRole() == train::StateRole::parameter; };
  return llvm::to_vector(llvm::make_filter_range(states, isParameter));
}

/// Returns "@layer, @mlp", or "there is none".
static std::string namesOfBlocks(ArrayRef<train::StateOp> parameters) {
  llvm::SetVector<StringRef> names;
  for (train::StateOp parameter : parameters)
    for (train::BlockAttr block : blocksOf(parameter))
      names.insert(block.getName());
  return names.empty() ? "there is none" : "@" + llvm::join(names, ", @");
}

WrapUnits::WrapUnits(ArrayRef<train::StateOp> parameters, Choose choose) {
  for (train::StateOp parameter : parameters)
    units[parameter.getSymName()] = choose(parameter);
}

FailureOr<WrapUnits> WrapUnits::find(train::ProgramOp program, const train::Wrap &wrap,
                                     ArrayRef<train::StateOp> parameters) {
  using Unit = train::Wrap::Unit;
  if (wrap.unit == Unit::Model)
    return WrapUnits(parameters, [](train::StateOp) { return StringRef(); });
  if (wrap.unit == Unit::Blocks)
    return WrapUnits(parameters, outermost);
  if (wrap.unit == Unit::LargeBlocks) {
    llvm::StringMap<int64_t> elements = countElements(parameters);
    return WrapUnits(parameters, [&](train::StateOp parameter) -> StringRef {
      Blocks blocks = blocksOf(parameter);
      for (train::BlockAttr block : llvm::reverse(blocks))
        if (elements.lookup(block.getScope()) >= wrap.minElements)
          return block.getScope();
      return "";
    });
  }
  const auto names = llvm::to_vector_of<StringRef>(wrap.names);
  const SmallVector<train::StateOp> all = everyParameter(program);
  for (StringRef name : names)
    if (llvm::all_of(all, [&](train::StateOp p) { return innermostOf(name, p).empty(); }))
      return program.emitError() << "wrap: no parameter is in a block @" << name
                                 << "; expected blocks or model alone, a number of parameters, or names of "
                                    "blocks with parameters: "
                                 << namesOfBlocks(all);
  return WrapUnits(parameters, [&](train::StateOp parameter) { return innermostOf(names, parameter); });
}
