// Patterns of a kernel's values: the attribute, and the rules that patterns of operands and results follow.
#include "dialects/NN/Builders.h"
#include "dialects/NN/NN.h"
#include "dialects/NN/Syntax.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

// --- The attribute ---

RepeatPattern RepeatPatternAttr::getPattern() const {
  RepeatPattern pattern;
  for (RepeatPattern::Run run : getRuns())
    pattern.append(run);
  return pattern;
}

Attribute RepeatPatternAttr::parse(AsmParser &parser, Type) {
  RepeatPattern pattern;
  int64_t positions = 1;
  auto parseRun = [&]() -> ParseResult {
    const bool kept = failed(parser.parseOptionalStar());
    const SMLoc at = parser.getCurrentLocation();
    int64_t size;
    if (parseWhole(parser, size))
      return failure();
    if (size < 1 || llvm::MulOverflow(positions, size, positions))
      return parser.emitError(at) << "expected runs of one position or more, less than 2^63 together, found "
                                  << size;
    pattern.append({size, kept});
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseRun))
    return {};
  return get(parser.getContext(), pattern);
}

void RepeatPatternAttr::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleaveComma(getRuns(), printer,
                        [&](RepeatPattern::Run run) { printer << (run.kept ? "" : "*") << run.size; });
  printer << ">";
}

// --- Access ---

bool KernelOp::canHold(Operation *op) {
  auto isStatic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape() && tensor.getNumElements() > 0;
  };
  return llvm::all_of(op->getOperandTypes(), isStatic) && llvm::all_of(op->getResultTypes(), isStatic) &&
         isa<ElementwiseOpInterface, ReduceOp, BroadcastOp, ReshapeOp, GatherOp>(op);
}

bool KernelOp::isTable(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && isa<UnitAttr>(getPatterns()[argument.getArgNumber()]);
}

int64_t KernelOp::readElements(unsigned input) {
  auto countOf = [](Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); };
  Value argument = getBody().getArgument(input);
  if (!isTable(argument))
    return countOf(argument);
  int64_t picked = 0;
  for (Operation *gather : argument.getUsers())
    picked += countOf(gather->getResult(0));
  return std::min(picked, countOf(argument));
}

RepeatPattern KernelOp::patternOf(Value value) {
  assert(!isTable(value) && "ids say which row of a table is meant");
  RepeatPatternAttr pattern;
  if (auto argument = dyn_cast<BlockArgument>(value))
    pattern = cast<RepeatPatternAttr>(getPatterns()[argument.getArgNumber()]);
  else
    pattern = value.getDefiningOp()->getAttrOfType<RepeatPatternAttr>(kPatternAttr);
  return pattern ? pattern.getPattern() : RepeatPattern::identity(getRows() * getColumns());
}

void KernelOp::setPattern(Operation *op, const RepeatPattern &pattern) {
  if (!pattern.isIdentity())
    op->setAttr(kPatternAttr, RepeatPatternAttr::get(op->getContext(), pattern));
}

// --- Rules ---

static int64_t countOf(Value value) { return tensorType(value).getNumElements(); }

static RepeatPatternAttr spelled(MLIRContext *context, const RepeatPattern &pattern) {
  return RepeatPatternAttr::get(context, pattern);
}

/// Returns the pattern of a reduction's result over its operand.
static RepeatPattern overReduced(ReduceOp reduce) {
  ArrayRef<int64_t> shape = shapeOf(reduce.getX());
  SmallVector<bool> kept(shape.size(), true);
  for (int64_t dim : reduce.getDims())
    kept[normalizeDim(dim, shape.size())] = false;
  RepeatPattern pattern;
  for (auto [size, keeps] : llvm::zip_equal(shape, kept))
    pattern.append({size, keeps});
  return pattern;
}

namespace {

/// Verifies each op of a kernel against the patterns of its operands and its result.
class PatternRules {
public:
  explicit PatternRules(KernelOp kernel)
      : kernel(kernel), rows(kernel.getRows()), columns(kernel.getColumns()) {}

  LogicalResult check();

private:
  /// Verifies one value; `report` starts an error about it.
  LogicalResult checkValue(Value value, llvm::function_ref<InFlightDiagnostic()> report);
  LogicalResult checkOp(Operation *op);
  LogicalResult checkElementwise(Operation *op);
  LogicalResult checkSource(Operation *op, Value smaller, Value larger, const RepeatPattern &repeats);
  LogicalResult checkReduce(ReduceOp reduce);
  LogicalResult checkGather(GatherOp gather);
  LogicalResult checkUses(Value value);
  LogicalResult checkYielded(YieldOp yield);

  RepeatPattern::Parts parts(Value value) { return *kernel.patternOf(value).split(columns); }
  bool isAlongColumns(Value value) { return columns > 1 && !parts(value).columns.isScalar(); }
  InFlightDiagnostic mismatch(Operation *op, Value one, Value other);

  KernelOp kernel;
  int64_t rows, columns;
  llvm::SmallDenseSet<Value> overRows; ///< results of reductions over rows
};

} // namespace

LogicalResult PatternRules::check() {
  for (BlockArgument argument : kernel.getBody().getArguments())
    if (!kernel.isTable(argument) && failed(checkValue(argument, [&] {
          return kernel.emitOpError("argument ") << argument.getArgNumber();
        })))
      return failure();
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (!KernelOp::canHold(&op))
      return op.emitOpError(
          "cannot be part of a kernel: expected elementwise, reduce, broadcast, reshape or gather ops");
    Attribute pattern = op.getAttr(KernelOp::kPatternAttr);
    if (pattern && !isa<RepeatPatternAttr>(pattern))
      return op.emitOpError("nn.pattern: expected #nn.pattern<...>, found ") << pattern;
    if (failed(checkValue(op.getResult(0), [&] { return op.emitOpError("result"); })) || failed(checkOp(&op)))
      return failure();
  }
  for (BlockArgument argument : kernel.getBody().getArguments())
    if (failed(checkUses(argument)))
      return failure();
  for (Operation &op : kernel.getBody().front().without_terminator())
    if (failed(checkUses(op.getResult(0))))
      return failure();
  return checkYielded(cast<YieldOp>(kernel.getBody().front().getTerminator()));
}

