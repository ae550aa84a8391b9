// Scales of the tensors that are rounded to one fp8 type.
#pragma once

#include "dialects/NN/Builders.h"
#include "dialects/Train/Train.h"

#include "llvm/ADT/MapVector.h"

#include <string>

namespace trainc {

/// A value that is rounded to fp8.
struct Fp8Operand {
  mlir::Value value;
  std::string name;
  int64_t rows;
  mlir::Value rowMaxima = {}; ///< maximum magnitude of each row
};

/// Operands of one fp8 type, whose scales are in one state.
class ScaleSet {
public:
  /// `initial` is the scale of the first step.
  ScaleSet(llvm::StringRef name, mlir::FloatType type, double initial)
      : name(name), type(type), initial(initial) {}

  bool isEmpty() const { return operands.empty(); }
  void add(mlir::Value value, std::string operandName);
  /// Declares the states and sets them in `init`; reads the scales at the beginning of `entry`.
  void declare(mlir::ModuleOp module, train::EntryOp init, train::EntryOp entry);
  /// Converts `value`, which must have been added, to fp8. With `recomputed` the conversion is a
  /// recomputation from `value`.
  ScaledValue convert(mlir::OpBuilder &builder, mlir::Value value, bool recomputed);
  /// Reports the maximum magnitudes (train.magnitudes) at the end of `entry`.
  void report(train::EntryOp entry);

private:
  void sortByRows();
  mlir::Value largestOf(nn::TensorBuilder &build, llvm::ArrayRef<Fp8Operand> group);

  llvm::StringRef name;
  mlir::FloatType type;
  double initial;
  llvm::MapVector<mlir::Value, Fp8Operand> operands; ///< in the order of their numbers of rows
  std::string scalesState, historiesState;
  mlir::Value scales, inverses;
};

} // namespace trainc
