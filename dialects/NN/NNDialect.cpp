// Registration of the dialect and the syntax shared by its ops.
#include "base/nearest_word.h"
#include "dialects/NN/NN.h"
#include "dialects/NN/RopeScaling.h"
#include "dialects/NN/Syntax.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

#include "dialects/NN/NNDialect.cpp.inc"
#include "dialects/NN/NNEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/NN/NNTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/NN/NNAttributes.cpp.inc"

void NNDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/NN/NNOps.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/NN/NNTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/NN/NNAttributes.cpp.inc"
      >();
}

std::optional<Dialect::ParseOpHook> NNDialect::getParseOperationHook(StringRef) const {
  return ParseOpHook(reportUnknownOp);
}

// --- Initialisers: `normal(0.02)` ---

/// Returns the number of arguments of an initialiser kind, or -1 if it is unknown.
static int initArity(StringRef kind) {
  return llvm::StringSwitch<int>(kind)
      .Cases({"zeros", "ones"}, 0)
      .Cases({"constant", "normal"}, 1)
      .Case("uniform", 2)
      .Default(-1);
}

static ParseResult parseInitSpec(AsmParser &parser, InitAttr &init) {
  StringRef kind;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&kind))
    return failure();
  int arity = initArity(kind);
  if (arity < 0)
    return parser.emitError(loc) << "init: "
                                 << describeUnknownWord(kind, {"zeros", "ones", "constant(v)", "normal(std)",
                                                               "uniform(low, high)"});
  double numbers[2] = {0, 0};
  if (arity > 0) {
    if (parser.parseLParen() || parseNumber(parser, numbers[0]))
      return failure();
    if (arity == 2 && (parser.parseComma() || parseNumber(parser, numbers[1])))
      return failure();
    if (parser.parseRParen())
      return failure();
  }
  Builder &builder = parser.getBuilder();
  init = InitAttr::getChecked([&] { return parser.emitError(loc); }, parser.getContext(), kind,
                              builder.getF64FloatAttr(numbers[0]), builder.getF64FloatAttr(numbers[1]));
  return success(init != nullptr);
}

LogicalResult InitAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, StringRef kind,
                               FloatAttr first, FloatAttr second) {
  double a = first.getValueAsDouble(), b = second.getValueAsDouble();
  for (double number : {a, b})
    if (!std::isfinite(inF32(number)))
      return emitError() << "init " << kind << ": expected finite numbers, found " << formatInF32(number);
  if (kind == "normal" && a < 0)
    return emitError() << "init normal: the standard deviation must be 0 or more, found " << formatNumber(a);
  if (kind == "uniform" && a > b)
    return emitError() << "init uniform: expected (low, high), found " << formatNumber(a) << " above "
                       << formatNumber(b);
  if (kind == "uniform" && !std::isfinite(inF32(b - a)))
    return emitError() << "init uniform: high - low must be finite, found " << formatInF32(b - a);
  return success();
}

static void printInit(AsmPrinter &printer, InitAttr init) {
  printer << init.getKind();
  int arity = initArity(init.getKind());
  if (arity > 0) {
    printer << "(";
    printNumber(printer, init.getA().getValueAsDouble());
  }
  if (arity == 2) {
    printer << ", ";
    printNumber(printer, init.getB().getValueAsDouble());
  }
  if (arity > 0)
    printer << ")";
}

static void printInitSpec(AsmPrinter &printer, Operation *, InitAttr init) { printInit(printer, init); }

Attribute InitAttr::parse(AsmParser &parser, Type) {
  InitAttr init;
  if (parser.parseLess() || parseInitSpec(parser, init) || parser.parseGreater())
    return {};
  return init;
}

void InitAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printInit(printer, *this);
  printer << ">";
}

// --- Types that are spelled only where they are known ---

/// Parses `: type, ...`, or nothing if all types are deferred.
template <typename... Types> static ParseResult parseTypes(OpAsmParser &parser, Types &...types) {
  if (failed(parser.parseOptionalColon())) {
    ((types = DeferredType::get(parser.getContext())), ...);
    return success();
  }
  bool first = true;
  auto parseOne = [&](Type &type) {
    ParseResult comma = first ? success() : parser.parseComma();
    first = false;
    return failed(comma) || parser.parseType(type);
  };
  return failure((parseOne(types) || ...));
}

template <typename... Types> static void printTypes(OpAsmPrinter &printer, Operation *, Types... types) {
  SmallVector<Type> list{types...};
  if (llvm::all_of(list, llvm::IsaPred<DeferredType>))
    return;
  printer << " : ";
  llvm::interleaveComma(list, printer);
}

/// Whether a number, and no value, comes next.
static bool beginsNumber(OpAsmParser &parser) {
  const char *at = parser.getCurrentLocation().getPointer(); // a StringRef would measure the rest of the file
  at += *at == '-' ? 1 : 0;
  return llvm::isDigit(*at) || std::strncmp(at, "inf", 3) == 0;
}

/// Fails if settings in braces follow in a model's text, where elementwise ops have none. `{number = 0.5}`
/// would be read as a number in place of an operand.
static ParseResult rejectSettings(OpAsmParser &parser) {
  NamedAttrList settings;
  const SMLoc loc = parser.getCurrentLocation();
  if (!ModelTextScope::isOpen())
    return success();
  if (parser.parseOptionalAttrDict(settings))
    return failure();
  if (settings.empty())
    return success();
  return parser.emitError(loc, "has no setting '")
         << settings.begin()->getName().getValue() << "'; remove it";
}

