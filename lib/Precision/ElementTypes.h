// What the passes of mixed precision ask of types, and how they change them.
#pragma once

#include "dialects/NN/Builders.h"
#include "dialects/Train/Precision.h"
#include "dialects/Train/Train.h"

#include "mlir/Interfaces/InferTypeOpInterface.h"

namespace trainc {

/// The type that the module's program computes in, or null for f32.
inline mlir::FloatType lowTypeOf(mlir::ModuleOp module) {
  for (auto program : module.getOps<train::ProgramOp>())
    if (train::PrecisionSettings settings = train::precisionOf(program); settings.computesLow())
      return settings.compute;
  return {};
}

/// The element type of a tensor of floats; null for all else.
inline mlir::Type floatElement(mlir::Value value) {
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  return tensor && llvm::isa<mlir::FloatType>(tensor.getElementType()) ? tensor.getElementType()
                                                                       : mlir::Type();
}

/// Whether the op gives a column of the data as floats, such as a target: one of floats as it is, one of
/// whole numbers converted.
inline bool isColumn(mlir::Operation &op) {
  auto convert = llvm::dyn_cast<nn::ConvertOp>(op);
  const bool isConverted = convert && !floatElement(convert.getX()) &&
                           llvm::isa_and_nonnull<train::InputOp>(convert.getX().getDefiningOp());
  return (isConverted || llvm::isa<train::InputOp>(op)) && floatElement(op.getResult(0));
}

/// The f32 numbers that were rounded to `value`, of a low type; null if it was made otherwise.
inline mlir::Value roundedFrom(mlir::Value value) {
  auto convert = value.getDefiningOp<nn::ConvertOp>();
  const mlir::Type from = convert ? floatElement(convert.getX()) : mlir::Type();
  return from && from.isF32() && nn::isLowPrecision(convert.getTo()) ? convert.getX() : mlir::Value();
}

/// Gives the op's results the types that follow from its operands, which were right before one was cast.
inline void inferAgain(mlir::Operation *op) {
  llvm::SmallVector<mlir::Type> types;
  [[maybe_unused]] llvm::LogicalResult inferred = llvm::cast<mlir::InferTypeOpInterface>(op).inferReturnTypes(
      op->getContext(), op->getLoc(), op->getOperands(), op->getAttrDictionary(), op->getPropertiesStorage(),
      op->getRegions(), types);
  assert(succeeded(inferred) && "casts change element types alone");
  for (auto [result, type] : llvm::zip_equal(op->getResults(), types))
    result.setType(type);
}

} // namespace trainc
