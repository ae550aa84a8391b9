// Cost of ops around a matrix product: as epilogue steps, or in kernels.
#pragma once

#include "dialects/Interfaces/Interfaces.h"
#include "lib/Codegen/Target.h"

namespace trainc {

/// A considered epilogue step. It is applied in the product if that takes no longer than in kernels.
struct EpilogueChoice {
  llvm::StringRef step;
  double inProduct, inKernels; ///< additional seconds in the product, and in kernels

  bool isForProduct() const { return inProduct <= inKernels; }
};

/// Predicts times on the machine for which the target optimizes.
class EpilogueCosts {
public:
  explicit EpilogueCosts(const codegen::Target &target)
      : target_(target), machine_(target.referenceMachine()) {}

  /// Seconds of the library call for the product with these steps; infinite if there is no such call.
  double product(GemmOpInterface product, const ProductSteps<mlir::Value> &steps) const;

  /// Seconds of `launches` kernel launches that move `bytes` bytes in total.
  double kernels(int64_t bytes, int64_t launches) const;

private:
  const codegen::Target &target_;
  Machine machine_;
};

} // namespace trainc
