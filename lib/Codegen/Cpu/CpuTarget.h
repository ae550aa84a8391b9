// The target of x86-64 CPUs.
#pragma once

#include "lib/Codegen/Target.h"

namespace trainc::codegen {

/// The target `cpu`. Targets of other hosts derive from it.
class CpuTarget : public Target {
public:
  /// `levels` has the syntax of the word `cpu` of train.program.
  CpuTarget(Fp32Products products, LibraryCalls libraryCalls, llvm::StringRef levels)
      : products_(products), libraryCalls_(libraryCalls), levels_(levels) {}

  llvm::StringRef name() const override { return "cpu"; }
  llvm::LogicalResult resolveSettings(train::ProgramOp program) const override;
  TargetLimits limits() const override;
  const Cluster &referenceCluster() const override;
  Machine thisMachine(int64_t ranks) const override;
  LibraryCalls libraryCalls() const override { return libraryCalls_; }
  Work productWork(mlir::Type factor) const override;
  bool addsByKernel(const RankSum &sum) const override { return false; }
  llvm::FailureOr<KernelSummary> summarise(mlir::Operation *op) const override;
  llvm::FailureOr<llvm::SmallVector<std::string>> generate(mlir::Operation *op,
                                                           KernelModule &kernels) const override;
  llvm::FailureOr<std::vector<Object>> compile(mlir::ModuleOp kernels) const override;

private:
  void prepare(mlir::ModuleOp kernels) const override;
  llvm::LogicalResult reportNoLevel(train::ProgramOp program) const;

  Fp32Products products_;
  LibraryCalls libraryCalls_;
  std::string levels_;
};

/// Creates the target with defaults and f32 products of a kind.
std::unique_ptr<Target> createCpuTarget(Fp32Products products = Fp32Products::Fma);

} // namespace trainc::codegen
