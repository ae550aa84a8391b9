#include "lib/Reference/Interpreter.h"
#include "lib/Reference/Registry.h"

#include "mlir/IR/OpDefinition.h"

using namespace mlir;
using namespace trainc::reference;

const Registry::Function *Registry::find(Operation *op) const {
  auto found = functions_.find(op->getName().getStringRef());
  return found == functions_.end() ? nullptr : &found->second;
}

const Registry &trainc::reference::registry() {
  static const Registry all = [] {
    Registry functions;
    for (auto *registerFamily :
         {registerElementwise, registerShape, registerLinear, registerAttention, registerNorm,
          registerPosition, registerLoss, registerRandom, registerKernel, registerEntry, registerRanks})
      registerFamily(functions);
    return functions;
  }();
  return all;
}

FailureOr<Tensors> trainc::reference::runOp(Operation &op, Frame &frame) {
  if (const Registry::Function *function = registry().find(&op))
    return (*function)(&op, frame);
  return op.emitOpError("has no function in the reference interpreter (lib/Reference)");
}

LogicalResult trainc::reference::runAndDefine(Operation &op, Frame &frame) {
  FailureOr<Tensors> results = runOp(op, frame);
  if (failed(results))
    return failure();
  assert(results->size() == op.getNumResults() && "one tensor per result");
  for (auto [value, tensor] : llvm::zip(op.getResults(), *results)) {
    assert(tensor.type() == value.getType() && "a result of another type");
    frame.define(value, std::move(tensor));
  }
  return success();
}

FailureOr<Tensors> trainc::reference::runBlock(Block &block, Tensors arguments, EntryMemory *memory) {
  assert(arguments.size() == block.getNumArguments() && "one tensor per block argument");
  Frame frame(memory);
  for (auto [argument, tensor] : llvm::zip(block.getArguments(), arguments))
    frame.define(argument, std::move(tensor));
  for (Operation &op : block) {
    if (!op.hasTrait<OpTrait::IsTerminator>()) {
      if (failed(runAndDefine(op, frame)))
        return failure();
      continue;
    }
    Tensors results;
    for (Value value : op.getOperands())
      results.push_back(frame[value]);
    return results;
  }
  return Tensors{};
}
