// Syntax and checks shared by nn.kernel and nn.chunks.
#include "dialects/NN/FusionSyntax.h"

#include "dialects/NN/Syntax.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

ParseResult RegionInputs::parseOne(OpAsmParser &parser) {
  Type type;
  if (parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
      parser.parseOperand(operands.emplace_back()) || parser.parseColonType(type))
    return failure();
  arguments.back().type = type;
  types.push_back(type);
  return success();
}

ParseResult RegionInputs::parseRest(OpAsmParser &parser, OperationState &state) {
  Region *body = state.addRegion();
  return failure(parser.resolveOperands(operands, types, parser.getNameLoc(), state.operands) ||
                 parseAttributes(parser, state) || parser.parseRegion(*body, arguments));
}

void nn::printRest(OpAsmPrinter &printer, Operation *op, ArrayRef<StringRef> known) {
  printer.printOptionalAttrDictWithKeyword(op->getAttrs(), known);
  printer << " ";
  printer.printRegion(op->getRegion(0), /*printEntryBlockArgs=*/false);
}

LogicalResult nn::verifyTypes(Operation *op, StringRef what, TypeRange types, StringRef expectedWhat,
                              TypeRange expected) {
  if (types.size() != expected.size())
    return op->emitOpError("has ") << expected.size() << " " << expectedWhat << "s but " << types.size()
                                   << " " << what << "s";
  for (auto [index, type, wanted] : llvm::enumerate(types, expected))
    if (type != wanted)
      return op->emitOpError() << what << " " << index << " is " << type << ", but " << expectedWhat << " "
                               << index << " is " << wanted;
  return success();
}

LogicalResult nn::verifyYield(Operation *op, StringRef expectedWhat, TypeRange expected) {
  auto yield = dyn_cast<YieldOp>(op->getRegion(0).front().back());
  if (!yield)
    return op->emitOpError("must end in nn.yield");
  return verifyTypes(op, "yielded value", yield.getValues().getTypes(), expectedWhat, expected);
}
