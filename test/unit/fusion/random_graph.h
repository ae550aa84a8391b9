// Random functions of primitive ops, for tests of passes that must preserve results.
#pragma once

#include "dialects/NN/Builders.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <random>

namespace trainc::test {

/// Builds one function of elementwise ops, reductions, broadcasts, reshapes, lookups, products and
/// transpositions on tensors whose shapes derive from one shape of three dimensions. All values without a
/// user are results. The same seed builds the same function.
class RandomGraph {
public:
  RandomGraph(mlir::MLIRContext &context, unsigned seed, llvm::ArrayRef<int64_t> shape);

  /// A module with the function @f of `ops` ops.
  mlir::OwningOpRef<mlir::ModuleOp> build(int ops);

private:
  int pick(int end) { return int(generator() % unsigned(end)); }
  bool coin() { return pick(2) == 0; }
  mlir::Value any() { return values[pick(int(values.size()))]; }
  mlir::Value sameShape(mlir::Value value);
  mlir::Value make();
  mlir::Value makeReduce();
  mlir::Value makeBroadcast();
  mlir::Value makeReshape();
  mlir::Value makeLookup();
  mlir::Value makeLibraryCall();
  mlir::Value makeFree();

  std::mt19937 generator;
  llvm::SmallVector<int64_t> shape;
  mlir::OpBuilder builder;
  nn::TensorBuilder build_;
  mlir::Type f32;
  llvm::SmallVector<mlir::Value> values;
};

} // namespace trainc::test
