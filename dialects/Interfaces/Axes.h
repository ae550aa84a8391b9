// Syntax of lists of mesh axes: `shard`, or `[replica, shard]`.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"

namespace trainc {

mlir::ParseResult parseAxes(mlir::AsmParser &parser, mlir::ArrayAttr &axes);
void printAxes(mlir::AsmPrinter &printer, mlir::ArrayAttr axes);
inline void printAxes(mlir::AsmPrinter &printer, mlir::Operation *, mlir::ArrayAttr axes) {
  printAxes(printer, axes);
}

} // namespace trainc
