// nn.kernel: syntax, and verification of sizes and types. FusionPatterns.cpp verifies patterns.
#include "dialects/NN/FusionSyntax.h"
#include "dialects/NN/Syntax.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

// Example of the syntax:
//   %r:2 = nn.kernel 128 x 768 (%a = %x : tensor<128x768xf32>, %b = %y : tensor<768xf32> at <*128, 768>,
//   %t = %z : tensor<50x768xf32> table) -> (tensor<128x768xf32>, tensor<128xf32>) { ... }

/// Parses `at <...>`, `table`, or nothing for the identity.
static ParseResult parsePattern(OpAsmParser &parser, int64_t positions,
                                SmallVectorImpl<Attribute> &patterns) {
  Attribute pattern = RepeatPatternAttr::get(parser.getContext(), RepeatPattern::identity(positions));
  if (succeeded(parser.parseOptionalKeyword("table")))
    pattern = UnitAttr::get(parser.getContext());
  else if (succeeded(parser.parseOptionalKeyword("at")))
    pattern = RepeatPatternAttr::parse(parser, {});
  patterns.push_back(pattern);
  return success(pattern != nullptr);
}

static void printPattern(OpAsmPrinter &printer, Attribute attribute) {
  auto pattern = dyn_cast<RepeatPatternAttr>(attribute);
  if (!pattern) {
    printer << " table";
  } else if (!pattern.getPattern().isIdentity()) {
    printer << " at ";
    pattern.print(printer);
  }
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &state) {
  RegionInputs inputs;
  int64_t rows, columns;
  SmallVector<Attribute> patterns;
  auto parseInput = [&] {
    return failure(inputs.parseOne(parser) ||
                   parsePattern(parser, int64_t(uint64_t(rows) * uint64_t(columns)), patterns));
  };
  if (parseWhole(static_cast<AsmParser &>(parser), rows) || parser.parseKeyword("x") ||
      parseWhole(static_cast<AsmParser &>(parser), columns) ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseInput) || parser.parseArrow() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                     [&] { return parser.parseType(state.types.emplace_back()); }))
    return failure();
  Builder &builder = parser.getBuilder();
  state.addAttribute(getRowsAttrName(state.name), builder.getI64IntegerAttr(rows));
  state.addAttribute(getColumnsAttrName(state.name), builder.getI64IntegerAttr(columns));
  state.addAttribute(getPatternsAttrName(state.name), builder.getArrayAttr(patterns));
  return inputs.parseRest(parser, state);
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << " " << getRows() << " x " << getColumns() << " (";
  llvm::interleaveComma(llvm::zip(getBody().getArguments(), getInputs(), getPatterns()), printer,
                        [&](auto each) {
                          auto [argument, input, pattern] = each;
                          printer << argument << " = " << input << " : " << input.getType();
                          printPattern(printer, pattern);
                        });
  printer << ") -> (" << getResultTypes() << ")";
  printRest(printer, *this, {"rows", "columns", "patterns"});
}

LogicalResult KernelOp::verify() {
  int64_t positions = 0;
  const bool overflows = llvm::MulOverflow<int64_t>(getRows(), getColumns(), positions);
  if (int64_t(getRows()) < 1 || int64_t(getColumns()) < 1 || overflows)
    return emitOpError("iterates over one row and column or more, and less than 2^63 positions, found ")
           << getRows() << " x " << getColumns();
  if (getPatterns().size() != getInputs().size())
    return emitOpError("has ") << getInputs().size() << " inputs but " << getPatterns().size() << " patterns";
  if (!llvm::all_of(getPatterns(), llvm::IsaPred<RepeatPatternAttr, UnitAttr>))
    return emitOpError("patterns: expected #nn.pattern<...>, or unit for a table, found ") << getPatterns();
  return failure(
      failed(verifyTypes(*this, "argument", getBody().getArgumentTypes(), "input", getInputs().getTypes())) ||
      failed(verifyYield(*this, "result", getResultTypes())));
}

KernelClass KernelOp::getKernelClass() { return KernelClass::Rows; }
