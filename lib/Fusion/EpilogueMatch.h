// What a library's matrix product can do of the ops around it.
#pragma once

#include "lib/Fusion/EpilogueCosts.h"

namespace trainc {

/// The ops that become steps of one product, and what the values are then: those that a library can do, and
/// that take no longer so than in kernels. A bias always becomes a step, as the product has each number at
/// hand.
class EpilogueMatch {
public:
  /// Of a product that is left to a library.
  EpilogueMatch(GemmOpInterface product, const codegen::LibraryCalls &library, const EpilogueCosts &costs);

  /// True if there is at least one step.
  bool find();

  ProductSteps<mlir::Value> steps;
  mlir::Operation *place; ///< before which the new op stands, so that it knows its operands
  mlir::Value result;     ///< what its result 0 is
  mlir::Value before;     ///< with steps.keepsBefore: what result 1 is
  mlir::Value sum;        ///< what the side sums are; null if there are none
  /// The product and all steps in order, of which those go that nobody else uses.
  llvm::SmallVector<mlir::Operation *> ops;
  /// What was weighed, in that order.
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
