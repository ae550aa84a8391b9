// nn.chunks: syntax and verification.
#include "dialects/NN/FusionSyntax.h"
#include "dialects/NN/Syntax.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

//   %r:2 = nn.chunks 4 (%a = %x : tensor<8x3xf32> split 0, %w = %y : tensor<3xf32>, %s = %z : tensor<f32>
//   carried)
//       -> (tensor<8x3xf32> split 0, tensor<f32> carried) { ... }

static constexpr int64_t kWhole = ChunksOp::kWhole, kCarried = ChunksOp::kCarried;

/// Parses `split d`, `carried` or nothing.
static ParseResult parseSplit(OpAsmParser &parser, SmallVectorImpl<int64_t> &dims) {
  if (succeeded(parser.parseOptionalKeyword("carried"))) {
    dims.push_back(kCarried);
    return success();
  }
  dims.push_back(kWhole);
  return succeeded(parser.parseOptionalKeyword("split"))
             ? parseWhole(static_cast<AsmParser &>(parser), dims.back())
             : success();
}

static void printSplit(OpAsmPrinter &printer, int64_t dim) {
  if (dim == kCarried)
    printer << " carried";
  else if (dim != kWhole)
    printer << " split " << dim;
}

ParseResult ChunksOp::parse(OpAsmParser &parser, OperationState &state) {
  RegionInputs inputs;
  int64_t count;
  SmallVector<int64_t> inputDims, resultDims;
  auto parseInput = [&] { return failure(inputs.parseOne(parser) || parseSplit(parser, inputDims)); };
  auto parseResult = [&] {
    return failure(parser.parseType(state.types.emplace_back()) || parseSplit(parser, resultDims));
  };
  if (parseWhole(static_cast<AsmParser &>(parser), count) ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseInput) || parser.parseArrow() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseResult))
    return failure();
  // Arguments that represent slices have the slices' types.
  for (auto [argument, dim] : llvm::zip(inputs.arguments, inputDims))
    argument.type = sliceType(argument.type, dim, count);
  Builder &builder = parser.getBuilder();
  state.addAttribute(getCountAttrName(state.name), builder.getI64IntegerAttr(count));
  state.addAttribute(getInputDimsAttrName(state.name), builder.getDenseI64ArrayAttr(inputDims));
  state.addAttribute(getResultDimsAttrName(state.name), builder.getDenseI64ArrayAttr(resultDims));
  return inputs.parseRest(parser, state);
}

void ChunksOp::print(OpAsmPrinter &printer) {
  printer << " " << getCount() << " (";
  llvm::interleaveComma(llvm::zip(getBody().getArguments(), getInputs(), getInputDims()), printer,
                        [&](auto input) {
                          auto [argument, value, dim] = input;
                          printer << argument << " = " << value << " : " << value.getType();
                          printSplit(printer, dim);
                        });
  printer << ") -> (";
  llvm::interleaveComma(llvm::zip(getResultTypes(), getResultDims()), printer, [&](auto result) {
    printer << std::get<0>(result);
    printSplit(printer, std::get<1>(result));
  });
  printer << ")";
  printRest(printer, *this, {"count", "input_dims", "result_dims"});
}

Type ChunksOp::sliceType(Type type, int64_t dim, int64_t count) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || dim < 0 || dim >= tensor.getRank() || count < 1)
    return type;
  SmallVector<int64_t> shape(tensor.getShape());
  shape[dim] /= count;
  return tensor.clone(shape);
}

/// Reports an error unless all split dimensions exist and are multiples of the count.
static LogicalResult verifySplits(ChunksOp op, StringRef what, TypeRange types, ArrayRef<int64_t> dims) {
  if (types.size() != dims.size())
    return op.emitOpError("has ") << types.size() << " " << what << "s but " << dims.size()
                                  << " split dimensions of " << what << "s";
  int64_t count = op.getCount();
  for (auto [index, type, dim] : llvm::enumerate(types, dims)) {
    auto tensor = cast<RankedTensorType>(type);
    if (dim < kCarried || dim >= tensor.getRank())
      return op.emitOpError() << what << " " << index << ", " << type << ", has no dimension " << dim
                              << " to split";
    if (dim >= 0 && tensor.getDimSize(dim) % count != 0)
      return op.emitOpError("cannot cut dimension ") << dim << " of " << what << " " << index << ", " << type
                                                     << ", into " << count << " equal slices";
  }
  return success();
}

static SmallVector<Type> sliceTypes(ChunksOp op, TypeRange types, ArrayRef<int64_t> dims) {
  SmallVector<Type> slices;
  for (auto [type, dim] : llvm::zip(types, dims))
    slices.push_back(ChunksOp::sliceType(type, dim, op.getCount()));
  return slices;
}

static SmallVector<Type> carriedTypes(TypeRange types, ArrayRef<int64_t> dims) {
  SmallVector<Type> carried;
  for (auto [type, dim] : llvm::zip(types, dims))
    if (dim == kCarried)
      carried.push_back(type);
  return carried;
}

LogicalResult ChunksOp::verify() {
  TypeRange inputs = getInputs().getTypes(), results = getResultTypes();
  if (int64_t(getCount()) < 1)
    return emitOpError("runs once or more, found ") << getCount();
  if (failed(verifySplits(*this, "input", inputs, getInputDims())) ||
      failed(verifySplits(*this, "result", results, getResultDims())))
    return failure();
  if (llvm::is_contained(getResultDims(), kWhole))
    return emitOpError("results are either split or carried");
  return failure(failed(verifyTypes(*this, "argument", getBody().getArgumentTypes(), "input slice",
                                    sliceTypes(*this, inputs, getInputDims()))) ||
                 failed(verifyYield(*this, "result slice", sliceTypes(*this, results, getResultDims()))) ||
                 failed(verifyTypes(*this, "carried result", carriedTypes(results, getResultDims()),
                                    "carried input", carriedTypes(inputs, getInputDims()))));
}

/// Carried results and carried inputs have the same order.
int ChunksOp::getInPlaceOperand(unsigned result) {
  if (!isCarriedResult(result))
    return -1;
  int64_t before = llvm::count(getResultDims().take_front(result), kCarried);
  for (auto [index, dim] : llvm::enumerate(getInputDims()))
    if (dim == kCarried && before-- == 0)
      return int(index);
  llvm_unreachable("verified: as many carried inputs as results");
}

/// Whether `sum` is `start` plus further addends, and no intermediate sum has another use.
static bool isSumFrom(Value sum, Value start) {
  if (sum == start || !sum.hasOneUse())
    return sum == start;
  if (auto add = sum.getDefiningOp<AddOp>())
    return isSumFrom(add.getLhs(), start) || isSumFrom(add.getRhs(), start);
  auto op = sum.getDefiningOp<AccumulatingOpInterface>();
  Value addend = op ? op.getAddend(cast<OpResult>(sum).getResultNumber()) : Value();
  return addend && isSumFrom(addend, start);
}

/// A carried value can accumulate if each iteration adds to it.
bool ChunksOp::canAccumulate(unsigned result) {
  const int input = getInPlaceOperand(result);
  if (input < 0)
    return false;
  Value carried = getBody().getArgument(input);
  return carried.hasOneUse() && isSumFrom(getBody().front().getTerminator()->getOperand(result), carried);
}

Value ChunksOp::getAddend(unsigned result) { return getInputs()[getInPlaceOperand(result)]; }

void ChunksOp::setAddend(unsigned result, Value addend) {
  getInputsMutable()[getInPlaceOperand(result)].assign(addend);
}

KernelClass ChunksOp::getKernelClass() { return KernelClass::Loop; }
