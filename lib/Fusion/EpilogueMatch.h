// Matching of the ops around a library's matrix product that can become its epilogue.
#pragma once

#include "lib/Fusion/EpilogueCosts.h"

namespace trainc {

/// Finds the ops around one product that become epilogue steps: those that the library supports and that take
/// no longer in the product than in kernels. A bias always becomes a step.
class EpilogueMatch {
public:
  /// `product` must be executed by a library.
  EpilogueMatch(GemmOpInterface product, const codegen::LibraryCalls &library, const EpilogueCosts &costs);

  /// Returns whether there is at least one step.
  bool find();

  ProductSteps<mlir::Value> steps;
  mlir::Operation *place; ///< op before which the new op is inserted, so that its operands are defined
  mlir::Value result;     ///< value that result 0 replaces
  mlir::Value before;     ///< value that result 1 replaces, if steps.keepsActivationInput
  mlir::Value sum;        ///< value that the side sum replaces; null if there is none
  /// The product and the ops of all steps, in order. Those without other users can be erased.
  llvm::SmallVector<mlir::Operation *> ops;
  /// Considered steps, in order.
  llvm::SmallVector<EpilogueChoice> choices;

private:
  struct Activated;

  void addBias();
  void addActivation();
  bool addActivation(const Activated &activated);
  bool isWorthwhile(llvm::StringRef step, const ProductSteps<mlir::Value> &with, double inKernels);
  void addSumOfResult();
  void addSumOfFactor(unsigned factor);
  bool addSum(SideSum kind, mlir::Operation *op);
  bool isSummedOverRows(unsigned factor) const;
  mlir::Operation *sumOf(mlir::Value value) const;
  bool fitsAuxiliary() const;

  GemmOpInterface product;
  GemmShape gemm;
  const codegen::LibraryCalls &library;
  const EpilogueCosts &costs;
};

} // namespace trainc
