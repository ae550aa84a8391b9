// Enums that several dialects share, and the syntax of named entries and scalars.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpImplementation.h"

#include "dialects/Interfaces/Enums.h.inc"

namespace trainc {

/// Returns the module's entry of that kind, or null. `EntryOp` is train.entry or plan.entry, depending on the
/// phase.
template <typename EntryOp> EntryOp findEntry(mlir::ModuleOp module, EntryKind kind) {
  for (auto entry : module.getOps<EntryOp>())
    if (entry.getKind() == kind)
      return entry;
  return {};
}

/// Whether the host or the device writes the scalar.
ScalarDirection directionOf(HostScalar scalar);
/// Returns the scalar's type, a tensor of rank 0.
mlir::RankedTensorType typeOf(HostScalar scalar, mlir::MLIRContext *context);

/// Parses an entry's name and kind: `@update`, or `@other as update` if the kind differs from the name.
mlir::ParseResult parseEntryName(mlir::OpAsmParser &parser, mlir::StringAttr &name, EntryKindAttr &kind);
void printEntryName(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::StringAttr name,
                    EntryKindAttr kind);

/// Parses a state's name, and its host scalar if it has one: `@w`, `to_device @lr`, or `from_device @other as
/// loss`.
mlir::ParseResult parseStateName(mlir::OpAsmParser &parser, mlir::StringAttr &name, HostScalarAttr &scalar);
void printStateName(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::StringAttr name,
                    HostScalarAttr scalar);

} // namespace trainc
