#include "lib/Adapters/Linears.h"

#include "dialects/NN/Builders.h"
#include "dialects/NN/Syntax.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::adapters;

/// End of the name of a layer's weight, after the layer's path.
static constexpr StringLiteral kWeight = ".weight";

/// Adds a product to the layer. Returns false if it is no product of inputs by the weight, or has another
/// layout than the layer's other products.
static bool addProduct(Linear &linear, OpOperand &weight) {
  auto product = dyn_cast<GemmOpInterface>(weight.getOwner());
  if (!product || weight.getOperandNumber() != 1)
    return false;
  const GemmShape shape = product.getGemmShape();
  const bool isInOut = !shape.transposeB;
  if (shape.transposeA || shape.accumulate || shape.sumsBatch() ||
      (!linear.products.empty() && linear.isInOut != isInOut))
    return false;
  linear.in = shape.k;
  linear.out = shape.n;
  linear.isInOut = isInOut;
  linear.products.push_back(product);
  return true;
}

/// Marks the layers whose results in `entry` no other layer depends on. A head whose weight is also an
/// embedding counts as a layer.
static void markLast(train::EntryOp entry, MutableArrayRef<Linear> linears) {
  DenseMap<Operation *, Linear *> ofProduct;
  for (Linear &linear : linears)
    for (Operation *product : linear.products)
      ofProduct[product] = &linear;
  DenseSet<Operation *> feeding; // ops on whose results a layer's input depends
  for (Operation &op : llvm::reverse(entry.getBody().front())) {
    const bool feeds = llvm::any_of(
        op.getUsers(), [&](Operation *user) { return ofProduct.contains(user) || feeding.contains(user); });
    if (feeds)
      feeding.insert(&op);
    if (Linear *linear = ofProduct.lookup(&op))
      linear->isLast = !feeds;
  }
}

SmallVector<Linear> adapters::findLinears(ModuleOp module) {
  llvm::MapVector<StringAttr, Linear> found;
  for (auto state : module.getOps<train::StateOp>())
    if (auto type = cast<RankedTensorType>(state.getType()); state.getRole() == train::StateRole::parameter &&
                                                             type.getRank() == 2 &&
                                                             isa<FloatType>(type.getElementType()))
      if (StringRef layer = state.getSymName(); layer.consume_back(kWeight) && !layer.empty())
        found.insert({state.getSymNameAttr(), {state, layer.str()}});
  DenseSet<StringAttr> others; // parameters that something else reads, too
  module.walk([&](train::GetOp get) {
    const StringAttr name = get.getStateAttr().getAttr();
    if (const auto linear = found.find(name); linear != found.end())
      for (OpOperand &use : get->getUses())
        if (!addProduct(linear->second, use))
          others.insert(name);
  });
  SmallVector<Linear> linears = llvm::to_vector(llvm::make_second_range(found));
  for (auto entry : module.getOps<train::EntryOp>())
    if (entry.getKind() == EntryKind::micro_step)
      markLast(entry, linears);
  llvm::erase_if(linears, [&](Linear &linear) {
    return linear.products.empty() || others.contains(linear.weight.getSymNameAttr());
  });
  return linears;
}

/// Reports a pattern that selects nothing.
static LogicalResult reportIdle(train::ProgramOp program, StringRef pattern, ArrayRef<Linear> linears) {
  InFlightDiagnostic error = program.emitError()
                             << "lora \"" << pattern << "\" matches no linear layer of model @"
                             << program.getModel();
  if (linears.empty())
    return error << ", which has none";
  // Ends of names, in the order of the layers.
  SmallVector<StringRef> ends;
  for (const Linear &linear : linears)
    if (const StringRef end = StringRef(linear.layer).rsplit('.').second; !llvm::is_contained(ends, end))
      ends.push_back(end.empty() ? StringRef(linear.layer) : end);
  if (const StringRef nearest = nearestName(pattern, ends); !nearest.empty())
    return error << "; did you mean '" << nearest << "'?";
  error << "; its layers are named ";
  llvm::interleaveComma(ends, error);
  return error << "; `*` stands for any text";
}

FailureOr<SmallVector<Linear>> adapters::selectLinears(train::ProgramOp program, ArrayRef<Linear> linears,
                                                       const train::AdapterSettings &settings) {
  const auto selects = [](StringRef pattern, const Linear &linear) {
    return pattern == train::kAllLinear ? !linear.isLast : train::matchesLayer(pattern, linear.layer);
  };
  for (StringRef pattern : settings.layers)
    if (llvm::none_of(linears, [&](const Linear &linear) { return selects(pattern, linear); }))
      return reportIdle(program, pattern, linears);
  SmallVector<Linear> selected;
  for (const Linear &linear : linears)
    if (llvm::any_of(settings.layers, [&](StringRef pattern) { return selects(pattern, linear); }))
      selected.push_back(linear);
  return selected;
}
