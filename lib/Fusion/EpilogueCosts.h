// What steps around a product cost: in the product, or in kernels.
#pragma once

#include "dialects/Interfaces/Interfaces.h"
#include "lib/Codegen/Target.h"

namespace trainc {

/// One step that was weighed. The product does it if that takes no longer.
struct EpilogueChoice {
  llvm::StringRef step;
  double inProduct, inKernels; ///< seconds that it adds there

  bool isForProduct() const { return inProduct <= inKernels; }
};

/// Prices on the machine for which the target chooses.
class EpilogueCosts {
public:
  explicit EpilogueCosts(const codegen::Target &target)
      : target_(target), machine_(target.referenceMachine()) {}

  /// Seconds of the product, left to a library, with these steps; infinite if there is no such op.
  double product(GemmOpInterface product, const ProductSteps<mlir::Value> &steps) const;

  /// Seconds of kernels that move so many bytes in so many launches.
  double kernels(int64_t bytes, int64_t launches) const;

private:
  const codegen::Target &target_;
  Machine machine_;
};

} // namespace trainc
