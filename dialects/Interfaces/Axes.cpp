#include "dialects/Interfaces/Axes.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace trainc {

ParseResult parseAxes(AsmParser &parser, ArrayAttr &axes) {
  SmallVector<Attribute> names;
  auto parseName = [&]() -> ParseResult {
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    names.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  if (failed(parser.parseOptionalLSquare())) {
    if (parseName())
      return failure();
  } else if (parser.parseCommaSeparatedList(parseName) || parser.parseRSquare()) {
    return failure();
  }
  axes = parser.getBuilder().getArrayAttr(names);
  return success();
}

void printAxes(AsmPrinter &printer, ArrayAttr axes) {
  auto names = axes.getAsValueRange<StringAttr>();
  if (axes.size() == 1) {
    printer << *names.begin();
    return;
  }
  printer << '[';
  llvm::interleaveComma(names, printer.getStream());
  printer << ']';
}

} // namespace trainc
