// Linear layers of a module whose model has been instantiated.
#pragma once

#include "dialects/Train/Adapters.h"

#include "mlir/IR/BuiltinOps.h"

namespace trainc::adapters {

/// A matrix of weights, and the products by it in all entries.
struct Linear {
  train::StateOp weight;
  std::string layer;       ///< path: the weight's name without ".weight"
  int64_t in = 0, out = 0; ///< features
  bool isInOut = false;    ///< whether the weight is [in, out]
  bool isLast = false;     ///< whether no other linear layer depends on the results
  llvm::SmallVector<mlir::Operation *> products = {}; ///< operand 0 is the input, result 0 the output
};

/// Returns all linear layers, in the order of their weights: parameters of two dimensions, named
/// LAYER.weight, that only products read, all in the same layout.
llvm::SmallVector<Linear> findLinears(mlir::ModuleOp module);

/// Returns the layers that get an adapter. Reports an error at the program if a pattern matches none.
mlir::FailureOr<llvm::SmallVector<Linear>> selectLinears(train::ProgramOp program,
                                                         llvm::ArrayRef<Linear> linears,
                                                         const train::AdapterSettings &settings);

} // namespace trainc::adapters