/// Parses `%a, %b`. In a model's text one of them may be a number: `%a, 0.5`; both operands are then %a.
static ParseResult parsePair(OpAsmParser &parser, OpAsmParser::UnresolvedOperand &lhs,
                             OpAsmParser::UnresolvedOperand &rhs, FloatAttr &number, UnitAttr &numberFirst) {
  const auto parseOne = [&](OpAsmParser::UnresolvedOperand &operand) -> ParseResult {
    const SMLoc loc = parser.getCurrentLocation();
    if (!beginsNumber(parser))
      return parser.parseOperand(operand);
    if (!ModelTextScope::isOpen())
      return parser.emitError(loc,
                              "expected a value, found a number, which only a model's text may have here");
    if (number)
      return parser.emitError(loc, "expected a value, found a second number");
    return parseNumber(parser, number);
  };
  if (parseOne(lhs))
    return failure();
  numberFirst = number ? parser.getBuilder().getUnitAttr() : UnitAttr();
  if (parser.parseComma() || parseOne(rhs))
    return failure();
  if (number)
    (numberFirst ? lhs : rhs) = numberFirst ? rhs : lhs;
  return rejectSettings(parser);
}

static void printPair(OpAsmPrinter &printer, Operation *op, Value lhs, Value rhs, FloatAttr number,
                      UnitAttr numberFirst) {
  const auto printOne = [&](Value value, bool isNumber) {
    if (isNumber)
      printNumber(printer, op, number);
    else
      printer << value;
  };
  printOne(lhs, number && numberFirst);
  printer << ", ";
  printOne(rhs, number && !numberFirst);
}

/// Parses the value after the word of a clause, `%a : type`, the type left out where it is deferred. (MLIR
/// itself would take the word alone.)
static ParseResult parseGiven(OpAsmParser &parser, std::optional<OpAsmParser::UnresolvedOperand> &value,
                              Type &type) {
  return failure(parser.parseOperand(value.emplace()) || parseTypes(parser, type));
}

static void printGiven(OpAsmPrinter &printer, Operation *op, Value value, Type type) {
  printer << value;
  printTypes(printer, op, type);
}

/// Parses `in_out`, or `out_in`, the default.
static ParseResult parseLayout(OpAsmParser &parser, UnitAttr &isInOut) {
  StringRef word;
  const SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return failure();
  if (word != "in_out" && word != "out_in")
    return parser.emitError(loc) << "layout: " << describeUnknownWord(word, {"in_out", "out_in"});
  isInOut = word == "in_out" ? parser.getBuilder().getUnitAttr() : UnitAttr();
  return success();
}

static void printLayout(OpAsmPrinter &printer, Operation *, UnitAttr) { printer << "in_out"; }

/// Parses `%a, %b : type, type`, without types if all are deferred.
static ParseResult parseTypedValues(OpAsmParser &parser,
                                    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &values,
                                    SmallVectorImpl<Type> &types) {
  if (parser.parseOperandList(values))
    return failure();
  if (succeeded(parser.parseOptionalColon()))
    return parser.parseTypeList(types);
  types.assign(values.size(), DeferredType::get(parser.getContext()));
  return success();
}

static void printTypedValues(OpAsmPrinter &printer, Operation *, OperandRange values, TypeRange types) {
  printer << values;
  if (llvm::all_of(types, llvm::IsaPred<DeferredType>))
    return;
  printer << " : ";
  llvm::interleaveComma(types, printer);
}

/// Type of a constant without one in a model's text: a scalar that broadcasts.
static RankedTensorType untypedConstant(MLIRContext *context) {
  return RankedTensorType::get({}, Float32Type::get(context));
}

/// Parses `: type`, which is optional in a model.
static ParseResult parseConstantType(OpAsmParser &parser, TypeAttr &type, Type &result) {
  RankedTensorType tensor = untypedConstant(parser.getContext());
  const bool isTyped = succeeded(parser.parseOptionalColon());
  if (isTyped && parser.parseType(tensor))
    return failure();
  type = TypeAttr::get(tensor);
  result = isTyped && !ModelTextScope::isOpen() ? Type(tensor) : DeferredType::get(parser.getContext());
  return success();
}

static void printConstantType(OpAsmPrinter &printer, Operation *, TypeAttr type, Type result) {
  if (!isa<DeferredType>(result) || type.getValue() != untypedConstant(type.getContext()))
    printer << " : " << type.getValue();
}

/// Parses the number of equal parts, or the list of their sizes.
static ParseResult parseParts(OpAsmParser &parser, IntegerAttr &count, DenseI64ArrayAttr &sizes) {
  if (*parser.getCurrentLocation().getPointer() != '[')
    return parseWhole(parser, count, 1, SplitOp::maxParts);
  const SMLoc loc = parser.getCurrentLocation();
  if (parseWholes(parser, sizes))
    return failure();
  const int64_t parts = sizes.size();
  if (parts < 1 || parts > SplitOp::maxParts)
    return parser.emitError(loc) << "expected 1 to " << SplitOp::maxParts << " sizes, found " << parts;
  count = parser.getBuilder().getI64IntegerAttr(parts);
  return success();
}

static void printParts(OpAsmPrinter &printer, Operation *op, IntegerAttr count, DenseI64ArrayAttr sizes) {
  if (sizes)
    printWholes(printer, op, sizes);
  else
    printWhole(printer, op, count);
}

#define GET_OP_CLASSES
#include "dialects/NN/NNOps.cpp.inc"