LogicalResult PatternRules::checkValue(Value value, llvm::function_ref<InFlightDiagnostic()> report) {
  const RepeatPattern pattern = kernel.patternOf(value);
  RepeatPatternAttr shown = spelled(kernel.getContext(), pattern);
  if (pattern.count() != rows * columns)
    return report() << " has a pattern of " << pattern.count() << " positions, " << shown << "; expected "
                    << rows << " rows x " << columns << " columns";
  if (pattern.elements() != countOf(value))
    return report() << " has " << countOf(value) << " elements, but its pattern, " << shown << ", has "
                    << pattern.elements()
                    << "; without a pattern a value has an element for each row and column";
  auto parts = pattern.split(columns);
  if (!parts || !(parts->columns.isIdentity() || parts->columns.isScalar()))
    return report() << " varies over some of the dimensions that make up the columns, in the pattern "
                    << shown << "; expected all or none";
  return success();
}

InFlightDiagnostic PatternRules::mismatch(Operation *op, Value one, Value other) {
  return op->emitOpError("reads ") << spelled(op->getContext(), kernel.patternOf(one)) << " and makes "
                                   << spelled(op->getContext(), kernel.patternOf(other))
                                   << ", which are not the same rows and columns";
}

LogicalResult PatternRules::checkOp(Operation *op) {
  if (auto gather = dyn_cast<GatherOp>(op))
    return checkGather(gather);
  for (Value operand : op->getOperands())
    if (kernel.isTable(operand))
      return op->emitOpError("reads a table; expected nn.gather");
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return checkReduce(reduce);
  if (isa<ReshapeOp, BroadcastOp>(op)) {
    Value from = op->getOperand(0), to = op->getResult(0);
    return checkSource(op, from, to,
                       isa<ReshapeOp>(op) ? RepeatPattern::identity(countOf(to))
                                          : RepeatPattern::broadcast(shapeOf(from), shapeOf(to)));
  }
  return checkElementwise(op);
}

/// Scalar operands, such as a seed, may have any pattern.
LogicalResult PatternRules::checkElementwise(Operation *op) {
  for (Value operand : op->getOperands())
    if (countOf(operand) != 1 && kernel.patternOf(operand) != kernel.patternOf(op->getResult(0)))
      return mismatch(op, operand, op->getResult(0));
  return success();
}

/// Verifies that the pattern of `smaller` is that of `larger` composed with `repeats`.
LogicalResult PatternRules::checkSource(Operation *op, Value smaller, Value larger,
                                        const RepeatPattern &repeats) {
  if (kernel.patternOf(larger).compose(repeats) != kernel.patternOf(smaller))
    return mismatch(op, op->getOperand(0), op->getResult(0));
  return success();
}

LogicalResult PatternRules::checkReduce(ReduceOp reduce) {
  Value from = reduce.getX(), to = reduce.getResult();
  if (failed(checkSource(reduce, to, from, overReduced(reduce))))
    return failure();
  const RepeatPattern::Parts source = parts(from), result = parts(to);
  if (source.rows == result.rows) // a reduction over columns, or over nothing
    return success();
  if (!source.rows.isIdentity() || !result.rows.isScalar())
    return reduce.emitOpError("reduces only some of the dimensions that make up the rows");
  if (source.columns != result.columns)
    return reduce.emitOpError("reduces everything, in an order that only a single row of all elements has");
  overRows.insert(to);
  return success();
}

LogicalResult PatternRules::checkGather(GatherOp gather) {
  if (!kernel.isTable(gather.getTable()))
    return gather.emitOpError("reads no table; expected an input of the kernel that is followed by `table`");
  if (kernel.isTable(gather.getIds()))
    return gather.emitOpError("reads a table for ids");
  const int64_t width = countOf(gather.getResult()) / countOf(gather.getIds());
  if (width != 1 && width != columns)
    return gather.emitOpError("rows of the table, of ")
           << width << " elements, are not the kernel's, of " << columns;
  if (isAlongColumns(gather.getResult()) != (width > 1))
    return gather.emitOpError("picks one element per row and column; expected rows of the table");
  Value ids = gather.getIds(), result = gather.getResult();
  const auto expected =
      kernel.patternOf(result).compose(RepeatPattern::identity(countOf(ids)).repeatedAlongColumns(width));
  return expected == kernel.patternOf(ids) ? success() : LogicalResult(mismatch(gather, ids, result));
}

LogicalResult PatternRules::checkUses(Value value) {
  if (!overRows.contains(value))
    return success();
  for (Operation *user : value.getUsers())
    if (!isa<YieldOp>(user))
      return user->emitOpError("uses a reduction that is complete only after the last row");
  return success();
}

LogicalResult PatternRules::checkYielded(YieldOp yield) {
  for (auto [index, value] : llvm::enumerate(yield.getValues())) {
    if (kernel.isTable(value))
      return yield.emitOpError("yields a table");
    const RepeatPattern rowPattern = parts(value).rows;
    const bool once = rowPattern.isScalar() && !isAlongColumns(value);
    if (!rowPattern.isIdentity() && !once && !overRows.contains(value))
      return yield.emitOpError("value ") << index << " repeats over rows, and would be made once per row";
  }
  return success();
}

LogicalResult KernelOp::verifyRegions() { return PatternRules(*this).check(); }
