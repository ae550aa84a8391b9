// Blocks and models, and the ops that use blocks: syntax and verification.
#include "dialects/NN/NN.h"
#include "dialects/NN/Syntax.h"

#include <cmath>

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

thread_local int ModelTextScope::depth = 0;

/// Parses `@name(%a: type, ...)`. Region arguments are deferred; their spelled types become `argument_types`.
static ParseResult parseSignature(OpAsmParser &parser, OperationState &state,
                                  SmallVectorImpl<OpAsmParser::Argument> &arguments) {
  StringAttr name;
  if (parser.parseSymbolName(name, SymbolTable::getSymbolAttrName(), state.attributes) ||
      parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren, /*allowType=*/true))
    return failure();
  SmallVector<Attribute> types;
  for (OpAsmParser::Argument &argument : arguments) {
    types.push_back(TypeAttr::get(argument.type));
    argument.type = DeferredType::get(parser.getContext());
  }
  state.addAttribute("argument_types", parser.getBuilder().getArrayAttr(types));
  return success();
}

static ParseResult parseBody(OpAsmParser &parser, OperationState &state,
                             ArrayRef<OpAsmParser::Argument> arguments) {
  Region *body = state.addRegion();
  ModelTextScope inText;
  if (parser.parseRegion(*body, arguments))
    return failure();
  if (body->empty())
    body->emplaceBlock();
  return success();
}

static void printSignature(OpAsmPrinter &printer, StringAttr name, ArrayAttr types, Block &body) {
  printer << " ";
  printer.printSymbolName(name.getValue());
  printer << "(";
  llvm::interleaveComma(llvm::zip(body.getArguments(), types.getAsValueRange<TypeAttr>()), printer,
                        [&](auto pair) { printer << std::get<0>(pair) << ": " << std::get<1>(pair); });
  printer << ")";
}

static LogicalResult verifySignature(Operation *op, ArrayAttr types, Block &body) {
  if (types.size() != body.getNumArguments())
    return op->emitOpError("has ") << body.getNumArguments() << " arguments but " << types.size()
                                   << " argument types";
  for (auto [index, type] : llvm::enumerate(types.getAsValueRange<TypeAttr>())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getEncoding())
      return op->emitOpError("argument ")
             << index << " must be a ranked tensor of sizes and an element type, found " << type;
  }
  return success();
}

// --- nn.block ---

ParseResult BlockOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::Argument> arguments;
  return failure(parseSignature(parser, state, arguments) || parseAttributes(parser, state) ||
                 parseBody(parser, state, arguments));
}

void BlockOp::print(OpAsmPrinter &printer) {
  printSignature(printer, getSymNameAttr(), getArgumentTypes(), getBody().front());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"sym_name", "argument_types"});
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult BlockOp::verify() {
  Block &body = getBody().front();
  if (body.empty() || !isa<ReturnOp>(body.back()))
    return emitOpError("must end in nn.return");
  return verifySignature(*this, getArgumentTypes(), body);
}

void BlockOp::getAsmBlockArgumentNames(Region &, OpAsmSetValueNameFn) {}

// --- nn.model ---

/// Parses `export "config.json" {...}` any number of times into one dictionary.
static ParseResult parseExports(OpAsmParser &parser, OperationState &state) {
  NamedAttrList exports;
  SMLoc loc = parser.getCurrentLocation();
  while (succeeded(parser.parseOptionalKeyword("export"))) {
    if (parseExport(parser, loc, exports))
      return failure();
    loc = parser.getCurrentLocation();
  }
  if (!exports.empty())
    state.addAttribute("exports", exports.getDictionary(parser.getContext()));
  return success();
}

ParseResult ModelOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::Argument> arguments;
  if (parseSignature(parser, state, arguments))
    return failure();
  SmallVector<StringRef> columns;
  for (OpAsmParser::Argument &argument : arguments)
    columns.push_back(argument.ssaName.name.drop_front());
  state.addAttribute("columns", parser.getBuilder().getStrArrayAttr(columns));
  return failure(parseExports(parser, state) || parseAttributes(parser, state) ||
                 parseBody(parser, state, arguments));
}

void ModelOp::print(OpAsmPrinter &printer) {
  printSignature(printer, getSymNameAttr(), getArgumentTypes(), getBody().front());
  if (DictionaryAttr exports = getExportsAttr())
    for (NamedAttribute file : exports) {
      printer << " export ";
      printExport(printer, file);
    }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {"sym_name", "argument_types", "columns", "exports"});
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

/// Open dimensions of a column are the batch, which comes first, and the sequence length.
static LogicalResult verifyColumn(ModelOp model, StringRef column, RankedTensorType type) {
  if (type.getRank() == 0 || !type.isDynamicDim(0))
    return model.emitOpError("column '")
           << column << "' is " << type << "; its first dimension is the batch and must be `?`";
  if (type.getNumDynamicDims() > 2)
    return model.emitOpError("column '")
           << column << "' is " << type
           << "; expected at most two open dimensions: batch and sequence length";
  return success();
}

