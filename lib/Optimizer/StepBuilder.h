// Builds ops that read and write states in one entry of a step.
#pragma once

#include "dialects/NN/Builders.h"
#include "lib/Optimizer/StepSymbols.h"

#include <map>

namespace trainc {

/// Inserts at a point of an entry; declares the states it needs.
class StepBuilder : public nn::TensorBuilder {
public:
  StepBuilder(mlir::OpBuilder &builder, mlir::Location loc, StepSymbols &symbols)
      : TensorBuilder(builder, loc), builder(builder), loc(loc), symbols(symbols) {}

  /// The state's value here; the state exists.
  train::StateOp state(llvm::StringRef name) const { return symbols.state(name); }
  mlir::Value read(llvm::StringRef state);
  void write(llvm::StringRef state, mlir::Value value);
  /// An optimizer state of that type, zero before the first step; declared on first use. A state named
  /// `KIND.PARAMETER` is flat where the parameter is.
  mlir::Value readOptimizerState(llvm::StringRef state, mlir::RankedTensorType type);
  /// Writes `updated` if the step is finite, else `old`, the value that the state has.
  void replace(llvm::StringRef state, mlir::Value old, mlir::Value updated);
  /// A scalar that the host sees, f32; declared on first use.
  void writeReport(llvm::StringRef scalar, mlir::Value value);
  /// The sum of what every rank computes as `value`: the gradient of the parameters' state `of`, if not null.
  mlir::Value sumOverRanks(mlir::Value value, llvm::StringRef of = {});
  /// The learning rate of this step times `scale`, a scalar.
  mlir::Value learningRate(double scale);
  /// `scalar` repeated to the type of `like`, times `like`.
  mlir::Value scale(mlir::Value like, mlir::Value scalar) {
    return mul(like, broadcastTo(scalar, nn::tensorType(like)));
  }

  /// 1 if the step is finite, else 0: tensor<f32>. Set before replace() is used.
  mlir::Value finite;

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
  StepSymbols &symbols;
  std::map<double, mlir::Value> rates;
};

/// Ends `entry` with zeroing a state.
void zeroState(train::EntryOp entry, train::StateOp state);

} // namespace trainc
