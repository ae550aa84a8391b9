// nn.kernel: syntax and verification.
#include "dialects/NN/FusionSyntax.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

//   %r:2 = nn.kernel 128 x 768 (%a = %x : tensor<128x768xf32>) -> (tensor<128x768xf32>, tensor<128xf32>) {
//   ... }

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &state) {
  RegionInputs inputs;
  int64_t rows, columns;
  if (parser.parseInteger(rows) || parser.parseKeyword("x") || parser.parseInteger(columns) ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] { return inputs.parseOne(parser); }) ||
      parser.parseArrow() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
        return parser.parseType(state.types.emplace_back());
      }))
    return failure();
  Builder &builder = parser.getBuilder();
  state.addAttribute(getRowsAttrName(state.name), builder.getI64IntegerAttr(rows));
  state.addAttribute(getColumnsAttrName(state.name), builder.getI64IntegerAttr(columns));
  return inputs.parseRest(parser, state);
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << " " << getRows() << " x " << getColumns() << " (";
  llvm::interleaveComma(llvm::zip(getBody().getArguments(), getInputs()), printer, [&](auto pair) {
    auto [argument, input] = pair;
    printer << argument << " = " << input << " : " << input.getType();
  });
  printer << ") -> (" << getResultTypes() << ")";
  printRest(printer, *this, {"rows", "columns"});
}

LogicalResult KernelOp::verify() {
  if (int64_t(getRows()) < 1 || int64_t(getColumns()) < 1)
    return emitOpError("iterates over one row and column or more, found ")
           << getRows() << " x " << getColumns();
  return failure(
      failed(verifyTypes(*this, "argument", getBody().getArgumentTypes(), "input", getInputs().getTypes())) ||
      failed(verifyYield(*this, "result", getResultTypes())));
}

KernelClass KernelOp::getKernelClass() { return KernelClass::Rows; }
