// nn.apply and nn.repeat: `%y = nn.apply @mlp "mlp" (%x)`, `%h = nn.repeat @layer "h" times 12 (%x)`.
#include "dialects/NN/NN.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

/// Parses `(%a, %b)`; there are as many results as names on the left.
static ParseResult parseValues(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::UnresolvedOperand> inputs;
  Type deferred = DeferredType::get(parser.getContext());
  if (parser.parseOperandList(inputs, OpAsmParser::Delimiter::Paren) ||
      parser.parseOptionalAttrDict(state.attributes) ||
      parser.resolveOperands(inputs, deferred, state.operands))
    return failure();
  state.addTypes(SmallVector<Type>(parser.getNumResults(), deferred));
  return success();
}

static ParseResult parseBlockAndScope(OpAsmParser &parser, OperationState &state) {
  FlatSymbolRefAttr block;
  StringAttr scope;
  return failure(parser.parseAttribute(block, "block", state.attributes) ||
                 parser.parseAttribute(scope, "scope", state.attributes));
}

ParseResult ApplyOp::parse(OpAsmParser &parser, OperationState &state) {
  return failure(parseBlockAndScope(parser, state) || parseValues(parser, state));
}

void ApplyOp::print(OpAsmPrinter &printer) {
  printer << " " << getBlockAttr() << " " << getScopeAttr() << " (" << getInputs() << ")";
  printer.printOptionalAttrDict((*this)->getAttrs(), {"block", "scope"});
}

ParseResult RepeatOp::parse(OpAsmParser &parser, OperationState &state) {
  int64_t times = 0;
  if (parseBlockAndScope(parser, state) || parser.parseKeyword("times") || parser.parseInteger(times))
    return failure();
  state.addAttribute("times", parser.getBuilder().getI64IntegerAttr(times));
  return parseValues(parser, state);
}

void RepeatOp::print(OpAsmPrinter &printer) {
  printer << " " << getBlockAttr() << " " << getScopeAttr() << " times " << getTimes() << " (" << getInputs()
          << ")";
  printer.printOptionalAttrDict((*this)->getAttrs(), {"block", "scope", "times"});
}

/// The block a use names, if it exists and fits the counts of values; else an error.
static FailureOr<BlockOp> findBlock(Operation *op, FlatSymbolRefAttr name, SymbolTableCollection &symbols) {
  auto block = symbols.lookupNearestSymbolFrom<BlockOp>(op, name);
  if (!block)
    return op->emitOpError("there is no nn.block named ") << name;
  auto mismatch = [&](size_t expected, const char *what, size_t found) {
    InFlightDiagnostic error = op->emitOpError("block ")
                               << name << (StringRef(what) == "arguments" ? " takes " : " returns ")
                               << expected << " " << what << ", found " << found;
    error.attachNote(block.getLoc()) << "the block is here";
    return error;
  };
  Block &body = block.getBody().front();
  if (op->getNumOperands() != body.getNumArguments())
    return mismatch(body.getNumArguments(), "arguments", op->getNumOperands());
  // A block without nn.return is reported at the block.
  if (!body.empty() && isa<ReturnOp>(body.back()) && body.back().getNumOperands() != op->getNumResults())
    return mismatch(body.back().getNumOperands(), "values", op->getNumResults());
  return block;
}

LogicalResult ApplyOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return findBlock(*this, getBlockAttr(), symbols);
}

LogicalResult RepeatOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(findBlock(*this, getBlockAttr(), symbols)))
    return failure();
  if (int64_t(getTimes()) < 1 || getTimes() > 100000)
    return emitOpError("times must lie between 1 and 100000, found ") << int64_t(getTimes());
  if (getNumResults() > getNumOperands())
    return emitOpError("the block's ")
           << getNumResults() << " results must feed its first arguments, but it has " << getNumOperands();
  return success();
}
