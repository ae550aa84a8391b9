// Builder of one nn.kernel from a group of ops.
#pragma once

#include "dialects/NN/NN.h"
#include "lib/Fusion/FusionGraph.h"

namespace trainc {

/// Copies the ops of a group, and the views and free values that they use, into a kernel, with the pattern of
/// each.
class KernelBuilder {
public:
  KernelBuilder(const ReadAnalysis &analysis, const FusionGraph &graph) : analysis(analysis), graph(graph) {}

  /// Builds the kernel of `members` (in program order) at the place chosen by the graph. Its results replace,
  /// in order, the members' results that other groups use. The members are not changed.
  nn::KernelOp build(llvm::ArrayRef<mlir::Operation *> members);

private:
  void copyMember(mlir::Operation *op, mlir::OpBuilder &builder);
  mlir::Value valueInside(mlir::Value value, const nn::RepeatPattern &pattern, const OpSpace &space,
                          mlir::OpBuilder &builder);
  mlir::Value input(mlir::Value value, const nn::RepeatPattern &pattern);
  mlir::Value table(mlir::Value value);
  mlir::Value addArgument(mlir::Value value, mlir::Attribute pattern);
  mlir::Value copyView(mlir::Value value, const nn::RepeatPattern &pattern, const OpSpace &space,
                       mlir::OpBuilder &builder);

  /// A value inside the kernel. A value that is repeated in two ways occurs twice.
  struct Inside {
    nn::RepeatPattern pattern;
    mlir::Value value;
  };
  using InsideMap = llvm::DenseMap<mlir::Value, llvm::SmallVector<Inside, 1>>;
  static mlir::Value find(const InsideMap &map, mlir::Value value, const nn::RepeatPattern &pattern);

  const ReadAnalysis &analysis;
  const FusionGraph &graph;
  mlir::Block *body = nullptr;
  int64_t count = 0; ///< rows x columns
  llvm::DenseMap<mlir::Value, mlir::Value> made, tables;
  InsideMap inputs, views;
  llvm::SmallVector<mlir::Value> operands;
  llvm::SmallVector<mlir::Attribute> patterns; ///< of the operands
};

} // namespace trainc
