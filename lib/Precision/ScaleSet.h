// The scales of what is rounded to one type of fp8.
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
  mlir::Value rowMaxima = {}; ///< the largest magnitude of each row
};

/// The operands of one type, whose scales lie in one state.
class ScaleSet {
public:
  /// `initial`: the scales of the first step.
  ScaleSet(llvm::StringRef name, mlir::FloatType type, double initial)
      : name(name), type(type), initial(initial) {}

  bool isEmpty() const { return operands.empty(); }
  void add(mlir::Value value, std::string operandName);
  /// Declares the states and sets them in `init`; reads the scales at the beginning of `entry`.
  void declare(mlir::ModuleOp module, train::EntryOp init, train::EntryOp entry);
  /// `value`, which was added, in fp8. With `again` it is made a second time, out of what `value` is then.
  ScaledValue convert(mlir::OpBuilder &builder, mlir::Value value, bool again);
  /// Says at the end of `entry` what the largest magnitudes were.
  void report(train::EntryOp entry);

private:
  void sortByRows();
  mlir::Value largestOf(nn::TensorBuilder &build, llvm::ArrayRef<Fp8Operand> group);

  llvm::StringRef name;
  mlir::FloatType type;
  double initial;
  llvm::MapVector<mlir::Value, Fp8Operand> operands; ///< in order of rows
  std::string scalesState, historiesState;
  mlir::Value scales, inverses;
};

} // namespace trainc