LogicalResult ModelOp::verify() {
  Block &body = getBody().front();
  if (getColumns().size() != body.getNumArguments())
    return emitOpError("has ") << body.getNumArguments() << " arguments but " << getColumns().size()
                               << " column names";
  if (failed(verifySignature(*this, getArgumentTypes(), body)))
    return failure();
  if (failed(verifyExports(*this, getExportsAttr())))
    return failure();
  llvm::SmallDenseSet<Attribute> seen;
  for (auto [column, type] : llvm::zip(getColumns(), getArgumentTypes())) {
    if (!seen.insert(column).second)
      return emitOpError("has two columns named ") << column;
    if (failed(verifyColumn(*this, cast<StringAttr>(column).getValue(),
                            cast<RankedTensorType>(cast<TypeAttr>(type).getValue()))))
      return failure();
  }
  return success();
}

/// Names of columns survive printing and parsing.
void ModelOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  for (auto [argument, column] : llvm::zip(region.getArguments(), getColumns().getAsValueRange<StringAttr>()))
    setName(argument, column);
}

// --- Ends and losses ---

LogicalResult ReturnOp::verify() {
  if (!isa_and_present<BlockOp>((*this)->getParentOp()))
    return emitOpError("belongs into an nn.block; a model names its results with nn.output and nn.loss");
  if (&(*this)->getBlock()->back() != getOperation())
    return emitOpError("must be the last op of its block");
  return success();
}

LogicalResult LossOp::verify() {
  if (getName().empty())
    return emitOpError("needs a name, e.g. nn.loss \"loss\" %nll");
  double scale = getScale().convertToDouble();
  if (!std::isfinite(inF32(scale)))
    return emitOpError("scale must be a finite number, found ") << formatInF32(scale);
  return success();
}

// --- nn.apply and nn.repeat ---
//
// %y = nn.apply @mlp "mlp" (%x)
// %h = nn.repeat @layer "h" times 12 (%x)

/// Parses `(%a, %b)`; the number of results is the number of names on the left.
static ParseResult parseValues(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::UnresolvedOperand> inputs;
  Type deferred = DeferredType::get(parser.getContext());
  if (parser.parseOperandList(inputs, OpAsmParser::Delimiter::Paren) ||
      parser.parseOptionalAttrDict(state.attributes) || checkAttributes(parser, state) ||
      parser.resolveOperands(inputs, deferred, state.operands))
    return failure();
  state.addTypes(SmallVector<Type>(parser.getNumResults(), deferred));
  return success();
}

ParseResult ApplyOp::parse(OpAsmParser &parser, OperationState &state) {
  FlatSymbolRefAttr block;
  StringAttr scope;
  return failure(parser.parseAttribute(block, "block", state.attributes) ||
                 parser.parseAttribute(scope, "scope", state.attributes) || parseValues(parser, state));
}

void ApplyOp::print(OpAsmPrinter &printer) {
  printer << " " << getBlockAttr() << " " << getScopeAttr() << " (" << getInputs() << ")";
  printer.printOptionalAttrDict((*this)->getAttrs(), {"block", "scope"});
}

ParseResult RepeatOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<Attribute> blocks;
  StringAttr scope;
  IntegerAttr times;
  if (parser.parseCommaSeparatedList([&] {
        FlatSymbolRefAttr block;
        if (parser.parseAttribute(block))
          return failure();
        blocks.push_back(block);
        return success();
      }) ||
      parser.parseAttribute(scope, "scope", state.attributes) || parser.parseKeyword("times") ||
      parseWhole(parser, times))
    return failure();
  state.addAttribute("blocks", parser.getBuilder().getArrayAttr(blocks));
  state.addAttribute("times", times);
  return parseValues(parser, state);
}

void RepeatOp::print(OpAsmPrinter &printer) {
  printer << " ";
  llvm::interleaveComma(getBlocks(), printer);
  printer << " " << getScopeAttr() << " times " << getTimes() << " (" << getInputs() << ")";
  printer.printOptionalAttrDict((*this)->getAttrs(), {"blocks", "scope", "times"});
}

SmallVector<FlatSymbolRefAttr> ApplyOp::getUsedBlocks() { return {getBlockAttr()}; }
uint64_t ApplyOp::getUses() { return 1; }
std::string ApplyOp::getScopeOf(uint64_t) { return getScope().str(); }

SmallVector<FlatSymbolRefAttr> RepeatOp::getUsedBlocks() {
  return llvm::to_vector(getBlocks().getAsRange<FlatSymbolRefAttr>());
}
uint64_t RepeatOp::getUses() { return getTimes(); }
std::string RepeatOp::getScopeOf(uint64_t use) {
  return (getScope() + (getScope().empty() ? "" : ".") + Twine(use)).str();
}

/// Returns the block that an op uses. Fails with an error unless it exists and its numbers of arguments and
/// results match.
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
  for (FlatSymbolRefAttr block : getUsedBlocks())
    if (failed(findBlock(*this, block, symbols)))
      return failure();
  if (int64_t(getTimes()) < 1 || getTimes() > 100000)
    return emitOpError("times must lie between 1 and 100000, found ") << int64_t(getTimes());
  if (getBlocks().empty() || getBlocks().size() > getTimes())
    return emitOpError("has ") << getBlocks().size() << " blocks, which take turns in " << getTimes()
                               << " uses; expected 1 to " << getTimes() << " blocks";
  if (getNumResults() > getNumOperands())
    return emitOpError("the block's ")
           << getNumResults() << " results must feed its first arguments, but it has " << getNumOperands();
  return success();
}
