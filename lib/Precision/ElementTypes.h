// Helpers for element types in the passes of mixed precision.
#pragma once

#include "dialects/NN/Builders.h"
#include "dialects/Train/Precision.h"
#include "dialects/Train/Train.h"

#include "mlir/Interfaces/InferTypeOpInterface.h"

namespace trainc {

/// Returns the type that the module's program computes in; null for f32.
inline mlir::FloatType lowTypeOf(mlir::ModuleOp module) {
  for (auto program : module.getOps<train::ProgramOp>())
    if (train::PrecisionSettings settings = train::precisionOf(program); settings.computesLow())
      return settings.compute;
  return {};
}

/// Returns the element type of a float tensor; null for other values.
inline mlir::Type floatElement(mlir::Value value) {
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  return tensor && llvm::isa<mlir::FloatType>(tensor.getElementType()) ? tensor.getElementType()
                                                                       : mlir::Type();
}

/// Whether the op gives a data column as floats, such as a regression target: a float column, or a converted
/// integer column.
inline bool isColumn(mlir::Operation &op) {
  auto convert = llvm::dyn_cast<nn::ConvertOp>(op);
  const bool isConverted = convert && !floatElement(convert.getX()) &&
                           llvm::isa_and_nonnull<train::InputOp>(convert.getX().getDefiningOp());
  return (isConverted || llvm::isa<train::InputOp>(op)) && floatElement(op.getResult(0));
}

/// Returns the f32 value that was rounded to `value`, of a low type; null if `value` is no such conversion.
inline mlir::Value roundedFrom(mlir::Value value) {
  auto convert = value.getDefiningOp<nn::ConvertOp>();
  const mlir::Type from = convert ? floatElement(convert.getX()) : mlir::Type();
  return from && from.isF32() && nn::isLowPrecision(convert.getTo()) ? convert.getX() : mlir::Value();
}

/// Infers the result types of the op again after an operand was cast.
inline void reinferTypes(mlir::Operation *op) {
  llvm::SmallVector<mlir::Type> types;
  [[maybe_unused]] llvm::LogicalResult inferred = llvm::cast<mlir::InferTypeOpInterface>(op).inferReturnTypes(
      op->getContext(), op->getLoc(), op->getOperands(), op->getAttrDictionary(), op->getPropertiesStorage(),
      op->getRegions(), types);
  assert(succeeded(inferred) && "casts change element types alone");
  for (auto [result, type] : llvm::zip_equal(op->getResults(), types))
    result.setType(type);
}

} // namespace trainc
