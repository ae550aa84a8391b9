// Notions that several dialects share, and how entries and scalars that have a meaning are written.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpImplementation.h"

#include "dialects/Interfaces/Enums.h.inc"

namespace trainc {

/// The module's entry of that kind, or null. `EntryOp` is the phase's: train.entry or plan.entry.
template <typename EntryOp> EntryOp findEntry(mlir::ModuleOp module, EntryKind kind) {
  for (auto entry : module.getOps<EntryOp>())
    if (entry.getKind() == kind)
      return entry;
  return {};
}

/// How many meet in a group, of `ranks` of which `shardRanks` divide states among themselves.
int64_t ranksOf(RankGroup group, int64_t ranks, int64_t shardRanks);

/// Who writes the scalar.
ScalarDirection directionOf(HostScalar scalar);
/// Its type, a tensor of one element without dimensions.
mlir::RankedTensorType typeOf(HostScalar scalar, mlir::MLIRContext *context);

/// An entry's name and kind: `@update`, or `@other as update` where the name says no kind or another one.
mlir::ParseResult parseEntryName(mlir::OpAsmParser &parser, mlir::StringAttr &name, EntryKindAttr &kind);
void printEntryName(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::StringAttr name,
                    EntryKindAttr kind);

/// A state's name, and what it is to the host, if something: `@w`, `to_device @lr`, or
/// `from_device @other as loss`.
mlir::ParseResult parseStateName(mlir::OpAsmParser &parser, mlir::StringAttr &name, HostScalarAttr &scalar);
void printStateName(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::StringAttr name,
                    HostScalarAttr scalar);

} // namespace trainc
